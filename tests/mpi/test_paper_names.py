# SPDX-License-Identifier: BSD-3-Clause
"""The public headers are C99 and C++, each alone; headers and hosts that have one name for two
things are refused by the compiler. That the papers' names work is tested in test_linked_library."""

from __future__ import annotations

import subprocess

import pytest
from conftest import REPOSITORY
from plan import LIBRARIES

FOLDERS = (REPOSITORY / "include", REPOSITORY / "build" / "calls" / "include")
HEADERS = sorted(path.name for folder in FOLDERS for path in (folder / "oriel").glob("*.h"))
STRICT = ("-Wall", "-Wextra", "-pedantic", "-Werror")
LANGUAGES = {"c": ("cc", "-std=c99", *STRICT), "cpp": ("c++", "-std=c++20", *STRICT)}
# Open MPI's C++ bindings and MPICH's are no part of these headers.
DEFINED = ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")

pytestmark = pytest.mark.hosts(*LIBRARIES)


def compiler_says(host, tmp_path, language: str, text: str) -> str:
    """What the compiler finds wrong; nothing: it accepts the text."""
    source = tmp_path / f"source.{language}"
    source.write_text(text, encoding="utf-8")
    folders = [word for folder in FOLDERS for word in ("-I", folder)]
    folders += ["-isystem", host.prefix / "include"]
    words = [*LANGUAGES[language], *DEFINED, *folders, "-fsyntax-only", source]
    found = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    return "" if found.returncode == 0 else found.stderr or "an error without a word"


def including(*names: str) -> str:
    return "".join(f"#include <oriel/{name}>\n" for name in names)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("header", HEADERS)
def test_header_alone(host, tmp_path, language, header):
    text = including(header) + "int nothing;\n"
    assert not compiler_says(host, tmp_path, language, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_papers_together(host, tmp_path, language):
    papers = [name for name in HEADERS if name.endswith("_names.h")]
    assert len(papers) == 4
    assert not compiler_says(host, tmp_path, language, including(*papers) + "int nothing;\n")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("other", ["forum_notify.h", "intel_notify.h"])
def test_two_meanings_of_put_notify(host, tmp_path, language, other):
    """In both orders; and beside foMPI's names alone the other header may stand."""
    paper = "notified_access_names.h"
    for names in ((paper, other), (other, paper)):
        said = compiler_says(host, tmp_path, language, including(*names))
        assert "define ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY" in said
        alone = "#define ORIEL_NOTIFIED_ACCESS_FOMPI_ONLY\n" + including(*names) + "int nothing;\n"
        assert not compiler_says(host, tmp_path, language, alone)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("header", "name", "arguments"),
    [
        ("nonblocking_epochs_names.h", "MPIX_Win_iflush", "int, MPI_Win, MPI_Request*"),
        ("quo_vadis_names.h", "MPIX_Win_dup_with_info", "MPI_Win, MPI_Info, MPI_Win*"),
        ("notified_access_names.h", "MPI_Notify_init", "MPI_Win, int, int, int, MPI_Request*"),
    ],
)
def test_host_with_the_name(host, tmp_path, language, header, name, arguments):
    """One with the paper's arguments makes no difference, another one is an error."""

    def said(declared: str) -> str:
        linkage = 'extern "C" ' if language == "cpp" else ""
        text = f"#include <mpi.h>\n{linkage}int {name}({declared});\n"
        return compiler_says(host, tmp_path, language, text + including(header))

    assert not said(arguments)
    assert name in said(arguments + ", int")
