# SPDX-License-Identifier: BSD-3-Clause
"""Man pages of section 1: one of `oriel`, and one of each command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from oriel import __version__
from oriel.cli.command_line import Argument, Command

_SUMMARY = "runs MPI programs with Oriel, and examines the machine that they run on"
_DESCRIPTION = """\
Oriel carries out the one-sided communication of an MPI program in place of its MPI library. It is
a library that is loaded into the ranks; the command starts programs with it, says how their ranks
reach one another and what hinders them, and measures."""
# What the command itself reads; the library's settings are those of `oriel info`. docs/command.md
# has the same list.
VARIABLES = {
    "ORIEL_MPI_ROOT": "Folder with the MPIs mpich, openmpi and intel below it, which come before "
    "all others.",
    "I_MPI_ROOT": "Folder of Intel MPI. Ranks of Intel MPI get it; without it, that of the MPI.",
    "MPI_HOME": "Folder of an MPI, which need not have a launcher.",
    "PATH": "Where mpiexec, srun and the program are looked for.",
    "LD_LIBRARY_PATH": "Where MPIs that have no launcher are looked for. Ranks get it behind the "
    "folder of the MPI's libraries.",
    "LD_PRELOAD": "Ranks get it in front of Oriel's library, unless it names that itself; the "
    "launcher does not.",
    "ORIEL_PREFIX": "Where Oriel lies, if that is not where the command is.",
    "SLURM_JOB_ID": "Set in an allocation of Slurm: srun starts the ranks if the MPI has no "
    "mpiexec.",
    "SLURM_MPI_TYPE": "If it is set, srun gets no --mpi from the command.",
    "FI_PROVIDER": "Of libfabric. Ranks of Intel MPI get tcp if it is not set and mpiexec starts "
    "them.",
    "I_MPI_PIN": "Of Intel MPI. More ranks than cores get 0 if it is not set.",
    "ORIEL_OFI_LIBRARY": "The libfabric that ranks load and `oriel doctor` examines.",
    "ORIEL_XPMEM": "The library of XPMEM that ranks load and `oriel doctor` examines; 0: none.",
    "ORIEL_*": "Settings of the library, which ranks read; `oriel info` lists them.",
}


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def _quoted(text: str) -> str:
    """As an argument of a macro."""
    return '"' + _roff(text).replace('"', '""') + '"'


def _breakable(text: str) -> str:
    """A list of choices may go on in the next line."""
    return re.sub(r"([|,])(?=\S)", r"\1\\:", text)


def _paragraphs(text: str) -> list[str]:
    """Indented lines are examples."""
    lines: list[str] = []
    example = False
    for line in text.strip().splitlines():
        if example and not line.startswith("    "):
            lines += [".fi", ".RE"]
            example = False
        if line.startswith("    "):
            if not example:
                lines += [".PP", ".RS", ".nf"]
            example = True
        elif not lines or not line.strip() or lines[-1] == ".RE":
            lines.append(".PP")
        if line.strip():
            lines.append(_roff(line.strip()))
    lines += [".fi", ".RE"] if example else []
    # A blank line between two paragraphs, or before an example, has begun one already.
    once = [line for line, after in zip(lines, [*lines[1:], ""]) if (line, after) != (".PP", ".PP")]
    return once[1:]  # behind a section's title no paragraph has to begin


def _argument(argument: Argument) -> list[str]:
    value = rf" \fI{_roff(argument.metavar)}\fP" if argument.metavar else ""
    names = [rf"\fB{_roff(name)}\fP" for name in argument.names]
    head = ", ".join(names) + value if names else value.strip()
    text = argument.help
    if not all(choice in head + text for choice in argument.choices):
        text += f"; one of {', '.join(argument.choices)}"
    return [".TP", _breakable(head), _roff(text)]


def _arguments(command: Command) -> list[str]:
    return [line for each in (*command.positionals, *command.options) for line in _argument(each)]


def _page(name: str, summary: str, sections: Iterable[tuple[str, list[str]]]) -> str:
    lines = [
        r".\" Made from the parsers of the command, python/oriel/cli; edit them.",
        f'.TH {_quoted(name.upper())} 1 "" "Oriel {__version__}" "Oriel"',
        ".SH NAME",
        rf"{_roff(name)} \- {_roff(summary)}",
    ]
    for title, body in sections:
        lines += [f".SH {title}", *body]
    return "\n".join(lines) + "\n"


def _name(command: Command) -> str:
    return "-".join(["oriel", *command.words])


def _see_also(names: Sequence[str]) -> list[str]:
    return [f".BR {_roff(name)} (1)" + ("," if name != names[-1] else "") for name in names]


def _command_page(command: Command, commands: Sequence[Command]) -> str:
    usage = command.usage.removeprefix(f"oriel {command.words[0]}").strip()
    head = rf"\fBoriel {command.words[0]}\fP {_breakable(_roff(usage))}".rstrip()
    sections = [
        ("SYNOPSIS", [".na", head, ".ad"]),
        ("DESCRIPTION", _paragraphs(command.description)),
        ("OPTIONS", _arguments(command)),
    ]
    subjects = []
    for subject in command.subjects:
        subjects += [f".SS {_quoted('oriel ' + ' '.join(subject.words))}"]
        subjects += [_roff(subject.summary[:1].upper() + subject.summary[1:] + ".")]
        subjects += _arguments(subject)
    if subjects:
        sections.append(("SUBJECTS", subjects))
    others = ["oriel", *(_name(each) for each in commands if each is not command)]
    sections.append(("SEE ALSO", _see_also(others)))
    return _page(_name(command), command.summary, sections)


def _main_page(commands: Sequence[Command]) -> str:
    listed = []
    for command in commands:
        listed += [
            ".TP",
            rf"\fBoriel {command.words[0]}\fP",
            _roff(f"{command.summary[:1].upper()}{command.summary[1:]}."),
        ]
    variables = []
    for name, text in VARIABLES.items():
        variables += [".TP", rf"\fB{name}\fP", _roff(text)]
    return _page(
        "oriel",
        _SUMMARY,
        [
            ("SYNOPSIS", [r"\fBoriel\fP \fICOMMAND\fP [\fIARGUMENTS\fP]"]),
            ("DESCRIPTION", [_roff(" ".join(_DESCRIPTION.split()))]),
            ("COMMANDS", listed),
            ("ENVIRONMENT", variables),
            ("SEE ALSO", _see_also([_name(command) for command in commands])),
        ],
    )


def pages(commands: Sequence[Command]) -> dict[str, str]:
    """By file name."""
    made = {f"{_name(each)}.1": _command_page(each, commands) for each in commands}
    return {"oriel.1": _main_page(commands), **made}
