# SPDX-License-Identifier: BSD-3-Clause
"""What `oriel bench micro --save` keeps of a run, and how `make bench-compare` tells two commits
apart."""

from __future__ import annotations

import json

import pytest
from oriel.bench import micro_commits, micro_history
from oriel.bench.micro_commits import OURS, THEIRS
from oriel.bench.ways import HOST, ORIEL


def results(commit: str, ours: float, host: float = 2.0, trips=(100.0, 100.0)) -> dict:
    """Of one run of one host: a row of puts, and one of messages, which takes as long both ways."""

    def row(name: str, window: str, way: str, median: float, fastest: float | None = None) -> dict:
        where = {"set": "usual", "row": name, "window": window, "bytes": 8}
        times = {
            "median": median,
            "fastest": fastest or median,
            "runs": [[median] * 3],
            "round_trips_ns": [trips],
        }
        return {**where, "host": "mpich", "way": way, **times}

    return {
        "machine": {
            "commit": commit,
            "date": "2030-01-01",
            "processor": "A",
            "cores": 2,
            "load": 1,
        },
        "hosts": {"mpich": "MPICH 5.0.2"},
        "nodes": 1,
        "ranks": 2,
        "crowded": False,
        "quick": True,
        "rows": [
            row("put_flush", "allocated", HOST, host),
            row("put_flush", "allocated", ORIEL, ours, ours / 2),
            row("send_recv", "none", HOST, host),
            row("send_recv", "none", ORIEL, host),
        ],
    }


def test_a_line_has_the_medians_and_the_number():
    line = micro_history.entry(results("abc", 0.5))
    assert line["commit"] == "abc" and line["hosts"] == {"mpich": "MPICH 5.0.2"}
    assert line["number"] == {"mpich": 0.125}, "of the fastest batch, without the row of messages"
    assert line["times"]["mpich"] == {
        "usual put_flush allocated 8": {
            "median": {HOST: 2.0, ORIEL: 0.5},
            "fastest": {HOST: 2.0, ORIEL: 0.25},
        },
        "usual send_recv none 8": {
            "median": {HOST: 2.0, ORIEL: 2.0},
            "fastest": {HOST: 2.0, ORIEL: 2.0},
        },
    }


def test_runs_of_one_setting_are_drawn(tmp_path):
    path = tmp_path / "folder" / "history.jsonl"
    for commit, ours in (("first", 0.5), ("second", 1.0)):
        lines = micro_history.append(path, micro_history.entry(results(commit, ours)))
    elsewhere = micro_history.entry(results("third", 0.1)) | {"processor": "B"}
    assert micro_history.append(path, elsewhere) == [elsewhere]
    assert [line["commit"] for line in lines] == ["first", "second"]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3
    micro_history.draw(lines, tmp_path / "history.png")
    for picture in ("history.png", "history.svg"):
        assert (tmp_path / picture).stat().st_size > 1000


def compared(folder, theirs, ours, trips=(100.0, 100.0)):
    """The cells of the row of puts, and the sentences."""
    for side, runs in ((THEIRS, theirs), (OURS, ours)):
        for number, value in enumerate(runs):
            path = folder / side / str(number) / "micro.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(results(side, value, trips=trips)), encoding="utf-8")
    timings = micro_commits.read({side: folder / side for side in (THEIRS, OURS)})
    table, sentences = micro_commits.compare(timings, "mpich", "title")
    return [list(column.cells)[0] for column in table.columns], sentences


SLOW = [1.2, 1.3, 1.4, 1.5, 1.6]
QUICK = [0.6, 0.7, 0.7, 0.8, 0.9]


@pytest.mark.parametrize(
    ("theirs", "ours", "word"),
    [
        (QUICK, SLOW, "slower"),
        (SLOW, QUICK, "faster"),
        (QUICK, [0.85, *SLOW[:4]], ""),  # one of ours is below one of theirs
        (QUICK[:4], SLOW, ""),  # too few
    ],
)
def test_commits_are_told_apart(tmp_path, theirs, ours, word):
    (name, before, after, ratio, noise, verdict), sentences = compared(tmp_path, theirs, ours)
    assert name == "put, flush, 8 B, allocated" and verdict == word
    assert float(ratio) == pytest.approx(float(after) / float(before), abs=0.01)
    assert noise == "1.00"
    assert f"{int(word == 'slower')} rows slower and {int(word == 'faster')} faster" in sentences[1]


def test_no_results(tmp_path, capsys):
    assert micro_commits.main("abc", str(tmp_path), str(tmp_path)) == 1
    assert "no run left results" in capsys.readouterr().err
