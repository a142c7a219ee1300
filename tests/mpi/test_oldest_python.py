# SPDX-License-Identifier: BSD-3-Clause
"""The package works with the oldest Python that pyproject.toml promises: RHEL 9's and Debian 11's
own."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from conftest import REPOSITORY, folder_of

PROMISE = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
OLDEST = re.search(r'^requires-python = ">=(3\.\d+)"$', PROMISE, re.M)[1]

# Imports every module. Packages that are not installed for this Python are replaced by a module
# whose attributes are classes, so that the rest of each module is executed.
IMPORT_ALL = """
import importlib, importlib.abc, importlib.machinery, pkgutil, sys

class Anything(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Class
    def __call__(cls, *arguments, **options):
        return cls
    def __getitem__(cls, key):
        return cls
    def __gt__(cls, other):
        return True
    def __or__(cls, other):
        return cls

class Class(metaclass=Anything):
    pass

class Package(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    NAMES = {"_otf2", "cffi", "jinja2", "markupsafe", "matplotlib", "mpi4py", "numpy", "otf2",
             "pyamg", "rich", "scipy"}
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        module.__getattr__ = lambda name: Class

sys.meta_path.append(Package())
import oriel
names = [each.name for each in pkgutil.walk_packages(oriel.__path__, "oriel.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def test_no_newer_calls():
    """vermin knows the versions of the library's modules, functions and arguments, ruff those of
    the syntax (target-version of pyproject.toml)."""
    assert f'target-version = "py{OLDEST.replace(".", "")}"' in PROMISE
    words = [sys.executable, "-c", "import vermin; vermin.main()", "--no-tips", "--violations"]
    # What is installed, and what the build makes headers and man pages with.
    words += [f"-t={OLDEST}-", *(str(REPOSITORY / each) for each in ("python", "src"))]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def oldest():
    """Runs the oldest Python with these words, without any package."""
    # pyenv's commands start a version only if it is chosen.
    environment = {**os.environ, "PYENV_VERSION": OLDEST, "PYTHONPATH": str(REPOSITORY / "python")}

    def call(*words) -> str:
        ended = subprocess.run(
            [f"python{OLDEST}", "-S", "-B", *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    try:
        call("-c", "")
    except (OSError, AssertionError):
        pytest.skip(f"python{OLDEST} is not installed")
    return call


def test_every_module(oldest):
    package = REPOSITORY / "python" / "oriel"
    sources = [path for path in package.rglob("*.py") if path.parent.name != "templates"]
    assert int(oldest("-c", IMPORT_ALL)) == len(sources) - 1, "all but oriel/__init__.py"


def test_man_pages_and_completion(oldest, tmp_path):
    """The build makes them with any Python that it finds."""
    oldest("-m", "oriel.cli.command_files", str(tmp_path))
    assert (tmp_path / "man" / "man1" / "oriel-run.1").is_file()


@pytest.mark.hosts("mpich")
def test_the_command(host, oldest):
    """It finds the MPI of a program."""
    program = str(folder_of(host) / "fence")
    assert "ok: " in oldest("-m", "oriel", "run", "-n", "2", program)
