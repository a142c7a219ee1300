# SPDX-License-Identifier: BSD-3-Clause
"""What the recipe for Spack uses of Spack's package API v2, which no registry that the tests use
has: directives are recorded, commands are run. It chooses no versions and builds nothing."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import subprocess
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

_DIRECTIVES = ("version", "license", "variant", "depends_on", "requires", "conflicts")
_CMAKE = "spack_repo.builtin.build_systems.cmake"


@dataclasses.dataclass(frozen=True)
class Directive:
    name: str
    words: tuple
    options: dict


class SkipTest(Exception):
    pass


class Prefix(str):
    """A folder, whose attributes are what lies below it."""

    def __getattr__(self, name: str) -> Prefix:
        if name.startswith("__"):
            raise AttributeError(name)
        return Prefix(f"{self}/{name}")


class Executable:
    def __init__(self, path: str) -> None:
        self._path = path

    def __call__(self, *words: str, output, error) -> str:
        assert output is error is str.split, "what is printed is returned"
        ended = subprocess.run(
            [self._path, *words], capture_output=True, text=True, timeout=120, check=False
        )
        told = ended.stdout + ended.stderr
        assert ended.returncode == 0, told
        return told


def check_outputs(expected: Sequence[str], told: str) -> None:
    for pattern in expected:
        assert re.search(pattern, told), f"{pattern} is not in {told}"


def find(root: str, name: str) -> list[str]:
    return sorted(str(path) for path in Path(root).rglob(name))


def define(name: str, value) -> str:
    if isinstance(value, bool):
        return f"-D{name}:BOOL={'ON' if value else 'OFF'}"
    text = value if isinstance(value, str) else ";".join(str(each) for each in value)
    return f"-D{name}:STRING={text}"


@dataclasses.dataclass
class Spec:
    """A concrete one: what was chosen. `satisfies` knows variants and versions."""

    version: str
    variants: dict[str, bool]
    dependencies: dict[str, types.SimpleNamespace]

    def __getitem__(self, name: str) -> types.SimpleNamespace:
        return self.dependencies[name]

    def satisfies(self, constraint: str) -> bool:
        if constraint.startswith("@"):
            return constraint == f"@{self.version}"
        assert constraint[0] in "+~" and constraint[1:] in self.variants, constraint
        return self.variants[constraint[1:]] == (constraint[0] == "+")


class CMakePackage:
    def __init__(self, spec: Spec, prefix: Path) -> None:
        self.spec, self.version, self.prefix = spec, spec.version, Prefix(prefix)

    define = staticmethod(define)

    def define_from_variant(self, name: str, variant: str) -> str:
        return define(name, self.spec.variants[variant])


@contextlib.contextmanager
def test_part(package: CMakePackage, name: str, purpose: str) -> Iterator[None]:
    assert name.startswith("test_") and purpose
    yield


test_part.__test__ = False  # pytest takes it for a test otherwise


def load(recipe: Path, monkeypatch) -> tuple[type[CMakePackage], list[Directive]]:
    """The class of a recipe, and its directives in their order."""
    recorded: list[Directive] = []

    def record(name: str):
        return lambda *words, **options: recorded.append(Directive(name, words, options))

    interface = {name: record(name) for name in _DIRECTIVES}
    for each in (Executable, SkipTest, check_outputs, find, test_part):
        interface[each.__name__] = each
    interface["join_path"] = lambda *parts: "/".join(parts)
    parts = _CMAKE.split(".")
    modules = {".".join(parts[:count]): {} for count in range(1, len(parts))}
    modules.update({_CMAKE: {"CMakePackage": CMakePackage}, "spack": {}})
    modules["spack.package"] = interface
    for name, names in modules.items():
        module = types.ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
    loaded: dict = {"__name__": "recipe"}
    exec(compile(recipe.read_text(encoding="utf-8"), str(recipe), "exec"), loaded)
    # Spack derives the class's name from the folder's.
    return loaded[recipe.parent.name.title()], recorded
