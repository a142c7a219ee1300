# SPDX-License-Identifier: BSD-3-Clause
"""`oriel doctor` finds what each machine lacks, says it in a sentence, and its exit status tells
whether something will not work (G1, G7)."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import LIMIT_SECONDS, REPOSITORY, SAME, folder_of
from oriel.doctor import (
    finding_table,
    installations,
    libfabric,
    path_test,
    permissions,
    resource_limits,
    self_test,
)
from oriel.doctor.finding import Finding, State
from oriel.hosts.host import find_host
from test_unsupported import OLD, compile_c, nothing_else, stand_in

# Runs a command in which the kernel refuses a system call, as seccomp profiles of containers do.
FORBID = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  unsigned error = atoi(argv[1]);
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atoi(argv[2]), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 99;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 99;
  execvp(argv[3], argv + 3);
  return 99;
}
"""
# Their numbers on x86-64.
PROCESS_VM_READV, MEMFD_CREATE = "310", "319"

SMALL = [shutil.which("unshare") or "unshare", "--mount", "/bin/sh", "-c"]
SMALL += ['PATH=/bin:/usr/bin:/sbin mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$0" "$@"']


def hide(files: list[Path], place: Path) -> list[str]:
    """What to put before a command that is not to find these files: their folders lie below a layer
    that says that they are deleted."""
    script = [f"mount -t tmpfs tmpfs {place}"]
    for number, folder in enumerate(sorted({file.parent for file in files})):
        upper, work = place / f"upper{number}", place / f"work{number}"
        script.append(f"mkdir {upper} {work}")
        script += [f"mknod {upper / file.name} c 0 0" for file in files if file.parent == folder]
        layers = f"lowerdir={folder},upperdir={upper},workdir={work}"
        script.append(f"mount -t overlay -o {layers} overlay {folder}")
    lines = "\n".join(["PATH=/bin:/usr/bin:/sbin:$PATH", *script, 'exec "$0" "$@"'])
    return [SMALL[0], "--mount", "/bin/sh", "-ec", lines]


@dataclasses.dataclass
class Answer:
    status: int
    findings: list[dict]

    def of(self, subject: str) -> dict:
        """The only finding with this subject."""
        (found,) = [row for row in self.findings if row["subject"] == subject]
        return found

    def failing(self) -> set[str]:
        return {row["subject"] for row in self.findings if row["state"] == "fails"}


# The command as it is, which examines a machine that is busy as thoroughly as a quiet one: only how
# long it takes is told by real clocks.
PATIENT = f"""
import sys
from oriel.__main__ import main
from oriel.doctor import libfabric, self_test
self_test.LIMIT_S = libfabric._LIMIT_S = {LIMIT_SECONDS}
sys.exit(main())
"""


def call(
    *words, before=(), options=(), stderr=subprocess.PIPE, **settings
) -> subprocess.CompletedProcess:
    """The command behind the words `before`, by a Python with these options."""
    environment = {**os.environ, **SAME, "PYTHONPATH": str(REPOSITORY / "python"), **settings}
    argv = [*before, sys.executable, *options, "-c", PATIENT, "doctor", *words]
    return subprocess.run(
        argv,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        timeout=3 * LIMIT_SECONDS,
        check=False,
    )


def examine(*words, **how) -> Answer:
    ended = call("--json", *words, **how)
    assert not ended.stderr
    output = json.loads(ended.stdout)
    answer = Answer(ended.returncode, output["findings"])
    assert output["works"] == (ended.returncode == 0) == (not answer.failing())
    for row in answer.findings:
        in_order = row["state"] in ("ok", "unknown")
        assert in_order == (not row["sentence"]) == (not row["advice"]), row
    return answer


@pytest.fixture
def forbid(tmp_path):
    """What to put before a command to refuse it a system call."""
    (tmp_path / "forbid.c").write_text(FORBID, encoding="utf-8")
    words = ["cc", "forbid.c", "-o", "forbid"]
    subprocess.run(words, cwd=tmp_path, timeout=60, check=True)
    return lambda call: [str(tmp_path / "forbid"), str(errno.EPERM), call]


@pytest.fixture(scope="module")
def small():
    """What to put before a command to give it a /dev/shm of 1 MB."""
    try:
        subprocess.run([*SMALL, "true"], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"no mount namespaces here: {error}")
    return SMALL


@pytest.mark.hosts("mpich")
def test_no_folder_for_temporary_files(host, read_only):
    """Jobs of MPICH do not need one, and neither do the tests of the doctor."""
    answer = examine("--mpi", host.name, before=read_only)
    assert answer.status == 0, answer.findings
    assert answer.of("one node")["state"] == "ok"
    assert " of libfabric " in answer.of("between nodes")["found"]


def test_a_machine_on_which_everything_works(host):
    answer = examine("--mpi", host.name)
    assert answer.status == 0, answer.findings
    assert answer.of("version")["about"] == f"{host.title} ({host.mpiexec})"
    assert answer.of("threads")["found"] == "up to MPI_THREAD_MULTIPLE"
    assert " of libfabric " in answer.of("between nodes")["found"]
    assert "libfabric" not in {row["subject"] for row in answer.findings}, "it is said once"
    paths = "data arrived; MPI_Win_allocate: mapped; MPI_Win_create: by process_vm_readv"
    assert answer.of("one node")["found"] == paths
    across = answer.of("two nodes")
    if across["state"] == "unknown":
        assert across["found"].startswith("not tested: ")
    else:
        assert re.fullmatch("data arrived; over [a-z;_]+", across["found"])


@pytest.mark.hosts("mpich")
def test_it_takes_no_package_and_shows_progress(host):
    """The table is on standard output; progress only where standard error is a terminal."""
    ours, theirs = pty.openpty()
    ended = call("--mpi", host.name, options=["-S"], stderr=theirs)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert ended.returncode == 0, ended.stdout
    assert "This machine\n" in ended.stdout and f"\n{host.title} (" in ended.stdout
    assert ended.stdout.splitlines()[-1] in (
        "Everything works.",
        "Nothing is wrong in what was tested. 1 of 2 tests were not run; the table says why.",
    )
    assert f"examining {host.title}, one node" in shown
    assert shown.endswith("\r\x1b[K")


@pytest.mark.hosts("mpich")
def test_process_vm_is_forbidden(host, forbid):
    answer = examine("--mpi", host.name, before=forbid(PROCESS_VM_READV))
    assert answer.status == 0, answer.findings
    found = answer.of("process_vm_readv")
    assert found["state"] == "limited"
    assert found["found"].startswith("forbidden (Operation not permitted)")
    assert "reached by messages" in found["sentence"]
    assert answer.of("one node")["found"].endswith("MPI_Win_create: by messages")


@pytest.mark.hosts("mpich", "intel")
def test_little_shared_memory(host, small):
    """Oriel's windows do not need it, but MPICH's messages on one node do, and those of Intel MPI
    on some machines."""
    words = [*small, host.mpiexec, "-n", "2", folder_of(host) / "fence"]
    settings = {**os.environ, "ORIEL_TEST_HOST_ONLY": "1"}
    alone = subprocess.run(words, env=settings, capture_output=True, timeout=LIMIT_SECONDS)
    fails = alone.returncode != 0
    assert fails or host.name == "intel", alone.stdout.decode()
    answer = examine("--mpi", host.name, before=small)
    assert answer.status == (1 if fails else 0), answer.findings
    found = answer.of("/dev/shm")
    assert found["state"] == "limited"
    assert found["found"].startswith("1.0 MB, of which ")
    assert "size=1g" in found["advice"]
    one_node = answer.of("one node")
    assert one_node["state"] == ("fails" if fails else "ok")
    assert ("fails without Oriel" in one_node["advice"]) == fails


def test_little_shared_memory_and_no_memfd(small, forbid, tmp_path):
    answer = examine(before=[*small, *forbid(MEMFD_CREATE)], **nothing_else(tmp_path))
    assert answer.of("memfd_create")["state"] == "limited"
    found = answer.of("/dev/shm")
    assert found["state"] == "fails"
    assert "MPI_ERR_NO_MEM" in found["sentence"]


def without_libfabric(host, place: Path) -> list[str]:
    """What to put before a command to take away the libfabric of this MPI and the system's."""
    listed = subprocess.run(
        ["ldconfig", "-p"], capture_output=True, text=True, check=True, timeout=30
    )
    system = re.findall(r"=> (.*/libfabric\.so\.1)$", listed.stdout, re.M)
    beside = libfabric.candidates(host.prefix, host.library)[:-1]
    folders = {Path(file).resolve().parent for file in (*system, *beside)}
    before = hide([file for each in folders for file in each.glob("libfabric*")], place)
    try:
        subprocess.run([*before, "true"], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"no overlays of folders here: {error}")
    return before


@pytest.mark.hosts("intel")
def test_a_machine_without_libfabric(host, tmp_path):
    """This MPI looks for it when it starts, and serves one node without it."""
    answer = examine("--mpi", host.name, before=without_libfabric(host, tmp_path))
    assert answer.status == 1
    assert answer.of("libfabric")["found"] == "not found"
    assert "several nodes fail; windows on one node" in answer.of("libfabric")["sentence"]
    assert answer.of("one node")["state"] == "ok"
    assert "libfabric.so.1: cannot open" in answer.of("between nodes")["sentence"]
    assert answer.failing() <= {"libfabric", "between nodes", "two nodes"}


@pytest.mark.hosts("mpich")
def test_an_mpi_that_does_not_start_without_libfabric(host, tmp_path):
    answer = examine("--mpi", host.name, before=without_libfabric(host, tmp_path))
    assert answer.status == 1
    assert f"Programs of {host.title} do not start" in answer.of("libfabric")["sentence"]
    assert "libfabric1" in answer.of("libfabric")["advice"]
    assert "fails without Oriel" in answer.of("one node")["advice"]


def test_libfabric_of_the_run_path(tmp_path):
    """Spack's recipe has the library look there; before the system's."""
    (tmp_path / "libfabric.so.1").touch()
    library = tmp_path / "liboriel_mpich.so"
    source = '#include <stdio.h>\nint call(void) { return puts(""); }'
    compile_c(tmp_path, source, "-shared", "-fPIC", f"-Wl,-rpath,{tmp_path}", "-o", library)
    found = libfabric.candidates(tmp_path / "mpi", library)
    assert found == [str(tmp_path / "libfabric.so.1"), "libfabric.so.1"]


@pytest.mark.hosts("mpich")
def test_libfabric_is_named_and_missing(host, tmp_path):
    answer = examine("--mpi", host.name, ORIEL_OFI_LIBRARY=str(tmp_path / "none.so"))
    assert answer.status == 1
    found = answer.of("libfabric")
    assert (found["found"], found["state"]) == ("not found", "fails")
    assert "several nodes" in found["sentence"] and "ORIEL_OFI_LIBRARY" in found["advice"]
    assert answer.of("one node")["state"] == "ok"
    assert "was not found" in answer.of("between nodes")["sentence"]
    assert answer.failing() <= {"libfabric", "between nodes", "two nodes"}


@pytest.mark.parametrize(
    ("source", "sentence", "advice"),
    [
        (None, "ran without Oriel", ""),
        (
            "#include <stdlib.h>\n__attribute__((constructor)) void end(void) { _Exit(3); }",
            "failed: it ended with status 3",
            "The same job works without Oriel",
        ),
        ("int MPI_Put(void) { return 0; }", "other bytes arrived than were sent", ""),
    ],
    ids=["not loaded", "fails", "wrong data"],
)
@pytest.mark.hosts("mpich")
def test_a_library_that_is_damaged(host, source, sentence, advice, tmp_path):
    """The MPI works, Oriel's library does not."""
    broken = tmp_path / "liboriel_mpich.so"
    broken.write_bytes(b"")
    if source:
        compile_c(tmp_path, source, "-shared", "-fPIC", "-o", broken)
    findings = self_test.SelfTest(lambda text: None).run(
        [dataclasses.replace(host, library=broken)], None, "no root"
    )
    assert findings[0].state == "fails"
    assert sentence in findings[0].sentence
    assert advice in findings[0].advice


@pytest.mark.hosts("mpich")
def test_ranks_that_are_no_job(host, srun):
    """As srun starts them with another MPI's plugin."""
    settings, _ = srun('for i in $(seq "$n"); do "$@" || exit; done')
    answer = examine("--mpi", host.name, "--launcher", "srun", **settings)
    assert answer.status == 1
    assert "its ranks are no job: each one runs alone" in answer.of("one node")["sentence"]


@pytest.mark.hosts("mpich")
def test_it_is_ended_from_outside(host, srun, tmp_path):
    """With it ends the job that it has started."""
    told = tmp_path / "told"
    os.mkfifo(told)
    settings, _ = srun(f"echo $$ >{told}; exec sleep 60")
    words = [sys.executable, "-c", PATIENT, "doctor", "--mpi", host.name, "--launcher", "srun"]
    settings["PYTHONPATH"] = str(REPOSITORY / "python")
    command = subprocess.Popen(words, env={**os.environ, **settings}, stdout=subprocess.DEVNULL)
    reading = os.open(told, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert select.select([reading], [], [], LIMIT_SECONDS)[0]
        launcher = os.pidfd_open(int(os.read(reading, 64)))
        command.terminate()
        assert command.wait(LIMIT_SECONDS) == 128 + signal.SIGTERM
        assert select.select([launcher], [], [], LIMIT_SECONDS / 4)[0], "the job goes on"
    finally:
        command.kill()
        os.close(reading)


@pytest.mark.hosts("mpich")
def test_ranks_of_one_node_that_do_not_map(host, monkeypatch):
    """As in containers with a /proc each."""
    windows = {
        kind: {"path": "ranks 0 to 1 over tcp", "arrived": True} for kind in path_test.WINDOWS
    }
    row = {"windows": windows, "threads": "multiple", "network": ""}
    monkeypatch.setattr(path_test, "run", lambda *how, **more: ([row] * 2, ""))
    found = self_test.SelfTest(lambda text: None).run([host], None, "no root")[0]
    assert found.state == "limited" and "do not map each other's memory" in found.sentence
    assert "MPI_Win_allocate: over tcp" in found.found


@pytest.mark.parametrize(("scope", "advice"), [("2\n", "sysctl"), ("1\n", "container")])
def test_what_forbids_process_vm(scope, advice, tmp_path, monkeypatch):
    """Yama from 2 on; with less it is something else, because Oriel permits its peers to read."""
    (tmp_path / "ptrace_scope").write_text(scope, encoding="ascii")
    monkeypatch.setattr(permissions, "_YAMA", tmp_path / "ptrace_scope")
    monkeypatch.setattr(permissions, "_read_error", lambda: errno.EPERM)
    (found, *_) = permissions.examine()
    assert f"ptrace_scope is {scope.strip()}" in found.found
    assert advice in found.advice


@pytest.mark.parametrize("devices", [[], ["mlx5_0"]])
def test_little_locked_memory(devices, tmp_path, monkeypatch):
    for device in devices:
        (tmp_path / device).mkdir()
    monkeypatch.setattr(resource_limits, "_RDMA_DEVICES", tmp_path)
    monkeypatch.setattr(resource_limits, "_soft", lambda limit: 1 << 20)
    (found,) = [each for each in resource_limits.examine() if each.subject == "locked memory"]
    assert found.state == ("limited" if devices else "ok")
    assert found.found.startswith("1.0 MB")


@pytest.mark.parametrize(
    ("code", "limit_s", "state", "words"),
    [
        ("for (;;) sleep(1);", 1, "limited", "does not list its providers within 1 s"),
        ("abort();", 60, "limited", "ended the process that queried its providers (-6)"),
        ("return 1;", 60, "fails", "1.21, {library}: no providers"),
    ],
)
@pytest.mark.hosts("mpich")
def test_a_libfabric_that_is_damaged(host, code, limit_s, state, words, tmp_path, monkeypatch):
    library = tmp_path / "libfabric.so.1"
    source = "#include <stdlib.h>\n#include <unistd.h>\n"
    source += "unsigned fi_version(void) { return 1 << 16 | 21; }"
    source += f"int fi_getinfo() {{ {code} }}"
    compile_c(tmp_path, source, "-shared", "-fPIC", "-o", library)
    monkeypatch.setenv("ORIEL_OFI_LIBRARY", str(library))
    monkeypatch.setattr(libfabric, "_LIMIT_S", limit_s)
    found = {each.subject: each for each in installations.examine_host(host)}["libfabric"]
    assert found.state == state
    assert words.format(library=library) in found.found


def source(path: str) -> str:
    return (REPOSITORY / "src/transport/ofi" / path).read_text(encoding="utf-8")


def test_the_library_looks_in_the_same_folders():
    listed = re.search(r"const char\* below : \{(.*)\}", source("libfabric.cpp"))
    assert tuple(re.findall('"(.*?)"', listed.group(1))) == libfabric._FOLDERS


@pytest.mark.hosts("mpich")
def test_a_library_that_was_built_for_one_node(host):
    text = "".join(re.findall('"(.*?)"', source("no_network.cpp")))
    assert "this build of Oriel has no network" in text
    found = self_test._network(host, text)
    assert (found.found, found.state) == ("built without libfabric's headers", "fails")
    assert "libfabric-dev" in found.advice


def test_tests_that_were_not_run_are_counted():
    """Whether or not something else is limited."""
    subjects = {"one node": State.OK, "two nodes": State.UNKNOWN}
    findings = [Finding("MPICH", subject, "", state) for subject, state in subjects.items()]
    last = "1 of 2 tests were not run; the table says why."
    shown = finding_table.text(findings, 80).splitlines()[-1]
    assert shown == f"Nothing is wrong in what was tested. {last}"
    findings.append(Finding("MPICH", "file size", "", State.LIMITED, "Small.", "Enlarge it."))
    assert finding_table.text(findings, 80).splitlines()[-1] == last


def test_low_limits(tmp_path):
    script = 'ulimit -n 256; ulimit -f 2000000; ulimit -v 30000000; exec "$0" "$@"'
    answer = examine(before=["/bin/sh", "-c", script], **nothing_else(tmp_path))
    for subject, advice in (
        ("open files", "ulimit -n 1024"),
        ("file size", "ulimit -f unlimited"),
        ("address space", "ulimit -v unlimited"),
    ):
        assert answer.of(subject)["state"] == "limited"
        assert advice in answer.of(subject)["advice"]


def test_an_unknown_mpi(tmp_path):
    (tmp_path / "bin").mkdir()
    launcher = tmp_path / "bin" / "mpiexec"
    launcher.write_text("#!/bin/sh\necho LAM 7.1.4\n", encoding="utf-8")
    launcher.chmod(0o755)
    answer = examine(**nothing_else(tmp_path))
    assert answer.status == 1
    found = answer.of("version")
    assert (found["about"], found["found"]) == (str(launcher), "not known")
    assert "names neither MPICH, Open MPI nor Intel MPI" in found["sentence"]
    assert answer.of("MPIs")["found"] == "none that is supported"


def test_old_mpis(tmp_path):
    for name in OLD:
        stand_in(tmp_path, name)
    answer = examine(**nothing_else(tmp_path))
    assert answer.status == 1
    refused = [row["sentence"] for row in answer.findings if row["subject"] == "version"]
    assert sorted(refused) == [
        f"Oriel does not support {title}." for title in sorted(row[3] for row in OLD.values())
    ]


@pytest.mark.hosts("mpich")
def test_an_mpi_without_mpiexec(host, tmp_path):
    """srun starts the ranks, here a script in its place."""
    for folder in ("bin", "mpi"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mpi" / "lib").symlink_to(host.prefix / "lib")
    for tool in ("env", "sh"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    srun = tmp_path / "bin" / "srun"
    srun.write_text(f'#!/bin/sh\nshift\nexec {host.mpiexec} "$@"\n', encoding="utf-8")
    srun.chmod(0o755)
    settings = {**nothing_else(tmp_path), "MPI_HOME": str(tmp_path / "mpi"), "SLURM_JOB_ID": ""}
    answer = examine("--launcher", "srun", **settings)
    assert answer.of("one node")["about"] == f"{host.title} ({tmp_path / 'mpi'}, without mpiexec)"
    assert answer.of("one node")["state"] == "ok"
    assert answer.of("two nodes")["state"] == "unknown"
    answer = examine(**settings)
    assert answer.of("one node")["state"] == "unknown"
    assert "has no mpiexec" in answer.of("one node")["found"]


def test_no_mpi(tmp_path):
    ended = call(**nothing_else(tmp_path))
    assert ended.returncode == 1
    assert "Will not work\n  - MPIs, this machine: Without an MPI no program" in ended.stdout


@pytest.mark.hosts("mpich")
def test_a_library_that_is_not_built(host, tmp_path):
    # The build tree without its libraries.
    (tmp_path / "bin").mkdir()
    answer = examine(
        "--mpi", host.name, ORIEL_PREFIX=str(tmp_path), ORIEL_MPI_ROOT=str(host.prefix.parent)
    )
    assert answer.status == 1
    assert answer.of("Oriel for it")["state"] == "fails"
    assert "Build Oriel with this MPI: `make`" in answer.of("Oriel for it")["advice"]
    assert answer.of("for the MPI-5 ABI")["state"] == "limited"


@pytest.mark.hosts("mpich")
def test_a_job_that_hangs_ends(host, tmp_path, monkeypatch):
    """The self-test takes no longer than its limit, and what it did not come to is unknown."""
    mpiexec = tmp_path / "mpiexec"
    mpiexec.write_text("#!/bin/sh\nsleep 60\n", encoding="utf-8")
    mpiexec.chmod(0o755)
    monkeypatch.setattr(self_test, "LIMIT_S", 1.5)
    monkeypatch.setattr(self_test, "_ENOUGH_S", 1.0)
    hanging = dataclasses.replace(find_host(host.name), mpiexec=Path(mpiexec))
    findings = self_test.SelfTest(lambda text: None).run([hanging, host], None, "no root")
    first, second, *nodes = findings
    assert first.state == "fails" and "did not end within" in first.sentence
    assert second.state == "unknown" and "were over" in second.found
    assert {finding.found for finding in nodes} == {"not tested: no root"}
