# SPDX-License-Identifier: BSD-3-Clause
"""The command `oriel`: hands its arguments to the module of the subcommand."""

from __future__ import annotations

import importlib
import sys

from oriel import __version__
from oriel.hosts import advice
from oriel.hosts.host import HostError
from oriel.hosts.nodes import NodesError
from oriel.top.process_block import TopError
from oriel.wait_states.record import RecordError

# The module of each, imported when it is called, and a summary.
COMMANDS = {
    "run": ("oriel.cli.run", "run an MPI program with Oriel"),
    "env": ("oriel.cli.env", "print the variables that load Oriel into a program"),
    "info": ("oriel.cli.info", "list the MPIs found, the paths between ranks, and all settings"),
    "doctor": ("oriel.cli.doctor", "say what will be slow or not work here, and what to change"),
    "top": ("oriel.cli.top", "show what the ranks of a running job are waiting for"),
    "report": ("oriel.cli.report", "say what the ranks of a recorded run waited for"),
    "new": ("oriel.cli.new", "make a small project with notified puts, to begin with"),
    "completion": ("oriel.cli.completion", "print a script that completes the command in a shell"),
    "demo": ("oriel.demo.demo", "measure what late peers cost (about a minute)"),
    "paper": ("oriel.paper.paper", "repeat the measurements of five papers on one-sided calls"),
    "bench": ("oriel.bench.bench", "measure calls and small applications against the MPI library"),
}
# Of pyproject.toml, by the package that is missing.
_EXTRAS = {"otf2": "otf2"}


def _usage() -> str:
    lines = ["usage: oriel COMMAND [ARGUMENTS]", ""]
    lines += [f"  {name:<12}{text}" for name, (_, text) in COMMANDS.items()]
    lines += ["", "oriel COMMAND --help tells more; oriel --version prints the version."]
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(_usage())
        return 0 if argv else 2
    if argv[0] == "--version":
        print(f"oriel {__version__}")
        return 0
    name = argv[0]
    if name not in COMMANDS:
        print(f"oriel: There is no command {name}.\n{_usage()}", file=sys.stderr)
        return 2
    module, _ = COMMANDS[name]
    try:
        return importlib.import_module(module).main(argv[1:]) or 0
    except (HostError, NodesError, RecordError, TopError) as error:
        print(f"oriel {name}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        print(
            f"oriel {name}: {error.filename} cannot be used ({error.strerror}). Mend that, or name "
            f"another place; `oriel {name} --help` says how.",
            file=sys.stderr,
        )
        return 1
    except ModuleNotFoundError as missing:
        if missing.name.startswith("oriel."):
            raise
        extra = "sparse" if "sparse" in argv else _EXTRAS.get(missing.name, "bench")
        print(
            f"oriel {name}: The Python package {missing.name}, which this needs, is not installed. "
            f"{advice.add_package(missing.name, extra)}",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        return 130
