# SPDX-License-Identifier: BSD-3-Clause
"""What CMake makes of the flags that a user asks for, and of a machine without Python."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import output_of

REPOSITORY = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 120
FILE = REPOSITORY / "src" / "core" / "window.cpp"


def command(build: Path, *options: str) -> list[str]:
    mpi_root = f"-DORIEL_MPI_ROOT={REPOSITORY / 'build' / 'mpi'}"
    return ["cmake", "-S", str(REPOSITORY), "-B", str(build), mpi_root, *options]


def environment(**variables: str) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if name != "CXXFLAGS"},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        **variables,
    }


def flags(build: Path, *options: str, **variables: str) -> list[str]:
    """How a file of the core is compiled after a configuration with these options."""
    output_of(command(build, *options), environment(**variables), LIMIT_SECONDS)
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    [words] = [each["command"] for each in commands if each["file"] == str(FILE)]
    return shlex.split(words)


def test_the_default_is_release_with_lines(tmp_path):
    found = flags(tmp_path)
    assert {"-O3", "-DNDEBUG", "-g1"} <= set(found)


def test_release_flags_of_the_command_line_are_kept(tmp_path):
    found = flags(tmp_path, "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DOF_THE_USER")
    assert "-O2" in found and "-DOF_THE_USER" in found
    assert not {"-O3", "-g1", "-DNDEBUG"} & set(found)


@pytest.mark.parametrize("name", ["CMAKE_CXX_FLAGS_RELEASE", "CMAKE_CXX_FLAGS_RELEASE_INIT"])
def test_release_flags_of_a_toolchain_file_are_kept(tmp_path, name):
    toolchain = tmp_path / "toolchain.cmake"
    toolchain.write_text(f'set({name} "-O2 -DOF_THE_USER")\n', encoding="utf-8")
    found = flags(tmp_path / "build", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}")
    assert "-O2" in found and "-DOF_THE_USER" in found
    assert "-g1" not in found


def test_a_debug_level_of_the_environment_is_kept(tmp_path):
    found = flags(tmp_path, CXXFLAGS="-g3")
    assert [word for word in found if word.startswith("-g")] == ["-g3"]


def test_python_is_needed(tmp_path):
    ended = subprocess.run(
        command(tmp_path, "-DPython3_EXECUTABLE=/nowhere/python3"),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert ended.returncode != 0
    assert "Building Oriel takes Python 3.9 or newer" in " ".join(ended.stderr.split())
