# SPDX-License-Identifier: BSD-3-Clause
"""`oriel completion`: prints a script that completes the command `oriel` in a shell. The script
starts no program: it is made from the options of all commands.

    eval "$(oriel completion bash)"
    oriel completion zsh >~/.zfunc/_oriel
    oriel completion fish >~/.config/fish/completions/oriel.fish
"""

from __future__ import annotations

import argparse

from oriel.cli import bash_completion, command_line, commands, fish_completion, zsh_completion

SHELLS = {"bash": bash_completion, "zsh": zsh_completion, "fish": fish_completion}


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oriel completion",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell: bash, zsh or fish")
    return parser


def main(argv: list[str]) -> int:
    shell = make_parser().parse_args(argv).shell
    print(SHELLS[shell].script(command_line.read(commands.COMMANDS)), end="")
    return 0
