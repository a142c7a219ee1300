# SPDX-License-Identifier: BSD-3-Clause
"""What the process tests share: the host MPIs found here, and how to run a program on one."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from job_settings import FOR_OPENMPI, NO_SLEEP, SAME
from oriel.hosts.host import Host, find_hosts, prefix
from oriel.hosts.job import ATTEMPTS, end, until_started
from oriel.hosts.mpi_kinds import STANDARD_ABI
from oriel.hosts.nodes import Nodes, why_not
from plan import LIBRARIES, NATIVE

REPOSITORY = Path(__file__).resolve().parents[2]

# Twice what the slowest program takes beside another job on two busy cores (stress, on Open MPI). A
# program gives up by itself a little earlier and names the test it was in.
LIMIT_SECONDS = 120
ALARM_SECONDS = 110


def programs_folder() -> Path:
    return Path(os.environ.get("ORIEL_TEST_PROGRAMS", prefix() / "tests" / "mpi"))


def all_hosts() -> dict[str, Host]:
    """Every MPI found; with the standard ABI also where programs were built for it."""
    hosts = find_hosts()
    for host in list(hosts):
        if host.standard_abi and (programs_folder() / STANDARD_ABI).is_dir():
            hosts.append(host.with_standard_abi())
    return {host.name: host for host in hosts}


def folder_of(host: Host) -> Path:
    """Programs built for this host; one build for all that have the standard ABI."""
    return programs_folder() / (host.name if host.name == host.kind.name else STANDARD_ABI)


def behind_oriel(host: Host, library: str) -> dict[str, str]:
    """Preloads a library of the tests between Oriel and the host: it answers Oriel's own calls."""
    return {"LD_PRELOAD": f"{host.library}:{folder_of(host) / library}"}


def pytest_addoption(parser):
    parser.addoption(
        "--host-alone",
        action="store_true",
        help="run the programs on the host's own RMA, without Oriel: checks the tests themselves",
    )
    parser.addoption(
        "--sanitized",
        action="store_true",
        help="with the library of build/sanitize-address: addresses and undefined behaviour",
    )
    parser.addoption(
        "--ranks", type=int, help="of the programs on one node, only those with so many ranks"
    )


def pytest_configure(config):
    for line in (
        "plan(name, rows): rows of plan.py, for the arguments host, program and the one named",
        "hosts(*names): the hosts that the argument host takes; without it NATIVE of plan.py",
        "host_alone: also tells something about the host's own RMA",
    ):
        config.addinivalue_line("markers", line)


def pytest_generate_tests(metafunc):
    """What is never meant to run is no parameter: a skip says that this machine cannot."""
    if "host" not in metafunc.fixturenames:
        return
    hosts = all_hosts()
    if metafunc.config.getoption("sanitized"):
        hosts = {
            name: host
            for name, host in hosts.items()
            if name in LIBRARIES and sanitized_library(host).is_file()
        }
        if not hosts:
            raise pytest.UsageError("No sanitized library was built: make build/sanitize-address.")
    planned = metafunc.definition.get_closest_marker("plan")
    if planned:
        name, rows = planned.args
        ranks = metafunc.config.getoption("ranks") if name == "ranks" else None
        runs = [
            (hosts[host], program, value)
            for row in rows
            for host in row.hosts
            for value in row.values
            for program in row.programs
            if host in hosts and ranks in (None, value)
        ]
        ids = [f"{host.name}-{value}-{program}" for host, program, value in runs]
        metafunc.parametrize(("host", "program", name), runs, ids=ids)
    else:
        wanted = metafunc.definition.get_closest_marker("hosts")
        names = [name for name in (wanted.args if wanted else NATIVE) if name in hosts]
        metafunc.parametrize("host", [hosts[name] for name in names], ids=names)


def pytest_collection_modifyitems(config, items):
    if config.getoption("host_alone"):
        left_out = [item for item in items if item.get_closest_marker("host_alone") is None]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def oriel(*words, before: Sequence[str] = (), **settings) -> subprocess.CompletedProcess:
    """The command behind the words `before`, with variables set for it. On a busy machine MPICH's
    mpiexec ends by SIGPIPE in one of twenty runs of a program that ends at once, such as `true`:
    then once more."""
    for _ in range(ATTEMPTS):
        ended = _oriel(*words, before=before, **settings)
        if ended.returncode != 128 + signal.SIGPIPE:
            break
    return ended


def _oriel(*words, before: Sequence[str], **settings) -> subprocess.CompletedProcess:
    argv = [*before, sys.executable, "-m", "oriel", *(str(word) for word in words)]
    process = subprocess.Popen(
        argv,
        cwd=REPOSITORY,
        env={
            **os.environ,
            **SAME,
            **NO_SLEEP,
            "PYTHONPATH": str(REPOSITORY / "python"),
            **settings,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=4 * LIMIT_SECONDS)
    finally:
        end(process, patience_s=20)  # which is itself as patient with the jobs that it started
    return subprocess.CompletedProcess(argv, process.returncode, output, errors)


def output_of(words: list, environment: dict[str, str], limit_s: float, cwd=None) -> str:
    """What a command prints, which has to succeed within this time."""
    ended = subprocess.run(
        words,
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=limit_s,
        check=False,
    )
    assert ended.returncode == 0, f"{words} failed:\n{ended.stdout[-4000:]}"
    return ended.stdout


def sanitizer() -> str:
    """Path of AddressSanitizer's runtime."""
    words = ["g++", "-print-file-name=libasan.so"]
    found = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    return str(Path(found.stdout.strip()).resolve())


def sanitized_library(host: Host) -> Path:
    return REPOSITORY / "build" / "sanitize-address" / "lib" / host.library.name


def patience(nodes: Nodes | None) -> int:
    # Nodes of one machine share its cores, and a host that spins without yielding then takes a
    # scheduler's slice for every step of its own collectives.
    return 3 if nodes else 1


class Job:
    """One run of one test program, started by the host's own launcher."""

    def __init__(self, host_alone: bool, sanitized: bool):
        self._host_alone = host_alone
        self._sanitized = sanitized

    def run(
        self,
        host: Host,
        name: str,
        ranks: int,
        settings: dict[str, str] | None = None,
        nodes: Nodes | None = None,
    ):
        """Returns (exit status, output); a run that takes too long is ended and fails the test."""
        program = folder_of(host) / name
        assert program.is_file(), f"{program} is not there; build the tests first."
        return self.run_command(host, [program], ranks, settings, nodes)

    def run_linked(self, host: Host, name: str, ranks: int):
        """One that is linked with Oriel: nothing is preloaded."""
        argv, environ = host.command(ranks, [folder_of(host) / name], preload=False)
        output = output_of(argv, environ, LIMIT_SECONDS)
        assert "ok: " in output, output[-4000:]

    def run_command(self, host: Host, command: list, ranks: int, settings=None, nodes=None):
        """The same of any command, which runs once per rank."""
        return until_started(lambda: self._run_once(host, command, ranks, settings, nodes))

    def _run_once(self, host: Host, command: list, ranks: int, settings, nodes):
        limit = patience(nodes) * LIMIT_SECONDS
        with self.start(host, command, ranks, settings, nodes) as process:
            try:
                output, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                pytest.fail(
                    f"{command[0]} on {ranks} ranks of {host.name} was not over after "
                    f"{limit} s. Its output:\n{end(process)[-4000:]}"
                )
        return process.returncode, output

    def start(
        self, host: Host, command: list, ranks: int, settings=None, nodes=None
    ) -> subprocess.Popen:
        """A run under way, in a process group of its own."""
        environment = {
            "ORIEL_TEST_ALARM": str(patience(nodes) * ALARM_SECONDS),
            **SAME,
            **(settings or {}),
        }
        if self._host_alone:
            environment["ORIEL_TEST_HOST_ONLY"] = "1"
        if self._sanitized:
            library = sanitized_library(host)
            asked = environment.get("LD_PRELOAD", "").replace(str(host.library), str(library))
            host = dataclasses.replace(host, library=library)
            environment["LD_PRELOAD"] = ":".join(filter(None, [sanitizer(), asked]))
            environment["ASAN_OPTIONS"] = "detect_leaks=0"  # the hosts keep what they allocate
        if host.name == "openmpi":
            environment = {**FOR_OPENMPI, **environment}
        argv, environ = host.command(ranks, command, not self._host_alone, environment, nodes=nodes)
        return subprocess.Popen(
            argv,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def expect_ok(
        self,
        host: Host,
        name: str,
        ranks: int,
        settings: dict[str, str] | None = None,
        nodes: Nodes | None = None,
    ):
        status, output = self.run(host, name, ranks, settings, nodes)
        where = f", {nodes.count} nodes" if nodes else ""
        assert status == 0 and "ok: " in output, (
            f"{name} on {ranks} ranks{where} of {host.name} {host.version} "
            f"ended with status {status}:\n"
            f"{output[-4000:]}"
        )
        return output


def expect_loss(job: Job, host: Host, settings=None, when_ready=None, words=("lost",)) -> str:
    """Runs `lost`, or another program with arguments, on two nodes: what rank 0 waits for fails
    with a sentence, within the configured time, when rank 1 is lost. `when_ready` is called with
    the nodes and the program when that may happen. Returns the output."""
    program = folder_of(host) / words[0]
    settings = {"ORIEL_PEER_TIMEOUT": "2", **(settings or {})}
    with Nodes(2) as nodes:
        when = when_ready and (lambda: when_ready(nodes, program))
        output, reason = run_to_loss(job, host, [program, *words[1:]], settings, nodes, when)
    assert re.search("rank 1 of the window (has ended or )?cannot be reached", reason), reason
    return output


def run_to_loss(
    job, host, command, settings, nodes=None, when_ready=None, ranks=2
) -> tuple[str, str]:
    """Runs a program that loses a rank and tells what rank 0's call came to. Returns the output,
    and the sentence."""
    # A rank that dies has a parent that does not: else the launcher ends the others at once.
    command = ["sh", "-c", '"$0" "$@" || sleep 60', *command]

    def attempt():
        output = _until_told(job.start(host, command, ranks, settings, nodes), when_ready)
        return re.search(r"after ([0-9.]+) s, class (\S+): (.*)", output), output

    told, output = until_started(attempt)
    assert told, output[-4000:]
    assert float(told.group(1)) < 10
    assert told.group(2) == "MPI_ERR_OTHER"
    return output, told.group(3)


def _until_told(started: subprocess.Popen, when_ready) -> str:
    """What a run prints until it says what rank 0's call came to; then it is killed."""
    with started as run:
        limit = threading.Timer(LIMIT_SECONDS, os.killpg, (run.pid, signal.SIGKILL))
        limit.start()
        output = ""
        try:
            for line in run.stdout:
                output += line
                if line.strip() == "ready" and when_ready:
                    when_ready()
                if line.startswith("after "):
                    break
        finally:
            limit.cancel()
            limit.join()
            os.killpg(run.pid, signal.SIGKILL)
    return output


@pytest.fixture(scope="session")
def three_nodes():
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with Nodes(3) as nodes:
        yield nodes


# Does what srun does for Oriel: starts the ranks, whose environment is its own.
SRUN = """\
#!/bin/sh
printf '%s\\n' "$*" >>{log}
while [ "$1" != -n ]; do shift; done
shift
n=$1
shift
{start}
"""


@pytest.fixture
def srun(tmp_path):
    """Writes a stand-in for srun that starts ranks so; returns settings of an allocation, and the
    file of what it was called with."""

    def write(start: str) -> tuple[dict[str, str], Path]:
        (tmp_path / "bin").mkdir()
        log = tmp_path / "log"
        script = tmp_path / "bin" / "srun"
        script.write_text(SRUN.format(log=log, start=start), encoding="utf-8")
        script.chmod(0o755)
        path = f"{script.parent}:{os.environ['PATH']}"
        return {"PATH": path, "SLURM_JOB_ID": "7", "SLURM_MPI_TYPE": ""}, log

    return write


READ_ONLY = """\
for each in /tmp /var/tmp; do
  mount --bind $each $each && mount -o remount,bind,ro $each || exit
done
cd /proc && exec "$0" "$@"
"""


@pytest.fixture(scope="session")
def read_only() -> list[str]:
    """What to put before a command to let it find no folder for temporary files."""
    words = ["unshare", "--mount", "sh", "-c", READ_ONLY]
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"no mount namespaces here: {error}")
    return words


@pytest.fixture
def job(request) -> Job:
    option = request.config.getoption
    return Job(option("host_alone"), option("sanitized"))
