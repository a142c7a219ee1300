# SPDX-License-Identifier: BSD-3-Clause
"""MPIs that are too old for Oriel are recognized and refused with a sentence: by `oriel info`,
by `oriel run` and when CMake looks for MPI. Stand-ins answer here as MPICH before MPI-3.1 and the
Open MPI of Debian 10 do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, oriel

MPICH = """\
HYDRA build details:
    Version:                                 3.1.4
    Release Date:                            Fri Feb 20 15:02:56 CST 2015
"""
OPENMPI = """\
mpiexec.openmpi (OpenRTE) 3.1.3

Report bugs to http://www.open-mpi.org/community/help/
"""
# name -> (banner, soname, its file, title)
OLD = {
    "mpich": (MPICH, "libmpich.so.12", "libmpich.so.12.0.4", "MPICH 3.1.4"),
    "openmpi": (OPENMPI, "libmpi.so.40", "libmpi.so.40.10.3", "Open MPI 3.1.3"),
}
CALLS = "int MPI_Init(int*, char***), MPI_Finalize(void);"


def compile_c(folder: Path, source: str, *words) -> None:
    (folder / "source.c").write_text(source, encoding="utf-8")
    command = ["cc", "source.c", *(str(word) for word in words)]
    subprocess.run(command, cwd=folder, timeout=60, check=True)


def stand_in(root: Path, name: str) -> Path:
    """The MPI's launcher and library below `root`, as Debian places them, and a program that was
    linked with it; returns the program."""
    banner, soname, file, _ = OLD[name]
    libraries = root / "lib" / "x86_64-linux-gnu"
    for folder in (root / "bin", libraries):
        folder.mkdir(parents=True, exist_ok=True)
    launcher = root / "bin" / f"mpiexec.{name}"
    launcher.write_text(f"#!/bin/sh\nprintf '%s' '{banner}'\n", encoding="utf-8")
    launcher.chmod(0o755)
    functions = "int MPI_Init(int* c, char*** v) {return 0;} int MPI_Finalize(void) {return 0;}"
    compile_c(root, functions, "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", libraries / file)
    (libraries / soname).symlink_to(file)
    main = f"{CALLS} int main(void) {{ return MPI_Init(0, 0) + MPI_Finalize(); }}"
    compile_c(root, main, libraries / file, f"-Wl,-rpath,{libraries}", "-o", root / f"with_{name}")
    return root / f"with_{name}"


def nothing_else(root: Path) -> dict[str, str]:
    return {"ORIEL_MPI_ROOT": str(root / "none"), "PATH": str(root / "bin")}


@pytest.mark.parametrize("name", OLD)
def test_info_lists_it_as_not_supported(name, tmp_path):
    stand_in(tmp_path, name)
    ended = oriel("info", **nothing_else(tmp_path))
    assert ended.returncode == 0, ended.stderr
    launcher = tmp_path / "bin" / f"mpiexec.{name}"
    listed = [line for line in ended.stdout.splitlines() if str(launcher) in line]
    assert len(listed) == 1, ended.stdout
    assert f"does not support {OLD[name][3]}" in listed[0]
    assert f"Oriel for it: {name}" not in ended.stdout


@pytest.mark.parametrize("name", OLD)
def test_it_is_refused_by_name(name, tmp_path):
    stand_in(tmp_path, name)
    for words in (
        ["run", "-n", 2, "--mpi", name, "echo"],
        ["env", "--mpi", name],
        ["bench", "micro"],
    ):
        ended = oriel(*words, **nothing_else(tmp_path))
        assert ended.returncode == 1 and not ended.stdout
        assert f"does not support {OLD[name][3]}" in ended.stderr


@pytest.mark.parametrize("name", OLD)
def test_a_program_of_it_does_not_run_on_another(name, tmp_path):
    """There are MPIs of both names that we support, and the launcher of the other old one is there
    as well."""
    program = stand_in(tmp_path, name)
    for other in OLD.keys() - {name}:
        stand_in(tmp_path, other)
    ended = oriel("run", "-n", 1, program)
    assert ended.returncode == 1, ended.stdout
    assert f"does not support {OLD[name][3]}" in ended.stderr, ended.stderr


@pytest.mark.parametrize("name", OLD)
def test_a_program_of_it_without_its_launcher(name, tmp_path):
    """Its library alone does not tell the version."""
    program = stand_in(tmp_path, name)
    (tmp_path / "bin" / f"mpiexec.{name}").unlink()
    (tmp_path / "bin" / "ldd").symlink_to(shutil.which("ldd"))
    ended = oriel("run", "-n", 1, program, **nothing_else(tmp_path))
    assert ended.returncode == 1, ended.stdout
    assert f"linked with {OLD[name][1]}, but the mpiexec of that MPI is neither" in ended.stderr


@pytest.mark.hosts(*OLD)
def test_one_that_is_supported_comes_first(host, tmp_path):
    """An old MPI does not hide another one of its name, and info lists both."""
    root = tmp_path / host.name
    stand_in(root, host.name)
    (root / "bin" / "mpiexec").symlink_to(f"mpiexec.{host.name}")
    path = f"{host.prefix / 'bin'}:{os.environ['PATH']}"
    ended = oriel("info", ORIEL_MPI_ROOT=str(tmp_path), PATH=path)
    assert f"{host.version}, {host.mpiexec}" in ended.stdout
    assert f"does not support {OLD[host.name][3]}" in ended.stdout


# What tells the versions apart in their headers, and what CMake itself tries.
HEADERS = {
    "mpich": '#define MPICH_VERSION "3.1.4"\n#define MPICH_NUMVERSION 30104300\n',
    "openmpi": "#define OPEN_MPI 1\n#define OMPI_MAJOR_VERSION 3\n#define OMPI_MINOR_VERSION 1\n",
}


# The compiler wrapper, as CMake asks it.
WRAPPER = """\
#!/bin/sh
case "$1" in
  -showme:compile) echo -I{headers} ;;
  -showme:link) echo -L{libraries} -lmpi ;;
  *) exec c++ -I{headers} "$@" -L{libraries} -lmpi ;;
esac
"""


@pytest.mark.parametrize("name", OLD)
def test_cmake_refuses_it(name, tmp_path):
    stand_in(tmp_path, name)
    header = f'extern "C" {{ {CALLS} }}\n#define MPI_VERSION 3\n#define MPI_SUBVERSION 1\n'
    (tmp_path / "mpi.h").write_text(HEADERS[name] + header, encoding="utf-8")
    library = tmp_path / "lib" / "x86_64-linux-gnu" / "libmpi.so"
    library.symlink_to(OLD[name][2])
    wrapper = tmp_path / "mpicxx"
    wrapper.write_text(WRAPPER.format(headers=tmp_path, libraries=library.parent), encoding="utf-8")
    wrapper.chmod(0o755)
    words = [
        shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}"),
        *("-S", REPOSITORY, "-B", tmp_path / "build", f"-DMPI_CXX_COMPILER={wrapper}"),
    ]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode != 0
    told = " ".join(ended.stderr.split())
    assert f"Oriel does not support this version of {OLD[name][3].rpartition(' ')[0]}" in told, told
    assert str(library) in told
