# SPDX-License-Identifier: BSD-3-Clause
"""What the parsers of all commands know, for completion scripts and man pages."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import re

# Help texts end with what a default is on this machine; pages are for all machines.
_HERE = re.compile(r"; here [^)]*")


@dataclasses.dataclass(frozen=True)
class Argument:
    """An option, or a positional argument, which has no `names`."""

    names: tuple[str, ...]
    metavar: str  # empty: it takes no value
    choices: tuple[str, ...]
    help: str
    required: bool

    @property
    def takes_file(self) -> bool:
        return self.metavar in ("FILE", "FOLDER")

    @property
    def takes_program(self) -> bool:
        return self.metavar == "PROGRAM"


@dataclasses.dataclass(frozen=True)
class Command:
    """`words`: after `oriel`; two for a subject of bench."""

    words: tuple[str, ...]
    summary: str
    description: str
    usage: str
    options: tuple[Argument, ...]
    positionals: tuple[Argument, ...]
    subjects: tuple[Command, ...]


def _argument(command: str, action: argparse.Action) -> Argument:
    takes_value = action.nargs != 0
    choices = tuple(str(choice) for choice in action.choices or ())
    metavar = (action.metavar or "|".join(choices)) if takes_value else ""
    if takes_value and not metavar:
        metavar = action.dest.upper()
    text = " ".join((action.help or "").split())
    return Argument(
        tuple(action.option_strings),
        str(metavar),
        choices,
        _HERE.sub("", text % {"prog": f"oriel {command}"} if "%(" in text else text),
        action.required,
    )


def _command(words: tuple[str, ...], summary: str, parser: argparse.ArgumentParser) -> Command:
    options, positionals, subjects = [], [], []
    usage = " ".join(parser.format_usage().split()).partition(" ")[2]
    for action in parser._actions:  # argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction):
            summaries = {each.dest: each.help for each in action._choices_actions}
            for name, below in action.choices.items():
                subjects.append(_command((*words, name), summaries[name], below))
        elif action.option_strings:
            options.append(_argument(words[0], action))
        else:
            positionals.append(_argument(words[0], action))
    return Command(
        words,
        summary,
        parser.description or "",
        usage,
        tuple(options),
        tuple(positionals),
        tuple(subjects),
    )


def read(commands: dict[str, tuple[str, str]]) -> list[Command]:
    """`commands`: module and summary of each, by name."""
    os.environ["PYTHON_COLORS"] = "0"  # argparse colours usages from Python 3.14 on
    found = []
    for name, (module, summary) in commands.items():
        parser = importlib.import_module(module).make_parser()
        found.append(_command((name,), summary, parser))
    return found
