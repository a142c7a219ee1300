# SPDX-License-Identifier: BSD-3-Clause
"""`oriel completion` prints scripts that complete commands, options and their values in bash, zsh
and fish. Shells that are not there are skipped."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import LIMIT_SECONDS, REPOSITORY

# Calls the function as bash does when a word is completed.
BASH = """
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_oriel
printf '%s\\n' "${COMPREPLY[@]}"
"""

# What is typed, and what it is completed to.
CASES = [
    (
        "oriel ",
        {
            *("run", "env", "top", "report", "info", "doctor", "new", "completion"),
            *("demo", "paper", "bench"),
        },
    ),
    ("oriel do", {"doctor"}),
    ("oriel run --la", {"--launcher"}),
    ("oriel run --launcher ", {"mpiexec", "srun"}),
    ("oriel env --mpi intel", {"intel", "intel-abi"}),
    ("oriel bench mi", {"micro"}),
    ("oriel bench micro --set v", {"vectors"}),
    ("oriel bench halo --win", {"--window"}),
    ("oriel new --with ", {"cmake", "make", "python"}),
    ("oriel completion ", {"bash", "zsh", "fish"}),
    ("oriel demo --pattern late_", {"late_post", "late_complete", "late_unlock"}),
]


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """The file of a shell's script, printed by a Python without packages."""

    def write(shell: str) -> Path:
        path = tmp_path_factory.mktemp("completion") / shell
        words = [sys.executable, "-S", "-m", "oriel", "completion", shell]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}
        ended = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=60, check=True
        )
        path.write_text(ended.stdout, encoding="utf-8")
        return path

    return write


def found(name: str) -> str:
    shell = shutil.which(name)
    if shell is None:
        pytest.skip(f"{name} is not installed")
    return shell


def output_of(*words) -> list[str]:
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0 and not ended.stderr, ended.stderr
    return ended.stdout.splitlines()


def test_bash(script):
    bash, path = found("bash"), script("bash")

    def complete(line: str) -> set[str]:
        words = line.split(" ")
        return {*output_of(bash, "-c", BASH, "bash", str(path), *words)} - {""}

    for line, words in CASES:
        options = {word for word in complete(line) if word.startswith("--") and line[-1] == " "}
        assert complete(line) - options == words, line
    assert "true" in complete("oriel run -n 2 tru")
    assert complete("oriel run --launcher =") == {"mpiexec", "srun"}  # the words of --launcher=
    # Files, which bash completes itself: a number, a path, the program's own words and another
    # launcher's.
    for line in (
        "run -n ",
        "run -n 2 ./",
        "run -n 2 true --m",
        "run -n 2 -- --m",
        "demo --output ",
    ):
        assert not complete(f"oriel {line}"), line


def test_keys_in_bash(script, tmp_path):
    """What bash makes of a reply with spaces, and of `=`, shows at a terminal alone. No other
    program's name begins as the one that is completed."""
    (tmp_path / "oriels own").touch(0o755)
    typed = {
        "oriel run -n 2 oriels\t x": "<run><-n><2><oriels own><x>",
        "oriel run --mpi=open\t x": "<run><--mpi=openmpi><x>",
        "oriel run --mpi=intel -n 2 oriels\t": "<run><--mpi=intel><-n><2><oriels own>",
    }
    keys = f"source {script('bash')}; oriel() {{ printf '<%s>' \"$@\"; }}\n"
    keys += "\n".join([*typed, "exit", ""])
    terminal, other_end = pty.openpty()
    shell = subprocess.Popen(
        [found("bash"), "--norc", "--noprofile", "-i"],
        cwd=tmp_path,
        env={**os.environ, "INPUTRC": os.devnull, "TERM": "dumb"},
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        start_new_session=True,
    )
    os.close(other_end)
    os.write(terminal, keys.encode())
    shown = b""
    try:
        while select.select([terminal], [], [], LIMIT_SECONDS)[0]:
            shown += os.read(terminal, 4096)
    except OSError:  # the shell has ended
        pass
    finally:
        shell.kill()
        shell.wait()
        os.close(terminal)
    for line in typed.values():
        assert line in shown.decode(), shown.decode()


def test_fish(script):
    fish, path = found("fish"), script("fish")
    for line, words in CASES:
        command = f"source {path}; complete -C '{line}'"
        assert {each.partition("\t")[0] for each in output_of(fish, "-c", command)} == words, line


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_syntax(script, shell):
    assert not output_of(found(shell), "-n", str(script(shell)))


def test_every_option_is_in_every_script(script):
    """The launcher is an option that came late, `--triangles` one of a benchmark that imports
    scipy, and `--only` one of a command that imports jinja2."""
    for shell in ("bash", "zsh", "fish"):
        text = script(shell).read_text(encoding="utf-8")
        for option in ("launcher", "triangles", "only", "json"):
            assert option in text, f"{shell}: {option}"
