# SPDX-License-Identifier: BSD-3-Clause
"""What was measured decides what `auto` is (C4): on all ranks what rank 0 chooses, and whatever is
in the file, no program fails for it."""

from __future__ import annotations

import re

import pytest
from conftest import LIMIT_SECONDS, folder_of, oriel, output_of
from oriel.bench import measured
from oriel.hosts.host import prefix
from plan import NATIVE, STANDARD

# "several active, auto", "own orders, auto": an exchange in which ranks differ about how it goes
# never ends.
TESTS = ("several active, auto", "own orders, auto")
# What auto is where nothing was measured: the second test's requests are made when the first has
# freed its requests within their trials.
UNKNOWN = {"tried", "notified"}
RANK = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"


def line_of(host, ranks: int, notified: float, two_sided: float, nodes: int = 1, *more) -> str:
    """`more`: of notified_hierarchy, fence and lock, and of making each."""
    names = (measured.read().processor, measured.mpi_name(host))
    numbers = (ranks, nodes, 64, notified, two_sided, 10, 10, *more)
    return "\t".join(str(word) for word in (*names, *numbers)) + "\n"


def run_with(job, host, path, ranks_that_see_it: str = "true", ranks=4, nodes=None) -> list[str]:
    """What rank 0 says that auto is, of each request: a test in the shell says which ranks see the
    file."""
    see = f'if {ranks_that_see_it}; then ORIEL_MEASURED={path}; fi; export ORIEL_MEASURED; "$@"'
    command = ["sh", "-c", see, "sh", folder_of(host) / "alltoallv", *TESTS]
    status, output = job.run_command(host, command, ranks, {"ORIEL_INFO": "1"}, nodes)
    assert status == 0 and "ok: 2 tests" in output, output[-4000:]
    told = re.findall(r"auto is (\w+: .*)", output)
    assert told, output[-4000:]
    return told


def choices(told: list[str]) -> set[str]:
    return {sentence.split(":")[0] for sentence in told}


@pytest.mark.hosts(*NATIVE, *STANDARD)
def test_rank_0_alone_says_two_sided(job, host, tmp_path):
    path = tmp_path / "measured"
    path.write_text(line_of(host, 4, 20, 10))
    told = run_with(job, host, path, f"[ {RANK} = 0 ]")
    assert choices(told) == {"two_sided"}
    assert "4 ranks on 1 node and 64 bytes: notified 20 us, two_sided 10 us" in told[0]


def test_all_but_rank_0_say_two_sided(job, host, tmp_path):
    path = tmp_path / "measured"
    path.write_text(line_of(host, 4, 20, 10))
    told = run_with(job, host, path, f"[ {RANK} != 0 ]")
    assert choices(told) == UNKNOWN
    assert f"nothing like it was measured with {measured.mpi_name(host)}" in told[0]


@pytest.mark.hosts("mpich")
def test_notified_is_faster_or_as_fast(job, host, tmp_path):
    path = tmp_path / "measured"
    for two_sided in (20, 30):
        path.write_text(line_of(host, 4, 20, two_sided))
        told = run_with(job, host, path)
        assert choices(told) == {"notified"}
        assert "notified 20 us" in told[0]


@pytest.mark.hosts("mpich")
def test_several_nodes_are_another_matter(job, host, three_nodes, tmp_path):
    path = tmp_path / "measured"
    path.write_text(line_of(host, 4, 20, 10) + line_of(host, 4, 10, 20, nodes=2))
    told = run_with(job, host, path, nodes=three_nodes)
    assert choices(told) == {"notified"}
    path.write_text(line_of(host, 4, 10, 20) + line_of(host, 4, 20, 10, nodes=2))
    told = run_with(job, host, path, nodes=three_nodes)
    assert choices(told) == {"two_sided"}


@pytest.mark.hosts("mpich")
def test_the_hierarchy_is_chosen_where_something_is_gathered(job, host, three_nodes, tmp_path):
    path = tmp_path / "measured"
    path.write_text(line_of(host, 4, 20, 10, 2, 5, 30))
    told = run_with(job, host, path, nodes=three_nodes)
    assert choices(told) == {"notified_hierarchy"}
    assert "notified 20 us, notified_hierarchy 5 us, two_sided 10 us" in told[0]
    told = run_with(job, host, path, ranks=3, nodes=three_nodes)
    assert choices(told) == {"two_sided"}


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("fastest", ["fence", "lock"])
def test_the_papers_algorithms_are_chosen_where_they_were_fastest(job, host, tmp_path, fastest):
    path = tmp_path / "measured"
    times = (8, 10, 9, 10) if fastest == "fence" else (9, 10, 8, 10)
    path.write_text(line_of(host, 4, 20, 10, 1, 0, 0, *times))
    assert choices(run_with(job, host, path)) == {fastest}


@pytest.mark.hosts("mpich")
def test_one_node_whose_ranks_send_messages_is_one(job, host, tmp_path):
    path = tmp_path / "measured"
    path.write_text(line_of(host, 2, 20, 10))
    told = run_with(job, host, path, "ORIEL_VM=0; export ORIEL_VM", ranks=2)
    assert choices(told) == {"two_sided"}


@pytest.mark.hosts("mpich")
def test_a_garbled_file_counts_as_nothing(job, host, tmp_path):
    path = tmp_path / "measured"
    path.write_bytes(b"\x00\xff\n" + line_of(host, 4, 20, 10).encode()[:-4] + b"\tmore\n")
    assert choices(run_with(job, host, path)) == UNKNOWN
    ended = oriel("info", "--mpi", host.name, ORIEL_MEASURED=str(path))
    assert ended.returncode == 0, ended.stderr
    assert f"  {path}\n  There is something wrong with it: line 1 is not what" in ended.stdout
    assert "oriel_alltoallv=auto times the first starts of each request" in ended.stdout
    assert choices(run_with(job, host, tmp_path)) == UNKNOWN
    ended = oriel("info", "--mpi", host.name, ORIEL_MEASURED=str(tmp_path))
    assert "There is something wrong with it: it is not a regular file." in ended.stdout


def test_info_tells_what_it_is_and_why(host, tmp_path):
    path = tmp_path / "measured"
    elsewhere = "Another processor\t" + line_of(host, 9, 1, 2).partition("\t")[2]
    path.write_text(
        line_of(host, 4, 20, 10)
        + line_of(host, 2, 1.5, 1.5)
        + line_of(host, 4, 9, 99, 2)
        + elsewhere
    )
    ended = oriel("info", "--mpi", host.name, ORIEL_MEASURED=str(path))
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"^ +2 ranks +4 ranks +4 ranks on 2 nodes$", ended.stdout, re.M)
    none = "–, –, –"
    row = (
        rf"^ +64 B +notified \(1.500, 1.500, {none}\) +two_sided \(20.0, 10.0, {none}\)"
        rf" +notified \(9.000, 99.0, {none}\)$"
    )
    assert re.search(row, ended.stdout, re.M), ended.stdout
    assert "9 ranks" not in ended.stdout
    ended = oriel("info", "--mpi", host.name)
    assert f"`oriel bench alltoallv --mpi {host.name}` adds" in ended.stdout
    assert "kept nowhere" in ended.stdout


def times_of(path) -> dict:
    tool = prefix() / "bin" / "oriel-measured"
    environment = {"ORIEL_MEASURED": str(path)}
    return measured.told_by(output_of([tool], environment, LIMIT_SECONDS)).choices


@pytest.mark.hosts("mpich")
def test_bench_keeps_what_it_measures(host, tmp_path):
    """In the user's cache if nobody says otherwise; and what was measured before of other things
    stays."""
    path = tmp_path / "oriel" / "alltoallv"
    settings = {"ORIEL_MEASURED": "", "XDG_CACHE_HOME": str(tmp_path)}
    words = ("-n", 2, "--mpi", host.name, "--rounds", 1, "--batches", 1, "--output", tmp_path)
    for size in (8, 64, 8):
        ended = oriel("bench", "alltoallv", *words, "--bytes", size, **settings)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert f"From now on auto chooses by these times, which are kept in {path}" in " ".join(
            ended.stdout.split()
        )
    found = times_of(path)
    assert sorted(line.bytes for line in found) == [8, 64]
    assert {(line.mpi, line.ranks, line.nodes) for line in found} == {
        (measured.mpi_name(host), 2, 1)
    }
    assert all(min(line.notified, line.two_sided, line.notified_making) > 0 for line in found)
    assert [child.name for child in path.parent.iterdir()] == [path.name]


@pytest.mark.hosts(*NATIVE, *STANDARD)
def test_the_first_starts_show_what_is_fastest(job, host, tmp_path):
    """Where nothing was measured; and what they have shown counts for later requests."""
    told = said(job, host, tmp_path / "nothing", "trial, auto")
    tried = [line for line in told if line.startswith("tried: ")]
    assert len(tried) == 3, told
    shown = [line for line in told if "tried with " in line]
    assert len(shown) == 2, told
    for line in shown:
        times = {name: float(time) for name, time in re.findall(r"(\w+) ([\d.e+]+) us", line)}
        assert set(times) == {"notified", "two_sided"}
        # They may be the same in the digits that are said.
        assert times[line.split(":")[0]] == min(times.values())
    # The last request: the one before was freed too early.
    assert told[-1].startswith("notified: ") and "nothing like it was measured" in told[-1]


@pytest.mark.hosts("mpich")
def test_a_request_may_end_with_its_trial(job, host, tmp_path):
    """It was not cut short, and what it has shown counts for the next one."""
    tried, shown, later = said(job, host, tmp_path / "nothing", "trial and no more, auto")
    assert tried.startswith("tried: ") and "tried with " in shown
    assert later.split(":")[0] == shown.split(":")[0]
    assert "measured with 4 ranks on 1 node" in later


@pytest.mark.hosts("openmpi", "intel")
def test_a_host_keeps_communicators_for_others(job, host, tmp_path):
    """Each trial of `two_sided` takes one there."""
    told = said(job, host, tmp_path / "nothing", "crowd, auto", ranks=2)
    assert sum(line.startswith("tried: ") for line in told) == 1024
    assert told[-1].startswith("notified: ") and "1024 requests have duplicates" in told[-1]


@pytest.mark.hosts("mpich")
def test_between_nodes_the_hierarchy_is_tried_too(job, host, three_nodes, tmp_path):
    told = said(job, host, tmp_path / "nothing", "trial, auto", nodes=three_nodes)
    shown = [line for line in told if "tried with " in line]
    assert len(shown) == 2, told
    assert all("notified_hierarchy" in line and "two_sided" in line for line in shown)


@pytest.mark.hosts("mpich")
def test_the_number_of_starts_counts(job, host, tmp_path):
    """ORIEL_ALLTOALLV_STARTS: with a measurement the making counts, without one a trial has to be
    worth it."""
    path = tmp_path / "measured"
    path.write_text(line_of(host, 4, 20, 10, 1, 0, 0, 9, 1000, 30, 10))
    assert said(job, host, path, "starts") == [
        f"{choice}: at most 64 bytes to each other one{starts}; measured with 4 ranks on 1 node "
        "and 64 bytes: notified 20 us, two_sided 10 us, fence 9 us, lock 30 us"
        for choice, starts in (
            ("two_sided", ", started 1 times"),
            ("two_sided", ", started 990 times"),
            ("fence", ", started 1000 times"),
            ("fence", ""),
        )
    ]
    told = said(job, host, tmp_path / "nothing", "starts")
    assert [line.split(":")[0] for line in told] == ["notified", "tried", "tried", "tried"]


def said(job, host, path, test: str, ranks: int = 4, nodes=None) -> list[str]:
    """What rank 0 says of auto in one test of the program, in which no other request is auto."""
    settings = {"ORIEL_INFO": "1", "ORIEL_MEASURED": str(path)}
    status, output = job.run_command(
        host, [folder_of(host) / "alltoallv", test], ranks, settings, nodes
    )
    assert status == 0 and "ok: 1 tests" in output, output[-4000:]
    return re.findall(r"auto is (\w+: .*)", output)
