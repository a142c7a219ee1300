# SPDX-License-Identifier: BSD-3-Clause
"""Writes the man pages and completion scripts of the command below a folder, as they are installed
below share. The build calls it; Python's standard library is all that it needs."""

from __future__ import annotations

import sys
from pathlib import Path

from oriel.cli import command_line, commands, completion, man_page

# Where each shell looks.
_COMPLETIONS = {
    "bash": "bash-completion/completions/oriel",
    "zsh": "zsh/site-functions/_oriel",
    "fish": "fish/vendor_completions.d/oriel.fish",
}


def files() -> dict[str, str]:
    """Texts, by their paths."""
    found = command_line.read(commands.COMMANDS)
    scripts = {_COMPLETIONS[name]: each.script(found) for name, each in completion.SHELLS.items()}
    pages = {f"man/man1/{name}": text for name, text in man_page.pages(found).items()}
    return {**pages, **scripts}


def main(folder: Path) -> None:
    texts = files()
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in (folder / "man" / "man1").iterdir():
        if f"man/man1/{path.name}" not in texts:  # of a command that is no more
            path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
