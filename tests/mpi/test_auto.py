# SPDX-License-Identifier: BSD-3-Clause
"""What was measured decides what `auto` is (C4): on all ranks what rank 0 chooses, and whatever is
in the file, no program fails for it."""

from __future__ import annotations

import re

import pytest
from conftest import LIMIT_SECONDS, folder_of, oriel, output_of
from oriel.bench.alltoallv import measured
from oriel.hosts.host import prefix
from plan import NATIVE, STANDARD

# "several active, auto", "own orders, auto": an exchange in which ranks differ about how it goes
# never ends.
TESTS = ("several active, auto", "own orders, auto")
RANK = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"


def line_of(host, ranks: int, notified: float, two_sided: float, nodes: int = 1, *more) -> str:
    """`more`: of notified_hierarchy, and of making it."""
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
    assert choices(told) == {"notified"}
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
    assert "notified 20 us, two_sided 10 us, notified_hierarchy 5 us" in told[0]
    told = run_with(job, host, path, ranks=3, nodes=three_nodes)
    assert choices(told) == {"two_sided"}


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
    assert choices(run_with(job, host, path)) == {"notified"}
    ended = oriel("info", "--mpi", host.name, ORIEL_MEASURED=str(path))
    assert ended.returncode == 0, ended.stderr
    assert f"  {path}\n  There is something wrong with it: line 1 is not what" in ended.stdout
    assert "oriel_alltoallv=auto is notified: nothing was measured" in ended.stdout
    assert choices(run_with(job, host, tmp_path)) == {"notified"}
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
    row = r"^ +64 B +notified \(1.500, 1.500\) +two_sided \(20.0, 10.0\) +notified \(9.000, 99.0\)$"
    assert re.search(row, ended.stdout, re.M), ended.stdout
    assert "9 ranks" not in ended.stdout
    ended = oriel("info", "--mpi", host.name)
    assert f"`oriel bench alltoallv --mpi {host.name}` measures" in ended.stdout
    assert "kept nowhere" in ended.stdout


def times_of(path) -> dict:
    tool = prefix() / "bin" / "oriel-measured"
    environment = {"ORIEL_MEASURED": str(path)}
    return measured.told_by(output_of([tool], environment, LIMIT_SECONDS)).choices


def test_bench_keeps_what_it_measures(host, tmp_path):
    """In the user's cache if nobody says otherwise; and what was measured before of other things
    stays."""
    path = tmp_path / "oriel" / "alltoallv"
    settings = {"ORIEL_MEASURED": "", "XDG_CACHE_HOME": str(tmp_path)}
    words = ("-n", 2, "--mpi", host.name, "--rounds", 1, "--batches", 1, "--output", tmp_path)
    for size in (8, 64, 8):
        ended = oriel("bench", "alltoallv", *words, "--bytes", size, **settings)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert f"From now on auto goes by these times, which are kept in {path}" in " ".join(
            ended.stdout.split()
        )
    found = times_of(path)
    assert sorted(line.bytes for line in found) == [8, 64]
    assert {(line.mpi, line.ranks, line.nodes) for line in found} == {
        (measured.mpi_name(host), 2, 1)
    }
    assert all(min(line.notified, line.two_sided, line.notified_making) > 0 for line in found)
    assert [child.name for child in path.parent.iterdir()] == [path.name]
