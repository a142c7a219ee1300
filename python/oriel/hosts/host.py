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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from oriel.hosts.load_report import LoadReport
from oriel.hosts.nodes import RSH, Nodes

_PACKAGE = Path(__file__).resolve().parents[1]
_SOURCE_TREE = _PACKAGE.parents[1]

# What an MPI's launcher says of itself under --version.
_BANNERS = (
    ("intel", re.compile(r"Intel\(R\) MPI Library.*?Version\s+(\d+(?:\.\d+)+)", re.S)),
    ("openmpi", re.compile(r"Open(?: MPI|RTE)\)?\s+v?(\d+(?:\.\d+)+)")),
    ("mpich", re.compile(r"HYDRA build details:\s+Version:\s+(\S+)")),
)
_NATIVE_ABI = {"mpich": "mpich", "intel": "mpich", "openmpi": "openmpi"}
STANDARD_ABI = "abi"
# Debian and Ubuntu give MPICH's library another name, which their programs need.
_LIBMPICH, _LIBMPICH_BUILD = "libmpich.so.12", "libmpich"
_LAUNCHERS = ("mpiexec", "mpiexec.mpich", "mpiexec.openmpi", "mpiexec.hydra")
# The oldest versions that are supported, where an MPI is known that is not.
_OLDEST = {"mpich": (4, 0), "openmpi": (4, 1)}
_TITLES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}

# UCX finds the shared memory of nodes that are namespaces of one machine, and would use it. Without
# it Open MPI's windows over UCX give up every time one is made, with a message, and in a way that
# spoils the memory of other threads; its next choice is made at once.
_ACROSS_NODES = {"UCX_TLS": "tcp,self", "OMPI_MCA_osc": "^ucx"}


class HostError(Exception):
    """A sentence for the user: no such MPI, or not usable here."""


def not_supported(title: str) -> str:
    """The sentence about an MPI that is too old."""
    return (
        f"Oriel does not support {title}. It runs on MPICH from 4.0, Open MPI from 4.1 and Intel "
        "MPI 2021: install one of them, or start the program by its own mpiexec, without Oriel."
    )


def host_title(name: str) -> str:
    return _TITLES.get(name, name)


def prefix() -> Path:
    """Where Oriel lies: the build tree or the installation prefix, with bin/ and lib/ below."""
    told = os.environ.get("ORIEL_PREFIX")
    if told:
        return Path(told)
    if (_SOURCE_TREE / "CMakeLists.txt").is_file():
        return _SOURCE_TREE / "build"
    # The library folder's depth differs: lib, lib64, lib/x86_64-linux-gnu.
    for folder in _PACKAGE.parents:
        if (folder / "bin" / "oriel").is_file():
            return folder
    return _PACKAGE.parents[3]


def own_program(host: Host, name: str) -> Path:
    """One of our own programs as it was built for this host."""
    in_tree = (_SOURCE_TREE / "CMakeLists.txt").is_file()
    folder = (prefix() if in_tree else _PACKAGE.parents[1]) / "programs"
    path = folder / host.name / name
    if not path.is_file():
        raise HostError(
            f"The program {name} for {host.name}, {path}, is not there. Build Oriel with that MPI: "
            "`make` in the source tree builds it for all three."
        )
    return path


def oriel_library(abi: str) -> Path:
    """Path of the library for one MPI ABI, whether or not it was built."""
    name = f"liboriel_{abi}.so"
    root = prefix()
    folders = [root / "lib", root / "lib64", *sorted(root.glob("lib/*-linux-gnu*"))]
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
    def title(self) -> str:
        """As people write it, with the version."""
        return f"{host_title(self.name)} {self.version}"

    @property
    def supported(self) -> bool:
        return self.numbers >= _OLDEST.get(self.name, ())

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those of the version."""
        return tuple(int(number) for number in re.findall(r"\d+", self.version))

    def refuse(self) -> NoReturn:
        """Raises the error of an MPI that is not supported."""
        raise HostError(not_supported(f"{self.title} ({self.mpiexec})"))

    @property
    def standard_abi(self) -> bool:
        """Whether this host also runs programs built for the MPI-5 standard ABI."""
        return self.has("libmpi_abi.so.1")

    def has(self, soname: str) -> bool:
        """Whether this MPI has a library of this name."""
        folders = ["lib", "lib64", *self.prefix.glob("lib/*-linux-gnu*")]
        return any((self.prefix / folder / soname).exists() for folder in folders)

    def with_standard_abi(self) -> Host:
        """The same MPI for programs that were linked with libmpi_abi.so.1."""
        if not self.standard_abi:
            raise HostError(
                f"{self.name} {self.version} in {self.prefix} has no libmpi_abi.so.1. "
                "Choose MPICH 5 or Intel MPI 2021.18, or build the program for this MPI's own ABI."
            )
        return dataclasses.replace(
            self, name=f"{self.name}-{STANDARD_ABI}", library=oriel_library(STANDARD_ABI)
        )

    def preloadable(self) -> str:
        """The library's path as LD_PRELOAD takes it."""
        if not self.library.is_file():
            raise HostError(
                f"The library for {self.title}, {self.library}, is not there. Build Oriel with "
                "that MPI: `make` in the source tree, or cmake with its mpicxx as MPI_CXX_COMPILER."
            )
        path = str(self.library)
        if re.search(r"[\s:]", path):
            raise HostError(
                f"The library {path} cannot be preloaded: LD_PRELOAD separates its entries by "
                "spaces and colons. Move Oriel to a folder whose path has neither, or set "
                f"ORIEL_PREFIX to a symbolic link to {prefix()} whose path has neither."
            )
        return path

    def command(
        self,
        n: int,
        program: Sequence[str | os.PathLike],
        preload: bool = True,
        env: Mapping[str, str] | None = None,
        nodes: Nodes | None = None,
        report: LoadReport | None = None,
    ) -> tuple[list[str], dict[str, str]]:
        """argv and environment that start `program` (with its arguments) on n ranks.

        With `preload`, Oriel is loaded into the ranks, never into the launcher. `env` adds
        variables for the ranks. `nodes`: the ranks are spread over them in blocks. `report`: the
        ranks tell there whether they have loaded the library.
        """
        for_ranks = {**(env or {})}
        if nodes:
            for_ranks = {**_ACROSS_NODES, **for_ranks}
            if n > len(os.sched_getaffinity(0)):
                for_ranks.setdefault("ORIEL_CROWDED", "1")  # the nodes share the cores
        if preload:
            before = for_ranks.get("LD_PRELOAD") or os.environ.get("LD_PRELOAD")
            for_ranks["LD_PRELOAD"] = ":".join(filter(None, [self.preloadable(), before]))
        argv = nodes.inside(0) if nodes else []
        argv += [str(self.mpiexec), *self._options(), *self._placement(n, nodes), "-n", str(n)]
        if report:
            for_ranks.update(report.environment())
            argv += report.begin()
        if for_ranks:
            argv += ["env", *(f"{key}={value}" for key, value in for_ranks.items())]
        argv += [os.fspath(word) for word in program]
        environment = {**os.environ, **self._environment(n)}
        environment.pop("LD_PRELOAD", None)
        if nodes:
            environment.update(nodes.environment())
        return argv, environment

    def _placement(self, n: int, nodes: Nodes | None) -> list[str]:
        if nodes is None:
            return []
        each = str(-(-n // nodes.count))
        if self.name == "openmpi":
            hosts = ",".join(f"{name}:{each}" for name in nodes.names)
            renamed = self.numbers >= (5, 0)
            agent = ["--prtemca", "plm_ssh_agent"] if renamed else ["--mca", "plm_rsh_agent"]
            agent += [str(RSH)]
            return ["--prefix", str(self.prefix), *agent, "--host", hosts]
        launcher = ["-launcher", "ssh", "-launcher-exec", str(RSH)]
        return [*launcher, "-hosts", ",".join(nodes.names), "-ppn", each]

    def _options(self) -> list[str]:
        # Open MPI refuses more ranks than cores, and would bind two ranks to one core.
        if self.name == "openmpi":
            return ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
        return []

    def library_path(self) -> dict[str, str]:
        """The variable by which a process finds this MPI. A path in our library would not do: one
        library serves MPICH and Intel MPI, and a process must not get the two."""
        if self.prefix == Path("/usr"):
            return {}
        folders = [str(self.prefix / "lib"), os.environ.get("LD_LIBRARY_PATH")]
        return {"LD_LIBRARY_PATH": ":".join(filter(None, folders))}

    def _environment(self, n: int) -> dict[str, str]:
        result = self.library_path()
        if self.name == "openmpi" and os.geteuid() == 0:
            result["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            result["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        if self.name.startswith("intel"):
            # Without a fabric Intel MPI searches for one at every start; what the user set wins.
            result["I_MPI_ROOT"] = os.environ.get("I_MPI_ROOT", str(self.prefix))
            result["FI_PROVIDER"] = os.environ.get("FI_PROVIDER", "tcp")
            if n > len(os.sched_getaffinity(0)):
                # It would bind two ranks to one core and leave them there when another is idle.
                result["I_MPI_PIN"] = os.environ.get("I_MPI_PIN", "0")
        return result


@functools.cache
def _identify(mpiexec: Path) -> tuple[str, str] | None:
    """(name, version) of the MPI that this launcher belongs to, None where it does not start."""
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
    for name, banner in _BANNERS:
        match = banner.search(answer.stdout)
        if match:
            return name, match.group(1)
    return None


def hosts_at(mpi_prefix: Path, launchers: Sequence[str] = _LAUNCHERS) -> list[Host]:
    """The MPIs installed under this prefix with these launchers, whether supported or not."""
    found = []
    for launcher in launchers:
        mpiexec = mpi_prefix / "bin" / launcher
        identity = _identify(mpiexec) if mpiexec.is_file() else None
        if identity:
            name, version = identity
            host = Host(name, mpi_prefix, mpiexec, oriel_library(_NATIVE_ABI[name]), version)
            if name == "mpich" and host.has(_LIBMPICH) and not host.has("libmpi.so.12"):
                host = dataclasses.replace(host, library=oriel_library(_LIBMPICH_BUILD))
            found.append(host)
    return found


def _all_hosts() -> list[Host]:
    """The MPIs below <prefix>/mpi (or ORIEL_MPI_ROOT), then those on PATH."""
    root = Path(os.environ.get("ORIEL_MPI_ROOT", prefix() / "mpi"))
    places = [(root / name, "mpiexec") for name in ("mpich", "openmpi", "intel")]
    if os.environ.get("I_MPI_ROOT"):
        places.append((Path(os.environ["I_MPI_ROOT"]), "mpiexec"))
    for launcher in _LAUNCHERS:
        found = shutil.which(launcher)
        if found:
            places.append((Path(found).parent.parent, launcher))
    return [host for place, launcher in places for host in hosts_at(place, [launcher])]


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


def find_host(name: str) -> Host:
    """The MPI of this name: mpich, openmpi, intel; mpich-abi and intel-abi for the standard ABI;
    abi for the first MPI that has the standard ABI."""
    hosts = find_hosts()
    wanted, _, suffix = name.partition("-")
    for host in hosts:
        if name == STANDARD_ABI and host.standard_abi:
            return host.with_standard_abi()
        if host.name == wanted:
            return host.with_standard_abi() if suffix == STANDARD_ABI else host
    for host in find_unsupported():
        if host.name == wanted:
            host.refuse()
    known = ", ".join(h.name for h in hosts) or "none"
    raise HostError(
        f"There is no MPI named {name} here (found: {known}). "
        "Put its mpiexec on PATH, or install the three MPIs of the project with `make mpis`."
    )


def choose_hosts(names: str) -> list[Host]:
    """The hosts of these names, which commas part; all that are there for `all`."""
    if names != "all":
        return [find_host(name) for name in names.split(",")]
    found = find_hosts()
    if not found:
        for host in find_unsupported():
            host.refuse()
        raise HostError("There is no MPI on this machine. Install three with `make mpis`.")
    return found
