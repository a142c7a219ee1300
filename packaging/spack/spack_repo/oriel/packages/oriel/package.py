# SPDX-License-Identifier: BSD-3-Clause

import os
from typing import List

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Oriel(CMakePackage):
    """Oriel takes over the one-sided communication (RMA) of any MPI library through PMPI, without
    changing the program or the MPI. It adds nonblocking epochs and operations that notify their
    target."""

    # No archive is published yet, so there is nothing to fetch. In a checkout, `spack dev-build`
    # builds what is there under either version.
    version("develop")
    version("0.2.0")

    license("BSD-3-Clause")

    variant("libfabric", default=True, description="Windows that span several nodes, by libfabric")
    variant("python", default=False, description="Oriel's calls in Python, on mpi4py")
    variant("lapack", default=False, description="The benchmarks cholesky and lu")

    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("mpi@3:")
    # The command is a Python program, and the build makes its man pages.
    depends_on("python@3.9:", type=("build", "run"))
    # The build reads its headers; the library is opened at run time and never linked.
    depends_on("libfabric@1.17:", type=("build", "run"), when="+libfabric")
    depends_on("py-cffi@1.15:", type="run", when="+python")
    depends_on("py-mpi4py@4:", type="run", when="+python")
    depends_on("lapack", when="+lapack")

    requires("platform=linux", msg="Oriel uses Linux's process_vm_readv and memfd_create")
    requires("target=x86_64:", msg="Oriel relies on the memory model of x86-64")
    conflicts("%gcc@:11", msg="Oriel has not been tested with GCC before 12")
    conflicts("^mpich@:3", msg="Oriel runs on MPICH from 4.0")
    conflicts("^openmpi@:4.0", msg="Oriel runs on Open MPI from 4.1")

    # `make test` would run tests that `make` does not build.
    build_time_test_callbacks: List[str] = []

    def cmake_args(self):
        spec = self.spec
        args = [
            self.define("MPI_CXX_COMPILER", spec["mpi"].mpicxx),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("CMAKE_UNITY_BUILD", True),
            self.define_from_variant("ORIEL_LIBFABRIC", "libfabric"),
            self.define_from_variant("ORIEL_LAPACK", "lapack"),
        ]
        if spec.satisfies("+libfabric"):
            # Where Oriel looks for libfabric.so.1, if the MPI has not brought one.
            folders = [self.prefix.lib] + list(spec["libfabric"].libs.directories)
            args.append(self.define("CMAKE_INSTALL_RPATH", folders))
        return args

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", join_path(self.prefix.lib, "oriel", "python"))

    def test_version(self):
        """check the version of the command"""
        oriel = Executable(self.prefix.bin.oriel)
        told = oriel("--version", output=str.split, error=str.split)
        expected = "oriel " if self.spec.satisfies("@develop") else f"oriel {self.version}"
        check_outputs([expected], told)

    def test_preload(self):
        """preload Oriel into two ranks of an MPI program"""
        if not os.path.exists(join_path(self.spec["mpi"].prefix.bin, "mpiexec")):
            raise SkipTest("This MPI has no mpiexec")
        oriel = Executable(self.prefix.bin.oriel)
        program = find(self.prefix, "paths")[0]
        # The program asks for the paths between its ranks, which only Oriel tells.
        with test_part(
            self, "test_preload_paths", purpose="ask a window of Oriel's for its paths"
        ):
            told = oriel("run", "-n", "2", program, output=str.split, error=str.split)
            check_outputs(["mapped"], told)
