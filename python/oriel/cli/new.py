# SPDX-License-Identifier: BSD-3-Clause
"""`oriel new`: makes a small project whose program passes values round a ring of ranks by notified
puts, and prints the commands that build and run it.

    oriel new heat
    oriel new heat --with make
    oriel new heat --with python

Nothing is overwritten: the folder must not be there yet.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
import shutil
import sys
from pathlib import Path

from oriel.hosts.host import library_folders, prefix

_PACKAGE = Path(__file__).resolve().parents[1]
_TEMPLATES = _PACKAGE / "templates"

# Of each kind: what its files are made from, by their names. `@NAME@` in both stands for the name
# of the project.
KINDS = {
    "cmake": {"CMakeLists.txt": "CMakeLists.txt", "@NAME@.c": "ring.c"},
    "make": {"Makefile": "Makefile", "@NAME@.c": "ring.c"},
    "python": {"@NAME@.py": "ring.py"},
}
_DEFAULT = "cmake"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# Names that a target of the project cannot have: CMake reserves the targets of its generators, and
# those of CTest and CPack for projects that include these; a program lies beside the files that
# CMake or make reads; and the project looks for the CMake package oriel.
_TAKEN = {
    *("all", "ALL_BUILD", "clean", "edit_cache", "help", "install", "INSTALL", "preinstall"),
    *("rebuild_cache", "ZERO_CHECK"),
    *("package", "PACKAGE", "package_source", "RUN_TESTS", "test"),
    *("CMakeFiles", "GNUmakefile", "Makefile", "makefile"),
    "oriel",
}


class ProjectError(Exception):
    """A sentence for the user: why there is no project."""


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oriel new",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--with",
        dest="kind",
        choices=tuple(KINDS),
        default=_DEFAULT,
        help="what builds the program: cmake or make, for a program in C; python needs no build "
        f"(default: {_DEFAULT})",
    )
    parser.add_argument("name", metavar="NAME", help="the folder to make; the program has its name")
    return parser


def _check_name(name: str, kind: str) -> None:
    if not _NAME.fullmatch(name):
        raise ProjectError(
            f"`{name}` cannot be the name of a project: a name begins with a letter, and has "
            "letters, digits, `_` and `-` only. Choose another one."
        )
    if kind == "python":
        if importlib.util.find_spec(name) is not None:
            raise ProjectError(
                f"`{name}` cannot be the name of a Python program: there is a module of this name, "
                "which imports would no longer find. Choose another one."
            )
    elif name in _TAKEN:
        raise ProjectError(
            f"`{name}` cannot be the name of a project: CMake and make have a target, a file or a "
            "package of this name. Choose another one."
        )


def _write(folder: Path, kind: str) -> None:
    texts = {
        name: (_TEMPLATES / template).read_text(encoding="utf-8")
        for name, template in KINDS[kind].items()
    }
    try:
        folder.mkdir()
    except FileExistsError:
        raise ProjectError(
            f"{folder} is there already, and `oriel new` overwrites nothing. Choose another name, "
            "or remove it."
        ) from None
    except OSError as error:
        raise _not_written(folder, error) from None
    try:
        for name, text in texts.items():
            file = folder / name.replace("@NAME@", folder.name)
            file.write_text(text.replace("@NAME@", folder.name), encoding="utf-8")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise _not_written(folder, error) from None


def _not_written(folder: Path, error: OSError) -> ProjectError:
    return ProjectError(
        f"{folder} cannot be written ({error.strerror}). Name a place in a folder that exists, in "
        "which you may write and which has space."
    )


def _steps(name: str, kind: str) -> list[str]:
    """The commands that build and run the program, where Oriel lies here."""
    if kind == "python":
        packages = _PACKAGE.parent
        # From there Python imports the package by itself.
        found = packages.name in ("site-packages", "dist-packages")
        path = "" if found else f"PYTHONPATH={shlex.quote(str(packages))} "
        return [f"{path}oriel run -n 4 python3 {name}.py"]
    folders = (each / "pkgconfig" for each in library_folders())
    package = next((each for each in folders if any(each.glob("oriel-*.pc"))), None)
    if package:
        steps, place, package_path = [], shlex.quote(str(prefix())), shlex.quote(str(package))
    else:  # the command of a build tree
        steps = ["# PREFIX is where `cmake --install build --prefix PREFIX` has put Oriel."]
        place, package_path = "PREFIX", "PREFIX/lib/pkgconfig"
    if kind == "cmake":
        steps += [f"cmake -B build -DCMAKE_PREFIX_PATH={place}", "cmake --build build"]
        return [*steps, f"oriel run -n 4 build/{name}"]
    return [*steps, f"PKG_CONFIG_PATH={package_path} make", f"oriel run -n 4 ./{name}"]


def main(argv: list[str]) -> int:
    given = make_parser().parse_args(argv)
    folder = Path(given.name)
    try:
        _check_name(folder.name, given.kind)
        _write(folder, given.kind)
    except ProjectError as error:
        print(f"oriel new: {error}", file=sys.stderr)
        return 1
    print(f"cd {shlex.quote(str(folder))}", *_steps(folder.name, given.kind), sep="\n")
    return 0
