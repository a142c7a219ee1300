# SPDX-License-Identifier: BSD-3-Clause
"""The recipe for Spack fits the build: CMake takes its options, and its own tests pass on what is
installed. Spack itself is in no registry that tests use; spack_stand_in.py stands for it."""

from __future__ import annotations

import inspect
import shutil
import types
from pathlib import Path

import oriel as package
import pytest
import spack_stand_in
from spack_stand_in import SkipTest, Spec
from test_install import REPOSITORY, call

REPO = REPOSITORY / "packaging" / "spack" / "spack_repo" / "oriel"
pytestmark = pytest.mark.hosts("openmpi")


@pytest.fixture
def recipe(monkeypatch):
    return spack_stand_in.load(REPO / "packages" / "oriel" / "package.py", monkeypatch)


def concrete(host, folder: Path, **variants: bool) -> Spec:
    """With libfabric in this folder."""
    mpi = types.SimpleNamespace(
        prefix=spack_stand_in.Prefix(host.prefix), mpicxx=str(host.prefix / "bin" / "mpicxx")
    )
    libraries = types.SimpleNamespace(directories=[str(folder)])
    dependencies = {"mpi": mpi, "libfabric": types.SimpleNamespace(libs=libraries)}
    defaults = {"libfabric": True, "lapack": False, "python": False}
    return Spec(package.__version__, {**defaults, **variants}, dependencies)


def test_the_repository_and_the_directives(recipe):
    cls, directives = recipe
    assert f"namespace: {REPO.name}\n" in (REPO / "repo.yaml").read_text(encoding="utf-8")
    assert inspect.getdoc(cls)

    def words(name: str) -> list[tuple]:
        return [each.words for each in directives if each.name == name]

    assert words("version") == [("develop",), (package.__version__,)]
    [(license_name,)] = words("license")
    assert f'license = "{license_name}"' in (REPOSITORY / "pyproject.toml").read_text("utf-8")
    conditions = {each.options["when"] for each in directives if "when" in each.options}
    assert conditions == {f"+{name}" for (name,) in words("variant")}, "each brings what it needs"


@pytest.mark.parametrize("chosen", [True, False])
def test_cmake_takes_the_arguments(host, recipe, chosen, tmp_path):
    cls, _ = recipe
    fabric = tmp_path / "fabric"
    spec = concrete(host, fabric, libfabric=chosen, lapack=chosen)
    words = cls(spec, tmp_path / "prefix").cmake_args()
    build = tmp_path / "build"
    told = call(host, "cmake", "-S", REPOSITORY, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *words)
    assert "not used by the project" not in told, told
    assert ("ORIEL_LIBFABRIC is OFF: Oriel is built for one node only" in told) == (not chosen)
    rules = (build / "cmake_install.cmake").read_text(encoding="utf-8")
    assert "liboriel_openmpi.so" in rules
    assert (f'NEW_RPATH "{tmp_path}/prefix/lib:{fabric}"' in rules) == chosen, "how it is found"


def test_its_own_tests(host, recipe, tmp_path, monkeypatch):
    """On what CMake installs, with the PATH of a shell that has loaded nothing."""
    cls, _ = recipe
    prefix = tmp_path / "prefix"
    call(host, "cmake", "--install", REPOSITORY / "build", "--prefix", prefix)
    for programs in prefix.glob("lib/oriel/programs/*"):
        if programs.name != host.name:  # Spack builds for one MPI
            shutil.rmtree(programs)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    spec = concrete(host, tmp_path)
    tests = [name for name in dir(cls) if name.startswith("test_")]
    assert len(tests) == 2
    for name in tests:
        assert inspect.getdoc(getattr(cls, name)), "Spack shows it"
        getattr(cls(spec, prefix), name)()
    spec["mpi"].prefix = spack_stand_in.Prefix(tmp_path)
    with pytest.raises(SkipTest):
        cls(spec, prefix).test_preload()


def test_python_finds_the_package(host, recipe, tmp_path):
    cls, _ = recipe
    call(host, "cmake", "--install", REPOSITORY / "build", "--prefix", tmp_path)
    path: dict[str, str] = {}
    environment = types.SimpleNamespace(prepend_path=path.__setitem__)
    cls(concrete(host, tmp_path), tmp_path).setup_run_environment(environment)
    assert not path
    cls(concrete(host, tmp_path, python=True), tmp_path).setup_run_environment(environment)
    assert (Path(path["PYTHONPATH"]) / "oriel" / "rma" / "__init__.py").is_file()
