# SPDX-License-Identifier: BSD-3-Clause
"""The files in which ranks record what they wait for (B1): whatever becomes of a process, they hurt
nobody and can be read."""

from __future__ import annotations

import subprocess

import pytest
from conftest import folder_of
from oriel.wait_states.record import read_records

# How a record is kept has nothing to do with the host.
pytestmark = pytest.mark.hosts("mpich")


def test_children_leave_the_record_to_their_parents(job, host, tmp_path):
    """They end by exit(), with all that runs then."""
    status, output = job.run_command(
        host, [folder_of(host) / "forked"], 2, {"ORIEL_REPORT": str(tmp_path)}
    )
    assert status == 0 and "ok: " in output, output
    records, _ = read_records(tmp_path)
    assert [record.rank for record in records] == [0, 1]
    for record in records:
        # The last window is freed behind all children.
        last = max(record.windows)
        assert record.ended and any(entry.window == last for entry in record.entries())


def test_a_full_disk(job, host, tmp_path):
    """A store to a page that the disk has no room for would end the program by a signal."""
    full, kept = tmp_path / "full", tmp_path / "kept"
    full.mkdir()
    kept.mkdir()
    mount = f"mount -t tmpfs -o size=64k tmpfs {full}"
    try:
        subprocess.run(["unshare", "--mount", "sh", "-c", mount], check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"no mount namespaces here: {error}")
    script = f'{mount} && "$0" "$@" && cp {full}/* {kept}'
    command = ["unshare", "--mount", "sh", "-c", script, folder_of(host) / "late", "5", "1"]
    status, output = job.run_command(host, command, 12, {"ORIEL_REPORT": str(full)})
    assert status == 0 and "ok: " in output, output
    records, _ = read_records(kept)
    assert len(records) == 12 and all(record.lost for record in records)


def test_no_folder(job, host, tmp_path):
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "folder"
    status, output = job.run_command(
        host, [folder_of(host) / "late", "5", "1"], 12, {"ORIEL_REPORT": str(place)}
    )
    assert status == 0 and f"The folder {place} cannot be made" in output, output


def test_the_record_of_an_earlier_run_stays(job, host, tmp_path):
    settings = {"ORIEL_REPORT": str(tmp_path)}
    command = [folder_of(host) / "late", "5", "1"]
    assert job.run_command(host, command, 12, settings)[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    status, output = job.run_command(host, command, 12, settings)
    assert status == 0 and "cannot be made (File exists): nothing is recorded" in output, output
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
