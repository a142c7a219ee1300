# SPDX-License-Identifier: BSD-3-Clause
"""The table of calls agrees with the public headers, and what it is made into is well-formed. That
it agrees with the MPIs' headers and with the definitions shows when the library is compiled."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import fortran
import generate
import pytest
import python_binding
import table as calls_table


def text() -> str:
    return calls_table.TABLE.read_text(encoding="utf-8")


PUBLIC = [
    calls_table.read_header(name, source)
    for name, source in calls_table.public_headers(calls_table.Table(text())).items()
]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The folder that the script has written."""
    folder = tmp_path_factory.mktemp("calls")
    subprocess.run([sys.executable, generate.__file__, folder, "1.2.3"], check=True, timeout=60)
    return folder


def test_the_table_agrees_with_the_headers():
    calls_table.check_all(calls_table.Table(text()), PUBLIC)
    declared = sum(len(header.prototypes) for header in PUBLIC)
    sources = calls_table.public_headers(calls_table.Table(text())).values()
    assert declared == len(re.findall(r"^int ", "".join(sources), re.M)) > 90


def test_papers_names_are_those_of_the_table(made):
    """A prefix holds for the twins too, a whole name for one call."""
    folder = made / "include/oriel"
    epochs = (folder / "nonblocking_epochs_names.h").read_text(encoding="utf-8")
    assert "int MPIX_Win_iflush(int rank, MPI_Win win, MPI_Request* request);\n" in epochs
    assert "#define MPI_Win_iflush ORIEL_Win_iflush\n" in epochs
    papers = (folder / "quo_vadis_names.h").read_text(encoding="utf-8")
    assert "#define MPIX_Rrput_c ORIEL_Rrput_c\n" in papers
    assert "#define MPI_Win_wait_notify ORIEL_Win_wait_notify\n" in papers
    assert "MPIX_Win_wait_notify ORIEL" not in papers
    access = (folder / "notified_access_names.h").read_text(encoding="utf-8")
    assert "#define MPI_Get_notify ORIEL_Get_notify\n" in access
    assert "MPI_Rget_notify ORIEL" not in access.replace("foMPI", "")
    assert "#define foMPI_Type_free MPI_Type_free\n" in access
    assert "@" not in "".join(re.sub(r"@file", "", each) for each in (epochs, papers, access))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[ORIEL_Win_iwait]", "[ORIEL_Win_jwait]", "which is not in calls.ini"),
        ("[kinds]\n", "[kinds]\nsquare = int\n", "type: meaning"),
        ("is = nonblocking MPI_Win_wait\n", "", "`is` has to say"),
        ("[MPI_Init]\n", "[MPI_Init]\ntwin = a\n", "`twin` has no meaning"),
        ("header = oriel/windows.h", "header = oriel/none.h", "there is no oriel/none.h"),
        ("twins = _c, R,", "twins = _c, r,", "MPI_Put: twins are _c, R and R_c, but not r"),
        ("[MPI_Get]", "[MPI_Put]", "'MPI_Put' already exists"),
        ("[MPI_Fetch_and_op]", "[MPI_Rput]", "has MPI_Rput twice"),
        ("sweeps_if = must_sweep()", "sweeps = must_sweep()", "`sweeps` has no meaning"),
        ("= info, errhandler,", "= info, handler,", "`handler` is neither"),
        ("[MPI_Win_unlock]", "[MPI_Win_unlock]\nheader = a.h", "`header` has no meaning"),
        ("= quo_vadis_names.h:", "= quo_names.h:", "there is no oriel/quo_names.h"),
        ("statuses[count]", "statuses[counts]", "no length counts"),
        ("parameters = rank, win\n", "parameters = rank, win, win\n", "no second win"),
        (
            "= win, index notification_idx, counter value\n",
            "= win, rank notification_idx, size value\n",
            "the header says\n  int ORIEL_Win_set_notify_value(MPI_Win win, int notification_idx, "
            "MPI_Count value);\nand the table\n  int ORIEL_Win_set_notify_value(MPI_Win win, int "
            "notification_idx, MPI_Aint value);",
        ),
    ],
)
def test_what_is_wrong_is_said(old, new, sentence):
    assert old in text()
    with pytest.raises(calls_table.Fault, match=re.escape(sentence)):
        calls_table.check_all(calls_table.Table(text().replace(old, new, 1)), PUBLIC)


def test_a_call_without_a_declaration_is_said():
    source = (calls_table.HEADERS / "oriel.h").read_text(encoding="utf-8")
    without = re.sub(r"int ORIEL_Win_iwait\([^;]*;", "", source)
    with pytest.raises(
        calls_table.Fault, match="has ORIEL_Win_iwait, which oriel/oriel.h does not"
    ):
        calls_table.check(
            calls_table.Table(text()), calls_table.read_header("oriel/oriel.h", without)
        )


@pytest.mark.parametrize(
    ("parameter", "declaration"),
    [
        ("win", "MPI_Win win"),
        ("out win", "MPI_Win* win"),
        ("count origin_count", "MPI_Count origin_count"),
        ("buffer base", "const void* base"),
        ("inout buffer base", "void* base"),
        ("out baseptr", "void* baseptr"),
        ("string key", "const char* key"),
        ("out string value[comm]", "char* value"),
        ("displs displs[comm]", "const MPI_Aint displs[]"),
        ("out index indices[comm]", "int indices[]"),
        ("inout argv", "char*** argv"),
    ],
)
def test_parameters_in_c(parameter, declaration):
    [read] = calls_table.Table(text()).parameters(parameter, "here")
    assert read.declaration(read.kind.large_type) == declaration


def test_the_header_for_tools_has_every_call(made):
    found = (made / "include/oriel/profiling.h").read_text(encoding="utf-8")
    for header in PUBLIC:
        for name in header.prototypes:
            assert (f"int P{name}(" in found) == name.startswith("ORIEL_")


def test_blocking_calls(made):
    text = (made / "src/mpi/calls/blocking_calls.cpp").read_text(encoding="utf-8")
    assert (
        """\
ORIEL_MPI_CALL(Recv)(void* buf, int count, MPI_Datatype datatype, int source, int tag,
        MPI_Comm comm, MPI_Status* status) {
  return call_host([&] {
    if (!(must_sweep() && source != MPI_PROC_NULL)) return host_mpi().Recv(buf, count, datatype,
        source, tag, comm, status);
    return sweep_until_done([&](MPI_Request* request) {
      return host_mpi().Irecv(buf, count, datatype, source, tag, comm, request);
    }, status);
  });
}
"""
        in text
    )
    assert "if (!collectives_sweep(comm)) return host_mpi().Barrier(comm);" in text
    assert "return host_mpi().Comm_idup(comm, newcomm, request);" in text
    assert re.search(r"#if ORIEL_HOST_LARGE_COUNTS\n.*\(Bcast_c\)\(.*#endif\n$", text, re.S)


def test_what_stays_the_same_is_not_written_again(made):
    header = made / "src/mpi/calls/host_calls.hpp"
    before = header.stat().st_mtime_ns
    stale = made / "man/man3/ORIEL_Gone.3"
    stale.write_text("", encoding="utf-8")
    subprocess.run([sys.executable, generate.__file__, made, "1.2.3"], check=True, timeout=60)
    assert header.stat().st_mtime_ns == before
    assert not stale.exists()


def test_every_public_call_has_a_man_page(made):
    names = {name for header in PUBLIC for name in header.prototypes if name.startswith("ORIEL_")}
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (made / "man/man3").iterdir()}
    assert names == pages.keys()
    for page in pages.values():
        target = re.fullmatch(r"\.so man3/(\w+)\.3\n", page)
        assert target is None or pages[target[1]].startswith('.\\"')


def test_a_man_page(made):
    page = (made / "man/man3/ORIEL_Put_notify.3").read_text(encoding="utf-8")
    assert re.findall(r"^\.SH (.*)", page, re.M) == [
        "NAME",
        "SYNOPSIS",
        "PARAMETERS",
        "RETURN VALUE",
        "DESCRIPTION",
        "ALL CALLS OF oriel/notify.h",
        "SEE ALSO",
    ]
    assert '.TH ORIEL_Put_notify 3 "" "Oriel 1.2.3"' in page
    assert "ORIEL_Rput_notify_c \\- put that notifies its target\n" in page
    assert "\\fIrequest\\fP (output)\nrequest\n" in page
    assert "\nMPI_Put that notifies its target.\n" in page
    assert ".SS ORIEL_Rput_notify, ORIEL_Rput_notify_c\n.PP\nRequest\\-based forms." in page
    assert "\n.IP \\(bu 2\nNo notification is lost." in page


def test_a_parameter_without_a_form_in_fortran_is_said():
    old, new = "rank source, tag, out status", "rank source, tag, out message"
    assert text().count(f"parameters = win, {old}\n") == 1
    table = calls_table.Table(text().replace(f"win, {old}\n", f"win, {new}\n"))
    with pytest.raises(calls_table.Fault, match="parameter message of type MPI_Message"):
        fortran.fortran_calls(table, "")


def test_the_fortran_module_says_what_calls_do(made):
    source = (made / "fortran/oriel.f90").read_text(encoding="utf-8")
    comments = re.findall(r"((?:  !> .*\n)+)  (?:subroutine|function) (\w+)", source)
    said = {name: re.sub(r"\s*!> ", " ", lines).strip() for lines, name in comments}
    assert said["ORIEL_Win_iwait"] == "Nonblocking MPI_Win_wait. No call blocks. See oriel/oriel.h."
    assert said["ORIEL_Rput_notify_c"] == (
        "Put that notifies its target. With a request. With large counts. See oriel/notify.h."
    )
    assert said["ORIEL_Bcast_init"].startswith(
        "Creates a persistent request for MPI_Bcast. Each call is collective on `comm` and blocking"
    )
    assert not [line for line in source.splitlines() if len(line) > 100]


def test_groff_has_nothing_to_say(made):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    pages = sorted((made / "man/man3").iterdir())
    words = ["groff", "-man", "-ww", "-rCHECKSTYLE=3", "-Tutf8", "-z", "-I", made / "man", *pages]
    ended = subprocess.run(
        words, cwd=made / "man", capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("name", python_binding.modules())
def test_the_package_of_python_has_what_the_table_says(name):
    """Two modules of it are checked in as the script makes them."""
    found = (python_binding.FOLDER / name).read_text(encoding="utf-8")
    script = Path(python_binding.__file__).relative_to(Path(__file__).resolve().parents[2])
    assert found == python_binding.modules()[name], f"Run {script}, and commit {name}."
