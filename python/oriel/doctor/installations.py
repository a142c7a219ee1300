# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs of this machine: supported or not, Oriel's library for each, and its libfabric."""

from __future__ import annotations

from pathlib import Path

from oriel.doctor import libfabric
from oriel.doctor.finding import MACHINE, Finding, State
from oriel.doctor.libfabric import Libfabric
from oriel.hosts import advice
from oriel.hosts.host import Host, not_supported

# Providers that carry messages within one machine only.
_OF_ONE_MACHINE = {"shm", "sm2"}


def where(host: Host) -> str:
    """Names the MPI in a finding."""
    return f"{host.title} ({host.location})"


def _examine_library(host: Host) -> Finding:
    if host.library.is_file():
        return Finding(where(host), "Oriel for it", str(host.library))
    return Finding(
        where(host),
        "Oriel for it",
        f"not built ({host.library})",
        State.FAILS,
        f"Programs of {host.title} cannot run with Oriel: there is no library for it.",
        advice.build_for_mpi(),
    )


def _examine_libfabric(host: Host) -> Finding:
    """The first library that can be loaded, in the order in which Oriel tries them."""
    for library in libfabric.candidates(host.prefix, host.library):
        found = libfabric.describe(library)
        if found:
            return _libfabric_finding(host, found)
    mpi_library = host.mpi_library()
    if mpi_library and libfabric.is_lacking(mpi_library, host.library_path()):
        return Finding(
            where(host),
            "libfabric",
            "not found",
            State.FAILS,
            f"Programs of {host.title} do not start: {mpi_library} is linked with "
            f"{libfabric.SONAME}.",
            "Install libfabric (Debian: libfabric1), or add its folder to LD_LIBRARY_PATH.",
        )
    return Finding(
        where(host),
        "libfabric",
        "not found",
        State.FAILS,
        "Windows that span several nodes fail; windows on one node are not concerned.",
        "Install libfabric (Debian: libfabric1), or name its file with ORIEL_OFI_LIBRARY.",
    )


def _libfabric_finding(host: Host, library: Libfabric) -> Finding:
    name = "the system's" if library.file == libfabric.SONAME else library.file
    if library.fault:
        return Finding(
            where(host),
            "libfabric",
            f"{name} {library.fault}",
            State.LIMITED,
            "Ranks of several nodes may fail or hang in the same way.",
            "Install another libfabric and name its file with ORIEL_OFI_LIBRARY, or leave out "
            "providers by FI_PROVIDER, for example FI_PROVIDER=tcp.",
        )
    found = f"{library.version}, {name}: {', '.join(library.providers) or 'no providers'}"
    if set(library.providers) - _OF_ONE_MACHINE:
        return Finding(where(host), "libfabric", found)
    return Finding(
        where(host),
        "libfabric",
        found,
        State.FAILS,
        "Its providers reach ranks of this machine alone: windows that span several nodes fail.",
        "Install a libfabric with the provider of the network, or with tcp, and name its file "
        "with ORIEL_OFI_LIBRARY.",
    )


def _examine_standard_abi(host: Host) -> Finding:
    subject, library = "for the MPI-5 ABI", host.with_standard_abi().library
    if library.is_file():
        return Finding(where(host), subject, str(library))
    return Finding(
        where(host),
        subject,
        f"not built ({library})",
        State.LIMITED,
        "Programs that are linked with libmpi_abi.so.1 cannot run with Oriel; other programs can.",
        f"Leave it if you have no such programs. {advice.build_for_mpi()}",
    )


def examine_host(host: Host) -> list[Finding]:
    findings = [Finding(where(host), "version", "supported"), _examine_library(host)]
    if host.standard_abi:
        findings.append(_examine_standard_abi(host))
    return [*findings, _examine_libfabric(host)]


def examine_unsupported(host: Host) -> Finding:
    return Finding(where(host), "version", "not supported", State.FAILS, *not_supported(host.title))


def examine_unknown(launcher: Path) -> Finding:
    return Finding(
        str(launcher),
        "version",
        "not known",
        State.FAILS,
        f"`{launcher} --version` names neither MPICH, Open MPI nor Intel MPI: Oriel does not run "
        "its programs.",
        "Put the mpiexec of a supported MPI before it on PATH.",
    )


def examine_none() -> Finding:
    return Finding(
        MACHINE,
        "MPIs",
        "none that is supported",
        State.FAILS,
        "Without an MPI no program runs with Oriel.",
        "Put the mpiexec of MPICH, Open MPI or Intel MPI on PATH; if the batch system starts all "
        "ranks, its library below MPI_HOME or on LD_LIBRARY_PATH.",
    )
