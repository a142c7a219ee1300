# SPDX-License-Identifier: BSD-3-Clause
"""The command `oriel`: hands its arguments to the module of the subcommand."""

from __future__ import annotations

import importlib
import sys

from oriel import __version__
from oriel.hosts.host import HostError
from oriel.hosts.nodes import NodesError

# The module of each, imported when it is called: demo and bench take packages that the others do
# without.
COMMANDS = {
    "run": ("oriel.cli.run", "run an MPI program with Oriel"),
    "env": ("oriel.cli.env", "print the variables that load Oriel into a program"),
    "info": ("oriel.cli.info", "version, MPIs found, libraries and settings"),
    "demo": ("oriel.demo.demo", "the paper's microbenchmarks, as tables and figures"),
    "paper": ("oriel.paper.paper", "every figure and table of the five papers, and ours"),
    "bench": ("oriel.bench.bench", "ratios of every call's time against the host MPI"),
}


def _usage() -> str:
    lines = ["usage: oriel COMMAND [ARGUMENTS]", ""]
    lines += [f"  {name:<8}{text}" for name, (_, text) in COMMANDS.items()]
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
    except (HostError, NodesError) as error:
        print(f"oriel {name}: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as missing:
        what = f"The Python package {missing.name} is missing"
        if module.startswith(missing.name):
            what = f"This installation has no `{name}`"
        print(
            f"oriel {name}: {what}. In a source tree `make` brings what is needed; elsewhere "
            "install numpy, matplotlib and rich with pip; for bench sparse also scipy and pyamg, "
            "for paper also jinja2.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        return 130
