# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries of this machine, and how each of them starts a program.

for host in find_hosts():
    argv, environment = host.command(4, ["./stencil", "100"], preload=True)
    subprocess.run(argv, env=environment, timeout=60)
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from oriel.hosts import advice
from oriel.hosts.launcher import MPIEXEC, SRUN, Launcher, within_slurm
from oriel.hosts.load_report import LoadReport
from oriel.hosts.mpi_kinds import (
    INTEL,
    KINDS,
    NAMES,
    OPENMPI,
    STANDARD_ABI,
    STANDARD_NAMES,
    STANDARD_SONAME,
    MpiKind,
    kind_of,
)
from oriel.hosts.nodes import RSH, Nodes
from oriel.hosts.preloads import preload_order

_PACKAGE = Path(__file__).resolve().parents[1]

_ASK_LIBRARY = (
    "import ctypes, sys; text, length = ctypes.create_string_buffer(8192), ctypes.c_int();"
    "ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length));"
    "print(text.value.decode(errors='replace'))"
)
_MPI_HOME = "MPI_HOME"  # set by environment modules
_LAUNCHERS = ("mpiexec", "mpiexec.mpich", "mpiexec.openmpi", "mpiexec.hydra")

# Does what env does.
_EXPORT = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift; exec "$@"'

# UCX finds the shared memory of nodes that are namespaces of one machine, and would use it. Without
# it, and without Oriel, Open MPI's windows over UCX give up every time one is made, with a message,
# and in a way that spoils the memory of other threads; its next choice is made at once.
_ACROSS_NODES = {"UCX_TLS": "tcp,self", "OMPI_MCA_osc": "^ucx"}

# Options of Open MPI's launcher, versions 4.1 and 5.0, that replace `--map-by :OVERSUBSCRIBE`, and
# those that replace `--bind-to none`: beside ours the launcher refuses them or ignores them.
_OPENMPI_MAPPING = ("--map-by", "--ppr", "--nooversubscribe", "--rankfile", "-rf")
_OPENMPI_BINDING = (
    *("--bind-to", "--bind-to-core", "--bind-to-socket"),
    *("--cpu-set", "--cpu-list", "--cpus-per-proc", "--cpus-per-rank"),
    *("--rankfile", "-rf"),
)
# In the value of --map-by, cores of each rank, to which it is bound.
_OPENMPI_CORES = re.compile(r"\b(pe=|pe-list=|rankfile\b)", re.IGNORECASE)


class HostError(Exception):
    """A sentence for the user: no such MPI, or not usable here."""


def not_supported(title: str) -> tuple[str, str]:
    """About an MPI that is too old: what is wrong, and what to do."""
    return (
        f"Oriel does not support {title}.",
        "It has been run on MPICH from 3.4, Open MPI from 4.1 and Intel MPI 2021, and accepts "
        "MPICH 3.2 and 3.3 and Open MPI 4.0: install one of them, or start the program by its own "
        "mpiexec, without Oriel.",
    )


def prefix() -> Path:
    """Where Oriel lies: the build tree or the installation prefix, with bin/ and lib/ below."""
    chosen = os.environ.get("ORIEL_PREFIX")
    if chosen:
        return Path(chosen)
    tree = advice.source_tree()
    if tree:
        return tree / "build"
    # The library folder's depth differs: lib, lib64, lib/x86_64-linux-gnu.
    for folder in _PACKAGE.parents:
        if (folder / "bin" / "oriel").is_file():
            return folder
    return _PACKAGE.parents[3]


def own_program(host: Host, name: str) -> Path:
    """One of our own programs as it was built for this host."""
    folders = (
        [prefix()] if advice.source_tree() else [folder / "oriel" for folder in library_folders()]
    )
    paths = [folder / "programs" / host.name / name for folder in folders]
    path = next(filter(Path.is_file, paths), paths[0])
    if not path.is_file():
        raise HostError(
            f"The program {name} for {host.title}, {path}, is not there. {advice.build_for_mpi()}"
        )
    return path


def library_folders() -> list[Path]:
    root = prefix()
    return [root / "lib", root / "lib64", *sorted(root.glob("lib/*-linux-gnu*"))]


def oriel_library(abi: str) -> Path:
    """Path of the library for one MPI ABI, whether or not it was built."""
    name = f"liboriel_{abi}.so"
    folders = library_folders()
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    return folders[0] / name


@dataclasses.dataclass(frozen=True)
class Host:
    """One MPI library. `library` is the liboriel that its ranks preload."""

    name: str
    prefix: Path
    mpiexec: Path
    library: Path
    version: str

    @property
    def kind(self) -> MpiKind:
        return kind_of(self.name)

    @property
    def title(self) -> str:
        """As people write it, with the version."""
        return f"{self.kind.title} {self.version}"

    @property
    def location(self) -> str:
        """Tells two MPIs of one version apart."""
        return str(self.mpiexec) if self.mpiexec.is_file() else f"{self.prefix}, without mpiexec"

    @property
    def supported(self) -> bool:
        return self.numbers >= self.kind.oldest

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those of the version."""
        return tuple(int(number) for number in re.findall(r"\d+", self.version))

    def refuse(self) -> NoReturn:
        """Raises the error of an MPI that is not supported."""
        raise HostError(" ".join(not_supported(f"{self.title} ({self.location})")))

    @property
    def standard_abi(self) -> bool:
        """Whether this host also runs programs built for the MPI-5 standard ABI."""
        return self.has(STANDARD_SONAME)

    def _folders(self) -> list[Path]:
        root = self.prefix
        return [root / "lib", root / "lib64", *sorted(root.glob("lib/*-linux-gnu*"))]

    def find_library(self, soname: str) -> Path | None:
        """The file of this MPI's library of this name; None if it has none."""
        files = (folder / soname for folder in self._folders())
        return next((file for file in files if file.exists()), None)

    def has(self, soname: str) -> bool:
        """Whether this MPI has a library of this name."""
        return self.find_library(soname) is not None

    @property
    def sonames(self) -> tuple[str, ...]:
        """The names of the MPI library in programs that run on this MPI."""
        if self.name != self.kind.name:
            return (STANDARD_SONAME,)
        found = [file.name for each in self._folders() for file in self.kind.libraries_in(each)]
        return tuple(dict.fromkeys(found)) or self.kind.sonames

    def mpi_library(self) -> Path | None:
        """The file of the MPI library that C programs of this MPI load."""
        return next(filter(None, map(self.find_library, self.sonames)), None)

    def with_standard_abi(self) -> Host:
        """The same MPI for programs that were linked with the library of the standard ABI."""
        if not self.standard_abi:
            raise HostError(
                f"{self.title} in {self.prefix} has no {STANDARD_SONAME}. "
                "Choose MPICH 5 or Intel MPI 2021.18, or build the program for this MPI's own ABI."
            )
        return dataclasses.replace(
            self, name=f"{self.name}-{STANDARD_ABI}", library=oriel_library(STANDARD_ABI)
        )

    def preloadable(self) -> str:
        """The library's path as LD_PRELOAD takes it."""
        if not self.library.is_file():
            raise HostError(
                f"The library for {self.title}, {self.library}, is not there. "
                f"{advice.build_for_mpi()}"
            )
        path = str(self.library)
        if re.search(r"[\s:]", path):
            raise HostError(
                f"The library {path} cannot be preloaded: LD_PRELOAD separates its entries by "
                "spaces and colons. Move Oriel to a folder whose path has neither, or set "
                f"ORIEL_PREFIX to a symbolic link to {prefix()} whose path has neither."
            )
        return path

    def launcher(self, name: str | None = None, options: tuple[str, ...] = ()) -> Launcher:
        """What starts the ranks. Without a `name` it is mpiexec, or srun in an allocation of Slurm
        if this MPI has no mpiexec."""
        if name is None:
            name = SRUN if not self.mpiexec.is_file() and within_slurm() else MPIEXEC
        if name == SRUN and shutil.which(SRUN) is None:
            raise HostError(
                "There is no srun on PATH. Leave out --launcher to start the ranks by the MPI's "
                "own mpiexec, or load Slurm's module."
            )
        if name == MPIEXEC and not self.mpiexec.is_file():
            raise HostError(
                f"{self.title} in {self.prefix} has no mpiexec. Put its mpiexec on PATH; in an "
                "allocation of Slurm srun starts the ranks (--launcher srun)."
            )
        return Launcher(name, options)

    def command(
        self,
        n: int,
        program: Sequence[str | os.PathLike],
        preload: bool = True,
        env: Mapping[str, str] | None = None,
        nodes: Nodes | None = None,
        report: LoadReport | None = None,
        launcher: Launcher | None = None,
    ) -> tuple[list[str], dict[str, str]]:
        """argv and environment that start `program` (with its arguments) on n ranks.

        With `preload`, Oriel is loaded into the ranks, never into the launcher, behind the user's
        own entries of LD_PRELOAD. `env` adds variables for the ranks. `nodes`: the ranks are spread
        over them in blocks. `report`: the ranks tell there whether they have loaded the library.
        `launcher`: another one than that of launcher().
        """
        launcher = launcher or self.launcher()
        for_ranks = {**(env or {})}
        if nodes:
            for_ranks = {**_ACROSS_NODES, **for_ranks}
            if n > len(os.sched_getaffinity(0)):
                for_ranks.setdefault("ORIEL_CROWDED", "1")  # the nodes share the cores
        if preload:
            given = for_ranks.get("LD_PRELOAD") or os.environ.get("LD_PRELOAD") or ""
            for_ranks["LD_PRELOAD"] = preload_order(
                program, given, self.preloadable(), self.mpi_library()
            )
        argv = [*self._start(launcher, n, nodes), *launcher.options, "-n", str(n)]
        if report:
            for_ranks.update(report.environment())
            argv += report.begin()
        words = [os.fspath(word) for word in program]
        if for_ranks:
            variables = [f"{key}={value}" for key, value in for_ranks.items()]
            # env takes a program whose name has a `=` for a further variable.
            if words and "=" in words[0]:
                argv += ["sh", "-c", _EXPORT, "sh", *variables, "--"]
            else:
                argv += ["env", *variables]
        argv += words
        environment = {**os.environ, **self._environment(n, launcher)}
        environment.pop("LD_PRELOAD", None)
        if nodes:
            environment.update(nodes.environment())
        return argv, environment

    def _placement(self, n: int, nodes: Nodes | None) -> list[str]:
        if nodes is None:
            return []
        each = str(-(-n // nodes.count))
        if self.kind is OPENMPI:
            hosts = ",".join(f"{name}:{each}" for name in nodes.names)
            renamed = self.numbers >= (5, 0)
            agent = ["--prtemca", "plm_ssh_agent"] if renamed else ["--mca", "plm_rsh_agent"]
            agent += [str(RSH)]
            # Without it each daemon makes a session of its node's ranks. Linux shares a processor
            # out among sessions first; 6.18 keeps some whose ranks yield waiting for a minute.
            attached = "--leave-session-attached"
            return ["--prefix", str(self.prefix), attached, *agent, "--host", hosts]
        launcher = ["-launcher", "ssh", "-launcher-exec", str(RSH)]
        return [*launcher, "-hosts", ",".join(nodes.names), "-ppn", each]

    def _start(self, launcher: Launcher, n: int, nodes: Nodes | None) -> list[str]:
        """The launcher, with the options that it needs here."""
        if launcher.name == SRUN:
            if nodes:
                raise HostError(
                    "srun knows nothing of nodes that are made of network namespaces. Leave out "
                    "--hosts, or start the ranks by the MPI's own launcher."
                )
            return [SRUN, *launcher.slurm_plugin(self.kind)]
        inside = nodes.inside(0) if nodes else []
        return [*inside, str(self.mpiexec), *self._options(launcher), *self._placement(n, nodes)]

    def _options(self, launcher: Launcher) -> list[str]:
        if self.kind is not OPENMPI:
            return []
        # Open MPI refuses more ranks than cores, and would bind two ranks to one core.
        mapped = launcher.names(*_OPENMPI_MAPPING)
        bound = launcher.names(*_OPENMPI_BINDING) or any(
            map(_OPENMPI_CORES.search, launcher.options)
        )
        return [
            *([] if mapped else ["--map-by", ":OVERSUBSCRIBE"]),
            *([] if bound else ["--bind-to", "none"]),
        ]

    def library_path(self) -> dict[str, str]:
        """The variable by which a process finds this MPI."""
        if self.prefix == Path("/usr"):
            return {}
        library = self.mpi_library()
        folder = library.parent if library else self.prefix / "lib"
        folders = [str(folder), os.environ.get("LD_LIBRARY_PATH")]
        return {"LD_LIBRARY_PATH": ":".join(filter(None, folders))}

    def _environment(self, n: int, launcher: Launcher) -> dict[str, str]:
        result = self.library_path()
        if self.kind is OPENMPI and os.geteuid() == 0:
            result["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            result["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        if self.kind is INTEL:
            result["I_MPI_ROOT"] = os.environ.get("I_MPI_ROOT", str(self.prefix))
            # Without a fabric Intel MPI searches for one at every start; what the user set wins.
            if launcher.name != SRUN:  # a cluster may have a better one
                result["FI_PROVIDER"] = os.environ.get("FI_PROVIDER", "tcp")
            if n > len(os.sched_getaffinity(0)):
                # It would bind two ranks to one core and leave them there when another is idle.
                result["I_MPI_PIN"] = os.environ.get("I_MPI_PIN", "0")
        return result


def _version_in(text: str, banner: str) -> tuple[MpiKind, str] | None:
    """`banner`: the field of MpiKind that finds it."""
    for kind in KINDS:
        match = getattr(kind, banner).search(text)
        if match:
            return kind, match.group(1)
    return None


@functools.cache
def _identify(mpiexec: Path) -> tuple[MpiKind, str] | None:
    """Kind and version of the MPI that this launcher belongs to, None where it does not start."""
    home = mpiexec.parent.parent
    environment = {**os.environ, "LD_LIBRARY_PATH": str(home / "lib"), "I_MPI_ROOT": str(home)}
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment.pop("LD_PRELOAD", None)
    if home == Path("/usr"):
        environment.pop("LD_LIBRARY_PATH")
    try:
        answer = subprocess.run(
            [mpiexec, "--version"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _version_in(answer.stdout, "launcher_banner")


@functools.cache
def host_of_library(library: Path) -> Host | None:
    """The MPI of this library where it has no launcher of its own, as in clusters whose batch
    system starts all ranks; None if the library does not say which MPI it is of."""
    try:
        answer = subprocess.run(
            [sys.executable, "-c", _ASK_LIBRARY, library],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # prefix/lib/x86_64-linux-gnu/libmpi.so, or prefix/lib/libmpi.so.
    below = next((each for each in library.parents if each.name in ("lib", "lib64")), None)
    mpi_prefix = (below or library.parent).parent
    identity = _version_in(answer.stdout, "library_banner")
    if identity is None:
        return None
    kind, version = identity
    mpiexec = mpi_prefix / "bin" / "mpiexec"
    return Host(kind.name, mpi_prefix, mpiexec, oriel_library(kind.abi), version)


def hosts_at(mpi_prefix: Path, launchers: Sequence[str] = _LAUNCHERS) -> list[Host]:
    """The MPIs installed under this prefix with these launchers, whether supported or not."""
    found = []
    for launcher in launchers:
        mpiexec = mpi_prefix / "bin" / launcher
        identity = _identify(mpiexec) if mpiexec.is_file() else None
        if identity:
            kind, version = identity
            library = oriel_library(kind.abi)
            found.append(Host(kind.name, mpi_prefix, mpiexec, library, version))
    return found


def _launcher_locations() -> list[tuple[Path, str]]:
    """Where launchers of MPIs are looked for, as prefix and name: below <prefix>/mpi (or
    ORIEL_MPI_ROOT), in I_MPI_ROOT and MPI_HOME, beside Oriel, as in a virtual environment, then on
    PATH. docs/command.md says so."""
    root = Path(os.environ.get("ORIEL_MPI_ROOT", prefix() / "mpi"))
    locations = [(root / name, "mpiexec") for name in NAMES]
    for variable in ("I_MPI_ROOT", _MPI_HOME):
        if os.environ.get(variable):
            locations.append((Path(os.environ[variable]), "mpiexec"))
    locations += [(prefix(), launcher) for launcher in _LAUNCHERS]
    for launcher in _LAUNCHERS:
        found = shutil.which(launcher)
        if found:
            locations.append((Path(found).parent.parent, launcher))
    return locations


def _without_launcher(kinds: Iterable[MpiKind]) -> Iterator[Host]:
    """MPIs of these kinds whose library is below MPI_HOME or on LD_LIBRARY_PATH."""
    home = os.environ.get(_MPI_HOME)
    folders = [Path(home, "lib"), Path(home, "lib64")] if home else []
    folders += map(Path, filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")))
    files = (
        file
        for folder in folders
        for kind in kinds
        for file in kind.libraries_in(folder.absolute())
    )
    for file in dict.fromkeys(files):
        host = host_of_library(file)
        if host:
            yield host


def _all_hosts() -> list[Host]:
    """In the order of _launcher_locations(); at the end those without a launcher, of kinds that are
    not found otherwise, because each library is loaded by a process of its own."""
    hosts = [
        host
        for mpi_prefix, launcher in _launcher_locations()
        for host in hosts_at(mpi_prefix, [launcher])
    ]
    found = {host.kind for host in hosts if host.supported}
    missing = [kind for kind in KINDS if kind not in found]
    libraries = (host for host in _without_launcher(missing) if host.kind in missing)
    return hosts + _one_of_each(libraries)


def _one_of_each(hosts: Iterable[Host]) -> list[Host]:
    """The first of each name."""
    first: dict[str, Host] = {}
    for host in hosts:
        first.setdefault(host.name, host)
    return list(first.values())


def find_hosts() -> list[Host]:
    """One MPI of each name, of those that are supported."""
    return _one_of_each(host for host in _all_hosts() if host.supported)


def find_shadowed() -> list[Host]:
    """Further MPIs that are supported, behind another one of the same name. Programs that are
    linked with them run on them."""
    known = {(host.name, host.prefix) for host in find_hosts()}
    shadowed: dict[tuple[str, Path], Host] = {}
    for host in _all_hosts():
        if host.supported and (host.name, host.prefix) not in known:
            shadowed.setdefault((host.name, host.prefix), host)
    return list(shadowed.values())


def find_unsupported() -> list[Host]:
    """One MPI of each name, of those that are not supported."""
    return _one_of_each(host for host in _all_hosts() if not host.supported)


def find_unknown() -> list[Path]:
    """Launchers that do not say that they are of an MPI that Oriel knows."""
    launchers = dict.fromkeys(
        mpi_prefix / "bin" / launcher for mpi_prefix, launcher in _launcher_locations()
    )
    return [file for file in launchers if file.is_file() and _identify(file) is None]


def find_host(name: str) -> Host:
    """The MPI of this name, which is one of NAMES or, for the standard ABI, of STANDARD_NAMES."""
    hosts = find_hosts()
    if name == STANDARD_ABI:
        fitting = [host for host in hosts if host.standard_abi]
    else:
        fitting = [host for host in hosts if name in (host.name, f"{host.name}-{STANDARD_ABI}")]
    if fitting:
        return fitting[0].with_standard_abi() if name in STANDARD_NAMES else fitting[0]
    for host in find_unsupported():
        if name == host.name:
            host.refuse()
    known = ", ".join(h.name for h in hosts) or "none"
    raise HostError(f"There is no MPI named {name} here (found: {known}). {advice.add_mpi()}")


def choose_hosts(names: str) -> list[Host]:
    """The hosts of these names, which commas part; all that are there for `all`."""
    if names != "all":
        return [find_host(name) for name in names.split(",")]
    found = find_hosts()
    if not found:
        for host in find_unsupported():
            host.refuse()
        raise HostError(f"There is no MPI on this machine. {advice.add_mpi()}")
    return found
