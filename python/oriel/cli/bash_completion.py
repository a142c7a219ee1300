# SPDX-License-Identifier: BSD-3-Clause
"""The completion script for bash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oriel.cli.command_line import Command

_HEAD = r"""# Completes the command `oriel` in bash; printed by `oriel completion bash`.
_oriel() {
  local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=() prev= options values i
  # Bash makes three words of --mpi=NAME.
  for i in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $i == = ]] || { words+=("$i") && prev=$i; }
  done
  [[ $cur == = ]] && cur=
  COMPREPLY=()
"""

# Nothing in COMPREPLY leaves it to bash, which completes the names of files.
_TAIL = r"""  for i in "${values[@]}"; do
    [[ $prev == "$i" ]] && return
  done
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ $command == run && $cur != */* ]]; then
    # A line each: a name may have spaces in it, which bash then marks as it does in file names.
    mapfile -t COMPREPLY < <(compgen -A command -A file -- "$cur")
    compopt -o filenames 2>/dev/null # fails where no key was pressed
  fi
}
complete -o bashdefault -o default -F _oriel oriel
"""

# Behind the program of `oriel run`, and between two --, words are not ours.
_RUN = r"""  if [[ $command == run ]]; then
    for ((i = 1; i < ${#words[@]}; ++i)); do
      [[ " ${values[*]} " == *" ${words[i]} "* ]] && { ((++i)); continue; }
      [[ ${words[i]} == -- || ${words[i]} != -* ]] && return
    done
  fi
"""


def _words(names: Sequence[str]) -> str:
    return " ".join(names)


def _cases(command: Command) -> Iterator[str]:
    """What of a command depends on its words."""
    names = [name for option in command.options for name in option.names]
    values = [name for option in command.options if option.metavar for name in option.names]
    yield f'      options="{_words(names)}" values=({_words(values)}) ;;'


def _choices(command: Command) -> Iterator[str]:
    pattern = " ".join(command.words)
    for option in command.options:
        if option.choices:
            names = " | ".join(f'"{pattern} {name}"' for name in option.names)
            yield f"    {names})"
            yield f'      COMPREPLY=($(compgen -W "{_words(option.choices)}" -- "$cur")); return ;;'


def script(commands: Sequence[Command]) -> str:
    names = _words([command.words[0] for command in commands])
    lines = [
        "  if ((COMP_CWORD == 1)); then",
        f'    COMPREPLY=($(compgen -W "{names} --help --version" -- "$cur"))',
        "    return",
        "  fi",
    ]
    all_commands = list(commands)
    for command in commands:
        if command.subjects:
            subjects = _words([subject.words[1] for subject in command.subjects])
            lines += [
                f'  if [[ $command == "{command.words[0]}" ]]; then',
                "    if ((COMP_CWORD == 2)); then",
                f'      COMPREPLY=($(compgen -W "{subjects} --help" -- "$cur"))',
                "      return",
                "    fi",
                '    command+=" ${words[1]}"',
                "  fi",
            ]
            all_commands += command.subjects
        for positional in command.positionals:
            if positional.choices:
                lines += [
                    f'  if [[ $command == "{command.words[0]}" && $cur != -* ]]; then',
                    f'    COMPREPLY=($(compgen -W "{_words(positional.choices)}" -- "$cur"))',
                    "    return",
                    "  fi",
                ]
    lines += ["  case $command in"]
    for command in all_commands:
        lines += [f'    "{" ".join(command.words)}")', *_cases(command)]
    lines += ["    *) return ;;", "  esac"]
    choices = [line for command in all_commands for line in _choices(command)]
    return (
        _HEAD
        + "\n".join(lines)
        + "\n"
        + _RUN
        + "\n".join(['  case "$command $prev" in', *choices, "  esac"])
        + "\n"
        + _TAIL
    )
