# SPDX-License-Identifier: BSD-3-Clause
"""The order of LD_PRELOAD under `oriel run`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from oriel.hosts.preloads import preload_order

ORIEL = "/opt/oriel/lib/liboriel_mpich.so"


@pytest.mark.parametrize(
    ("given", "order"),
    [
        ("", [ORIEL]),
        ("/a.so", ["/a.so", ORIEL]),
        ("/a.so:/b.so /c.so", ["/a.so", "/b.so", "/c.so", ORIEL]),
        (f"/a.so:{ORIEL}:/b.so", ["/a.so", ORIEL, "/b.so"]),
    ],
)
def test_the_users_entries_come_first(given, order):
    """Unless they have Oriel's library in a place of its own."""
    for program in (["sh"], ["no/such/program"]):
        assert preload_order(program, given, ORIEL, None).split(":") == order


@pytest.mark.parametrize(("sanitizer", "runtime"), [("address", "libasan"), ("thread", "libtsan")])
def test_the_runtime_of_a_sanitizer_comes_before_all(sanitizer, runtime, tmp_path):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    words = ["cc", f"-fsanitize={sanitizer},undefined", "main.c", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, timeout=60, check=True)
    first, *others = preload_order([tmp_path / "program"], "/tool.so", ORIEL, None).split(":")
    assert f"/{runtime}.so" in first
    assert others == ["/tool.so", ORIEL]
    # Also where the user has named it, elsewhere.
    assert preload_order([tmp_path / "program"], f"/tool.so:{first}", ORIEL, None).split(":") == [
        first,
        "/tool.so",
        ORIEL,
    ]


def test_a_program_that_loads_its_mpi_gets_that_of_the_host(tmp_path):
    """One that is linked with an MPI library of any name has its own."""
    mpi = Path("/opt/mpi/lib/libmpi.so.12")
    assert preload_order(["sh"], "", ORIEL, mpi).split(":") == [ORIEL, str(mpi)]
    (tmp_path / "empty.c").touch()
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    library = "libmpi_gnu_123.so.12"
    for words in (
        ["-shared", f"-Wl,-soname,{library}", "empty.c", "-o", library],
        ["main.c", "-Wl,--no-as-needed", f"./{library}", "-o", "program"],
    ):
        subprocess.run(["cc", *words], cwd=tmp_path, timeout=60, check=True)
    assert preload_order([tmp_path / "program"], "", ORIEL, mpi) == ORIEL
