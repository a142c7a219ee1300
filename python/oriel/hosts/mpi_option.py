# SPDX-License-Identifier: BSD-3-Clause
"""The option --mpi, which most commands have."""

from __future__ import annotations

import argparse

from oriel.hosts.mpi_kinds import NAMES, STANDARD_NAMES


class _Lists(tuple):
    """Contains every list of its elements with commas between them, and `all`."""

    def __contains__(self, text: object) -> bool:
        return text == "all" or set(str(text).split(",")) <= set(self)


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def add_mpi_option(
    parser: argparse.ArgumentParser, text: str, standard_abi: bool = False, required: bool = False
) -> None:
    """One MPI; `text` follows its names in the help."""
    names = NAMES + (STANDARD_NAMES if standard_abi else ())
    parser.add_argument(
        "--mpi",
        metavar="NAME",
        choices=names,
        required=required,
        help=f"{_listed(names)}{text}",
    )


def add_mpis_option(parser: argparse.ArgumentParser, default: str, meaning: str) -> None:
    """Several MPIs, as choose_hosts() takes them; `meaning`: what the default is."""
    parser.add_argument(
        "--mpi",
        metavar="NAMES",
        choices=_Lists(NAMES),
        default=default,
        help=f"{', '.join(NAMES)} with commas between them, or all (default: {meaning})",
    )
