# SPDX-License-Identifier: BSD-3-Clause
"""The command `oriel` as a user calls it: what it finds out by itself, and that its errors are
sentences which say what to do (G1, G7)."""

from __future__ import annotations

import contextlib
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
from conftest import LIMIT_SECONDS, NO_SLEEP, REPOSITORY, all_hosts, folder_of, oriel
from oriel import __version__
from oriel.cli import commands
from oriel.hosts.host import find_hosts
from oriel.hosts.job import end
from plan import NATIVE, STANDARD
from support.records import write_late_posts


@pytest.mark.hosts(*NATIVE, *STANDARD)
def test_run_finds_the_mpi_of_the_program(host):
    program = folder_of(host) / "fence"
    # MPICH and Intel MPI share a soname; both are named where that is all there is to go by.
    named = [] if host.name in ("mpich", "openmpi", "mpich-abi") else ["--mpi", host.name]
    ended = oriel("run", "-n", 2, "--info", *named, program)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "ok: " in ended.stdout
    assert "mapped" in ended.stdout + ended.stderr, "ORIEL_INFO tells the path of each peer"


def test_info_tells_of_memory_served_by_messages(host):
    program = folder_of(host) / "window_kinds"
    ended = oriel("run", "-n", 2, "--mpi", host.name, "--info", program, ORIEL_VM="0")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "by messages" in ended.stdout + ended.stderr


@pytest.mark.hosts(*NATIVE)
def test_a_program_with_an_equals_sign_in_its_path(host, tmp_path):
    """env would take it for a variable."""
    program = tmp_path / "n=4" / "fence"
    program.parent.mkdir()
    program.symlink_to(folder_of(host) / "fence")
    ended = oriel("run", "-n", 2, "--mpi", host.name, "--info", program)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "ok: " in ended.stdout and "mapped" in ended.stdout + ended.stderr
    assert "counts of 2 processes" in ended.stderr


@pytest.mark.parametrize(
    ("named", "builds"), [("mpich", "openmpi"), ("openmpi", "mpich"), ("mpich-abi", "mpich")]
)
def test_an_mpi_that_is_not_the_programs(named, builds):
    """With it the ranks would crash."""
    hosts = all_hosts()
    if {named, builds} - hosts.keys():
        pytest.skip("the MPIs are not here")
    program = folder_of(hosts[builds]) / "fence"
    ended = oriel("run", "-n", 2, "--mpi", named, program)
    assert ended.returncode == 1 and not ended.stdout
    for word in (f"{program} is linked with", f"--mpi {named} is for", "Leave out --mpi"):
        assert word in ended.stderr, ended.stderr


@pytest.mark.hosts("mpich")
def test_run_without_ldd(host):
    """The MPI of a program is not known; with --mpi it need not be."""
    program = folder_of(host) / "fence"
    ended = oriel("run", "-n", 2, program, PATH="/nonexistent")
    assert ended.returncode == 1
    assert "There is no ldd on PATH" in ended.stderr and "--mpi" in ended.stderr
    # mpiexec itself finds neither sh nor env there.
    ended = oriel("run", "-n", 2, "--mpi", host.name, program, PATH="/nonexistent")
    assert ended.returncode not in (0, 1) and "oriel run" not in ended.stderr, ended.stderr


@pytest.mark.hosts("mpich")
def test_run_without_a_temporary_folder(host, read_only):
    """The job runs; what its ranks would leave in the folder is not known."""
    program = folder_of(host) / "fence"
    ended = oriel("run", "-n", 2, "--info", program, before=read_only)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "ok: " in ended.stdout and "mapped" in ended.stderr
    assert "oriel run: No temporary folder can be made" in ended.stderr


def test_run_without_oriel(host):
    ended = oriel("run", "-n", 2, "--mpi", host.name, "--no-oriel", "--info", "/bin/echo", "here")
    assert ended.stdout.count("here") == 2, ended.stdout + ended.stderr


IGNORES_SIGCHLD = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.parametrize("name", ("SIGTERM", "SIGKILL"))
def test_a_signal_to_the_command_ends_the_job(host, name):
    """A batch system, `kill` and ipyparallel signal this process, not its launcher: the ranks end.
    If it is killed, the launcher's processes end, and with them the ranks of an MPI program."""
    words = ["run", "-n", "2", "--mpi", host.name, "sh", "-c", "echo $$ $PPID; exec sleep 60"]
    with subprocess.Popen(
        [sys.executable, "-m", "oriel", *words],
        env={**os.environ, **NO_SLEEP, "PYTHONPATH": str(REPOSITORY / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as command:
        lines = [command.stdout.readline().split() for _ in range(2)]
        ranks, parents = ([os.pidfd_open(int(each)) for each in column] for column in zip(*lines))
        try:
            command.send_signal(getattr(signal, name))
            assert command.wait(LIMIT_SECONDS) != 0
            for each in parents if name == "SIGKILL" else ranks:
                assert select.select([each], [], [], LIMIT_SECONDS / 4)[0], f"{name}: it goes on"
        finally:
            end(command)
            for each in ranks:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(each, signal.SIGKILL)
                os.close(each)


@pytest.mark.hosts("mpich")
def test_the_parent_ignores_the_end_of_children(host):
    ignoring = ["timeout", "60", sys.executable, "-c", IGNORES_SIGCHLD]
    words = ["run", "-n", 1, "--mpi", host.name, "--no-oriel", "sh", "-c", "exit 3"]
    assert oriel(*words, before=ignoring).returncode == 3


@pytest.mark.hosts("mpich")
def test_the_terminals_signal_is_not_passed_on(host, srun, tmp_path):
    """The launcher has it from the terminal itself; MPI's launchers leave their ranks at a second
    one."""
    signals = tmp_path / "signals"
    # Short sleeps: a shell that receives the signal just before it starts a program waits for its
    # end before it runs the trap.
    settings, _ = srun(
        f"trap 'echo INT | tee -a {signals}; left=0' INT; left=300; echo ready; "
        "while [ $left -gt 0 ]; do sleep 0.2; left=$((left - 1)); done; sleep 1"
    )
    words = ["run", "-n", "1", "--mpi", host.name, "--launcher", "srun", "--no-oriel", "true"]
    process, terminal = pty.fork()
    if process == 0:
        settings["PYTHONPATH"] = str(REPOSITORY / "python")
        os.execve(sys.executable, ["python", "-m", "oriel", *words], {**os.environ, **settings})
    shown = b""
    try:
        while select.select([terminal], [], [], LIMIT_SECONDS)[0]:
            shown += os.read(terminal, 4096)
            if shown.endswith(b"ready\r\n"):
                os.kill(process, signal.SIGSTOP)  # or the launcher might see one of two signals
                os.write(terminal, b"\x03")
            if b"INT\r\n" in shown:
                os.kill(process, signal.SIGCONT)
    except OSError:  # the command has ended
        pass
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)
    assert signals.read_text(encoding="utf-8") == "INT\n", shown.decode()


def printed(host, options: list, *words, mpi=True) -> list[str]:
    """What two ranks print that run these words behind options of `oriel run`."""
    named = ["--mpi", host.name] if mpi else []
    ended = oriel("run", "-n", 2, *named, "--no-oriel", *options, *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.split()


def test_options_of_the_launcher(host, tmp_path):
    """Variables and host files, in each launcher's words, and options that replace ours."""
    hosts = tmp_path / "hosts"
    if host.name == "openmpi":
        hosts.write_text("localhost slots=2\n", encoding="utf-8")
        options = ["--hostfile", hosts, "--map-by", "slot:OVERSUBSCRIBE", "-x", "ONE=1"]
    else:
        hosts.write_text("localhost:2\n", encoding="utf-8")
        options = ["-f", hosts, "-genv", "ONE", "1"]
    shell = ["sh", "-c", 'echo "$ONE" $#', "sh", "--", "-x"]
    assert printed(host, ["--", *options, "--"], *shell) == ["1", "2"] * 2


@pytest.mark.hosts("openmpi")
@pytest.mark.parametrize(
    "option",
    [
        "--cpu-set CORE",
        "-cpu-list CORE",
        "--bind-to-core",
        "--bind-to core",
        "--map-by slot:PE=1",
        "--nooversubscribe",
        "--rankfile FILE",
    ],
)
def test_options_of_openmpi_that_ours_would_contradict(host, option, tmp_path):
    """Open MPI refuses --cpu-set beside --bind-to none, and ignores the cores of a rank file."""
    core = str(min(os.sched_getaffinity(0)))
    ranks = tmp_path / "ranks"
    ranks.write_text("rank 0=localhost slot=0\n", encoding="utf-8")
    options = option.replace("CORE", core).replace("FILE", str(ranks)).split()
    shows_cores = [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"]
    words = ["run", "-n", 1, "--mpi", host.name, "--no-oriel", "--", *options, "--"]
    ended = oriel(*words, *shows_cores)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    if option in ("--bind-to core", "--map-by slot:PE=1", "--rankfile FILE"):
        assert len(ended.stdout.split()) == 1, f"not bound to one core: {ended.stdout}"


@pytest.mark.hosts("mpich")
def test_dashes_that_are_no_options_of_the_launcher(host):
    """Nothing changes where no option stands behind the first `--`."""
    assert printed(host, [], "basename", "--", "-x") == ["-x", "-x"]
    shell = ["sh", "-c", "echo $#", "sh"]
    assert printed(host, [], *shell, "--", "-x", "--") == ["3", "3"]
    assert printed(host, ["--"], *shell, "--", "-x", "--") == ["3", "3"]
    assert printed(host, ["--", "--"], *shell, "--", "-x", "--") == ["3", "3"]


@pytest.mark.hosts("mpich", "openmpi")
def test_srun(host, srun):
    alone = "--map-by :OVERSUBSCRIBE --bind-to none" if host.name == "openmpi" else ""
    settings, log = srun(f'exec {host.mpiexec} {alone} -n "$n" "$@"')
    words = ["run", "-n", 2, "--mpi", host.name, "--launcher", "srun", "--info"]
    program = folder_of(host) / "fence"
    ended = oriel(*words, "--", "--ntasks-per-node=2", "--", program, **settings)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "ok: " in ended.stdout and "mapped" in ended.stderr
    plugin = "pmix" if host.name == "openmpi" else "pmi2"
    called = log.read_text(encoding="utf-8")
    assert called.startswith(f"--mpi={plugin} --ntasks-per-node=2 -n 2 sh -c ")
    assert f"LD_PRELOAD={host.library}" in called
    # An allocation alone changes nothing; Slurm's own setting and the user's option come first.
    assert oriel(*words[:5], "--no-oriel", "true", **settings).returncode == 0
    for options, more in (([], {"SLURM_MPI_TYPE": "own"}), (["--", "--mpi=own", "--"], {})):
        ended = oriel(*words, "--no-oriel", *options, "true", **{**settings, **more})
        assert ended.returncode == 0, ended.stdout + ended.stderr
    calls = log.read_text(encoding="utf-8").splitlines()
    assert [line.partition("-n 2 ")[0] for line in calls[1:]] == ["", "--mpi=own "]


@pytest.mark.hosts("mpich")
def test_the_status_of_a_launcher_that_a_signal_ends(host, srun):
    """As shells give it: 128 and the signal."""
    settings, _ = srun("kill -KILL $$")
    words = ["run", "-n", 1, "--mpi", host.name, "--launcher", "srun", "--no-oriel", "true"]
    assert oriel(*words, **settings).returncode == 128 + signal.SIGKILL


CRAY = "MPI VERSION    : CRAY MPICH version 8.1.29.8 (ANL base 3.4a2)"
# name of the kind, soname, what it says, and an older version
LIBRARY_VERSION = {
    "mpich": ("mpich", "libmpi.so.12", "MPICH Version:      5.0.2", "MPICH 3.1.4"),
    "cray": ("mpich", "libmpi_gnu_123.so.12", CRAY, ""),
    "openmpi": ("openmpi", "libmpi.so.40", "Open MPI v5.0.11, package: Open MPI", "Open MPI 3.1.3"),
    "intel": ("intel", "libmpi.so.12", "Intel(R) MPI Library 2021.18 for Linux* OS", ""),
}


@pytest.mark.parametrize("which", LIBRARY_VERSION)
def test_an_mpi_without_mpiexec(which, srun, tmp_path):
    """In an allocation srun starts its programs; elsewhere a sentence says that mpiexec is
    missing, and an MPI that is too old is refused as always."""
    name, soname, banner, old = LIBRARY_VERSION[which]
    settings, log = srun('for i in $(seq "$n"); do "$@" || exit; done')
    settings["ORIEL_MPI_ROOT"] = str(tmp_path / "none")
    folder = tmp_path / "mpi" / ("lib64" if name == "openmpi" else "lib")
    folder.mkdir(parents=True)
    program = tmp_path / "program"

    def build(says: str) -> None:
        library = "#include <string.h>\nint MPI_Get_library_version(char* text, int* length) {"
        library += f' *length = strlen(strcpy(text, "{says}")); return 0; }}'
        main = "#include <stdio.h>\nint MPI_Get_library_version(char*, int*);"
        main += "int main(void) { char s[99]; int n; return MPI_Get_library_version(s, &n) || "
        main += 'puts("here") < 0; }'
        shared = ["-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", str(folder / soname)]
        linked = [str(folder / soname), f"-Wl,-rpath,{folder}", "-o", str(program)]
        for source, words in ((library, shared), (main, linked)):
            (tmp_path / "source.c").write_text(source, encoding="utf-8")
            words = ["cc", "source.c", *words]
            subprocess.run(words, cwd=tmp_path, timeout=60, check=True)

    build(banner)
    tools = {"PATH": f"{tmp_path / 'bin'}:{tmp_path / 'tools'}"}
    (tmp_path / "tools").mkdir()
    for tool in ("ldd", "sh", "env", "seq", "cat", "cc"):
        (tmp_path / "tools" / tool).symlink_to(shutil.which(tool))
    ended = oriel("run", "-n", 2, "--no-oriel", program, **{**settings, **tools})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.split() == ["here", "here"]
    plugin = "pmix" if name == "openmpi" else "pmi2"
    assert log.read_text(encoding="utf-8") == f"--mpi={plugin} -n 2 {program}\n"
    # By its name: its library is on a path of libraries, or below a folder of a module's.
    named = {**settings, **tools, "LD_LIBRARY_PATH": str(folder)}
    ended = oriel("run", "-n", 2, "--mpi", name, "--no-oriel", program, **named)
    assert ended.stdout.split() == ["here", "here"], ended.stderr
    ended = oriel("env", "--mpi", name, **{**settings, **tools, "MPI_HOME": str(folder.parent)})
    assert ended.stdout.endswith(f"LD_LIBRARY_PATH={folder}\n"), ended.stderr
    ended = oriel("run", "-n", 2, program, **{**settings, **tools, "SLURM_JOB_ID": ""})
    assert ended.returncode == 1 and "--launcher srun" in ended.stderr
    if old:
        title, _, version = old.rpartition(" ")
        build(
            f"{title}{' Version:' if title == 'MPICH' else ''} {'v' * (title != 'MPICH')}{version}"
        )
        ended = oriel("run", "-n", 2, program, **{**settings, **tools})
        assert ended.returncode == 1 and f"does not support {old}" in ended.stderr


def variables(host) -> list[str]:
    ended = oriel("env", "--mpi", host.name, LD_LIBRARY_PATH="")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


@pytest.mark.hosts(*NATIVE, *STANDARD)
def test_env_names_the_library(host):
    words = variables(host)
    assert words[0] == f"LD_PRELOAD={host.library}"
    if host.prefix != Path("/usr"):
        assert words[1:] == [f"LD_LIBRARY_PATH={host.prefix / 'lib'}"]


# Python loads MPI by its path, and for itself alone.
SCRIPT = """
import ctypes, os, sys
mpi = ctypes.CDLL(sys.argv[1], os.RTLD_LOCAL | os.RTLD_NOW)
assert mpi.MPI_Init(None, None) == 0
major, minor, patch = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
oriel = ctypes.CDLL(None)
assert oriel.ORIEL_Get_version(*map(ctypes.byref, (major, minor, patch))) == 0
with open("/proc/self/maps") as maps:
    names = {line.split()[-1] for line in maps if "/libmpi" in line}
files = sorted({name for name in names if os.path.basename(name).startswith(sys.argv[2] + ".so")})
assert len(files) == 1 and os.path.samefile(files[0], sys.argv[1]), files
assert mpi.MPI_Finalize() == 0
print("ok: one", files[0])
"""


LIBRARY = """
#include <mpi.h>
#include <stdio.h>

int over(void) {
  int* base;
  MPI_Win win;
  MPI_Init(NULL, NULL);
  MPI_Win_allocate(4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return puts("ok: one") < 0;
}
"""


def program_over_a_library(host, folder: Path) -> Path:
    """Knows no MPI; its library does."""
    (folder / "over.c").write_text(LIBRARY, encoding="utf-8")
    (folder / "main.c").write_text("int over(void); int main(void) { return over(); }\n")
    _, environ = host.command(2, [])
    shared = ["-fPIC", "-shared", "-o", "libover.so"]
    alone = [f"-Wl,-rpath,{folder},--unresolved-symbols=ignore-in-shared-libs", "-o", "main"]
    for words in (
        [host.prefix / "bin" / "mpicc", "over.c", *shared],
        ["cc", "main.c", "-L.", "-lover", *alone],
    ):
        subprocess.run(words, cwd=folder, env=environ, timeout=60, check=True)
    return folder / "main"


@pytest.mark.parametrize("rank", ["shell", "python", "over a library"])
def test_env_with_a_rank_that_lists_no_mpi(host, rank, tmp_path):
    """A shell, Python, or a program over another library: they are no MPI programs to the loader,
    which must find the MPI that our library needs, and no second one."""
    name = "libmpi"
    # Named by its soname, as a program would have it.
    found = sorted((host.prefix / "lib").glob(f"{name}.so.*"), key=lambda path: len(path.name))
    script = [sys.executable, "-c", SCRIPT, str(found[0]), name]
    command = {
        "shell": lambda: ["sh", "-c", '"$@"; exit $?', "sh", *script],
        "python": lambda: script,
        "over a library": lambda: [str(program_over_a_library(host, tmp_path))],
    }[rank]()
    # What the launcher itself needs is not what its ranks get.
    ranks = ["env", "-u", "LD_LIBRARY_PATH", *variables(host), *command]
    argv, environ = host.command(2, ranks, preload=False)
    ended = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("ok: one") == 2, ended.stdout + ended.stderr


def test_info_lists_hosts_paths_and_settings():
    ended = oriel("info")
    assert ended.returncode == 0, ended.stderr
    for word in (f"oriel {__version__}", "MPIs", "ORIEL_VM", "ORIEL_SPIN", "default"):
        assert word in ended.stdout
    hosts = find_hosts()
    for host in hosts:
        assert f"\n  {host.name:<11}{host.version}, {host.mpiexec}\n" in ended.stdout
    networks = re.findall("between nodes: .+ of libfabric [0-9.]+ [(]/", ended.stdout)
    mapped = "MPI_Win_allocate, from every rank: ranks 0 to 1 mapped\n"
    assert len(networks) == ended.stdout.count(mapped) == len(hosts), ended.stdout


def test_info_tells_the_way_between_nodes(host, three_nodes):
    ended = oriel("info", "--mpi", host.name, "--hosts", 2, "-n", 4)
    assert ended.returncode == 0, ended.stderr
    told = re.search("MPI_Win_allocate, from rank 3 [(]node1[)]: (.*)", ended.stdout)
    assert told, ended.stdout
    assert re.fullmatch("ranks 0 to 1 over [a-z;_]+, ranks 2 to 3 mapped", told.group(1))


def test_the_library_calls_the_host(host):
    """It has none of the host's functions from the linker. It calls neither name of an MPI call
    that it exports itself, and of its own calls only those that Fortran's are made of, by the name
    that tools wrap. Which names there are test_exports.py tells."""
    words = ["nm", "-D", "--defined-only", host.library]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    words = ["readelf", "--relocs", "--wide", host.library]
    relocations = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "ORIEL_Win_ifence" in relocations
    called = set(re.findall(r"\b(?:P?(?:MPI[XR]?|ORIEL)|ompi)_\w+", relocations))
    assert called <= names
    # Tools do not wrap conversions of handles by this name.
    called -= {"PMPI_Win_c2f", "PMPI_Win_f2c"}
    assert not {name for name in called if f"{name}_f08" not in names}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["walk"], "There is no command walk."),
        (["run", "-n", "2", "./no-such-program"], "neither an executable file nor on PATH"),
        (["run", "-n", "0", "/bin/true"], "the number of ranks is at least 1"),
        (["run", "-n", "2", "--hosts", "0", "/bin/true"], "the number of nodes is at least 1"),
        (["run", "-n", "2", "/bin/true"], "is linked with no MPI"),
        (["run", "-n", "2", "--", "-x", "A=1", "/bin/true"], "end with a second `--`"),
        (["run", "-n", "2", "--", "-x", "A=1", "--"], "There is no program behind `--`."),
        (["run", "-n", "2", "--launcher", "srun", "--hosts", "2"], "are required: PROGRAM"),
        (["run", "-n", "2", "--mpi", "lam", "/bin/true"], "--mpi: invalid choice: 'lam'"),
        (["env", "--mpi", "openmpi-foo"], "--mpi: invalid choice: 'openmpi-foo'"),
        (["doctor", "--mpi", "mpich-abi"], "--mpi: invalid choice: 'mpich-abi'"),
        (["demo", "--mpi", "mpich,lam"], "--mpi: invalid choice: 'mpich,lam'"),
        (["demo", "--iterations", "0"], "takes a number above 0"),
    ],
)
def test_errors_are_sentences(words, sentence, capsys):
    try:
        status = commands.main(words)
    except SystemExit as ended:
        status = ended.code
    assert status in (1, 2)
    assert sentence in " ".join(capsys.readouterr().err.split())


# argparse prints the first two and ends; the others print lines, text of a program and JSON.
PRINTING = (
    ["--version"],
    ["run", "--help"],
    ["report", "RECORD"],
    ["info", "--mpi", "mpich"],
    ["doctor", "--mpi", "mpich", "--json"],
)


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_full_output_is_reported(words, tmp_path):
    write_late_posts(tmp_path, 1, 1)
    words = [word.replace("RECORD", str(tmp_path)) for word in words]
    full = ["sh", "-c", 'exec "$0" "$@" >/dev/full']
    ended = oriel(*words, before=full)
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr == (
        "oriel: Standard output cannot be written (No space left on device). Free space there, or "
        "redirect the output to another place.\n"
    )


def test_a_full_error_output_changes_no_status():
    full = ["sh", "-c", 'exec "$0" "$@" 2>/dev/full']
    assert oriel("walk", before=full).returncode == 2
    assert oriel("report", "/nowhere", before=full).returncode == 1


@pytest.mark.hosts("mpich")
def test_closed_descriptors_receive_nothing(host):
    """No sentence comes to the wrong place, and a job runs."""
    closed = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-']
    ended = oriel("walk", before=closed)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", "")
    ended = oriel("walk", before=["sh", "-c", 'exec "$0" "$@" 2>&-'])
    assert (ended.returncode, ended.stdout) == (2, "")
    ended = oriel("doctor", "--mpi", host.name, before=["sh", "-c", 'exec "$0" "$@" >&-'])
    assert (ended.returncode, ended.stderr) == (0, "")
    run = ["run", "-n", 2, "--mpi", host.name, folder_of(host) / "fence"]
    assert oriel(*run, before=closed).returncode == 0


@pytest.mark.hosts("mpich")
def test_a_current_folder_that_has_been_removed(host, tmp_path):
    """A job runs there; a record, and results, have no place."""
    gone = tmp_path / "gone"
    within = ["sh", "-c", f'mkdir {gone} && cd {gone} && rmdir {gone} && exec "$0" "$@"']
    run = ["run", "-n", 1, "--mpi", host.name]
    ended = oriel(*run, "--no-oriel", "echo", "here", before=within)
    assert ended.stdout == "here\n", ended.stderr
    ended = oriel(*run, "--report", folder_of(host) / "fence", before=within)
    assert ended.returncode == 1 and not ended.stdout
    assert ended.stderr == (
        "oriel run: No folder for the record can be made in the current folder, which has been "
        "removed. Start the program in a folder that exists.\n"
    )
    ended = oriel("paper", "--redraw", before=within)
    assert ended.returncode == 1
    assert ended.stderr.startswith("oriel paper: build cannot be used (No such file"), ended.stderr


@pytest.mark.parametrize("name", ["demo", "paper", "bench"])
def test_help_needs_no_package(name):
    """-S leaves out the environment's packages. Without them the work itself ends in a sentence."""

    def call(*words) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-S", "-m", "oriel", name, *words],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python")},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    shown = call("--help")
    assert shown.returncode == 0 and not shown.stderr, shown.stderr
    ended = call(*(["micro"] if name == "bench" else []), "--quick")
    assert ended.returncode == 1
    assert "The Python package rich, which this needs, is not installed. Run `make`" in ended.stderr
