# SPDX-License-Identifier: BSD-3-Clause
"""The man pages of the command say what its parsers say, and are the same on every machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from oriel.cli.man_page import VARIABLES

PYTHON = Path(__file__).resolve().parents[2] / "python"
COMMANDS = {
    "run", "env", "top", "report", "info", "doctor", "new", "completion", "demo", "paper", "bench"
}  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    """As the build makes them, by a Python without packages."""
    folder = tmp_path_factory.mktemp("share")
    # A page of a command that is no more goes.
    (folder / "man" / "man1").mkdir(parents=True)
    (folder / "man" / "man1" / "oriel-gone.1").touch()
    words = [sys.executable, "-S", "-m", "oriel.cli.command_files", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(PYTHON)}
    subprocess.run(words, env=environment, timeout=60, check=True)
    return folder / "man" / "man1"


def test_every_command_has_a_page(pages):
    names = {f"oriel-{command}.1" for command in COMMANDS}
    assert {path.name for path in pages.iterdir()} == {"oriel.1", *names}


def test_a_page(pages):
    page = (pages / "oriel-run.1").read_text(encoding="utf-8")
    assert "\n.SH NAME\noriel\\-run \\- run an MPI program with Oriel\n" in page
    assert "\n.TP\n\\fB\\-\\-mpi\\fP \\fINAME\\fP\nmpich, openmpi, intel," in page
    assert "\n.nf\noriel run \\-n 8 \\-\\- \\-\\-hostfile hosts \\-\\- ./stencil 1000\n" in page
    assert ".BR oriel\\-doctor (1),\n" in page


def test_subjects_of_a_page(pages):
    page = (pages / "oriel-bench.1").read_text(encoding="utf-8")
    assert '\n.SS "oriel bench micro"\n' in page
    assert "\\fB\\-\\-triangles\\fP" in page, "of a benchmark that imports scipy"
    assert "here" not in page.replace("where", "").replace("there", ""), (
        "defaults of one machine are not those of another"
    )


def test_every_variable_is_on_both_pages(pages):
    """The command reads what its page and docs/command.md list."""
    page = (pages / "oriel.1").read_text(encoding="utf-8")
    text = (PYTHON.parent / "docs" / "command.md").read_text(encoding="utf-8")
    section = text[text.index("## Variables\n") : text.index("## Completion\n")]
    read = set()
    for folder in ("cli", "hosts", "doctor"):
        for file in (PYTHON / "oriel" / folder).glob("*.py"):
            code = file.read_text(encoding="utf-8")
            read |= set(re.findall(r'environ\.get\("([A-Z_]+)"', code))
    assert {"ORIEL_MPI_ROOT", "SLURM_JOB_ID", "ORIEL_OFI_LIBRARY"} <= read
    assert read | {"MPI_HOME", "PATH"} == VARIABLES.keys() - {"ORIEL_*"}
    for name in VARIABLES.keys() - {"ORIEL_*"}:
        assert f"\\fB{name}\\fP" in page and f"`{name}`" in section


def test_formatters_have_nothing_to_say(pages):
    """groff as man calls it, and mandoc where it is there; a date would change at each build."""
    files = sorted(str(path) for path in pages.iterdir())
    groff, mandoc = shutil.which("groff"), shutil.which("mandoc")
    if not groff and not mandoc:
        pytest.skip("neither groff nor mandoc is installed")
    if groff:
        words = [groff, "-man", "-ww", "-rCHECKSTYLE=3", "-Tutf8", "-z", *files]
        ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert (ended.returncode, ended.stderr) == (0, "")
    if mandoc:
        words = [mandoc, "-T", "lint", "-W", "warning", *files]
        ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        told = [line for line in ended.stdout.splitlines() if "missing date" not in line]
        assert not told
