# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check-headers compiles each header that `make lint` does not compile alone already, and
finds one that lacks an include."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.scripts import load_script

OPTIONS = ["c++", "-I/a", "-isystem", "/b", "-DX=1", "-Wall"]


@pytest.fixture(scope="module")
def script():
    return load_script("check-headers")


@pytest.fixture
def tree(tmp_path):
    """A source whose first include is one header of two, and a header that is first in that one."""
    files = {
        "src/core/a.cpp": '#include "core/a.hpp"\n#include "core/second.hpp"\n',
        "src/core/a.hpp": '// A comment.\n#include "core/base.hpp"\n#include "core/other.hpp"\n',
        "src/core/base.hpp": "#include <string>\n",
        "src/core/other.hpp": "",
        "src/core/second.hpp": "",
        "include/oriel/c.h": "",
        "src/mpi/b.cpp": '#include "core/a.hpp"\n',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_headers_that_a_source_includes_first_are_left_out(script, tree):
    commands = [
        {"file": str(tree / "src" / name), "command": f"c++ -D{name[0]} -c x.cpp"}
        for name in ("core/a.cpp", "mpi/b.cpp")
    ]
    found = [(path.name, words) for path, words in script.jobs(tree, commands)]
    assert found == [
        ("c.h", ["c++", "-Dm", *script.CPP]),
        ("c.h", ["c++", "-Dm", *script.C]),
        ("other.hpp", ["c++", "-Dc", *script.CPP]),
        ("second.hpp", ["c++", "-Dc", *script.CPP]),
    ]


def test_sources_that_are_compiled_as_one_are_found(script, tree):
    unity = tree / "build" / "Unity" / "unity_0_cxx.cxx"
    unity.parent.mkdir(parents=True)
    a, b, tool = (tree / "src" / name for name in ("core/a.cpp", "mpi/b.cpp", "tools/c.cpp"))
    unity.write_text(f'#include "{a}"\n#include "{b}"\n#include "{tool}"\n', encoding="utf-8")
    together = {"file": str(unity), "command": "c++"}
    again = {"file": str(b), "command": "c++"}
    assert script.sources_of(together, tree) == [a, b]
    units = sys.modules["lint_units"].units
    assert list(units([together, again], tree)) == [unity]


def test_options_of_both_languages_are_kept(script):
    command = f"{' '.join(OPTIONS)} -std=c++20 -O3 -fPIC -o a.o -c a.cpp"
    assert script.options(command) == OPTIONS


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("inline int f() { return 0; }\n", ""), ("inline std::string f();\n", "std")],
)
def test_a_missing_include_is_found(script, tmp_path, text, complaint):
    header = tmp_path / "a.hpp"
    header.write_text(text, encoding="utf-8")
    output = script.compile_alone(header, ["c++", "-Wall", *script.CPP])
    assert (complaint in output) if complaint else not output


def test_a_header_may_come_first_in_the_tree(script):
    """Each source of src/core begins with its header, so that most headers cost nothing."""
    root = Path(script.ROOT)
    first = script.compiled_first(list((root / "src" / "core").rglob("*.cpp")), root)
    assert len(first) > 30
