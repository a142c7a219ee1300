# SPDX-License-Identifier: BSD-3-Clause
"""The page that `oriel run --report` makes of a program of programs/c, on two ranks of MPICH. It is
made with the site, so it is always the page of the program that the guide shows: `scripts/docs`
reads all pages anew, so no dependency on the program or the package is noted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from docutils import nodes
from oriel.hosts.host import HostError, find_host
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

REPOSITORY = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 120


class ReportPage(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        page = Path(self.env.app.outdir) / "reports" / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        try:
            make_page(name, page)
        except (HostError, OSError, subprocess.SubprocessError) as error:
            words = getattr(error, "output", None) or ""
            raise ExtensionError(f"No report of {name} can be made: {error}\n{words}") from error
        up = "../" * self.env.docname.count("/")
        source = f"{up}reports/{name}.html"
        frame = f'<iframe class="report" src="{source}" title="The report of {name}"></iframe>'
        return [nodes.raw("", frame, format="html")]


def make_page(name: str, page: Path) -> None:
    host = find_host("mpich")
    _, environment = host.command(1, [], preload=False)
    environment = {**os.environ, **environment, "PYTHONPATH": str(REPOSITORY / "python")}
    with TemporaryDirectory() as folder:

        def call(*words: str | Path) -> None:
            subprocess.run(
                [str(word) for word in words],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LIMIT_SECONDS,
                check=True,
            )

        source = REPOSITORY / "programs" / "c" / f"{name}.c"
        library = [host.library, f"-Wl,-rpath,{host.library.parent}", "-lm"]
        include = REPOSITORY / "include"
        call(
            host.prefix / "bin" / "mpicc", "-g", "-O2", "-I", include, source, "-o", name, *library
        )
        run = ("run", "-n", "2", "--mpi", "mpich", "--report", f"./{name}")
        call(sys.executable, "-m", "oriel", *run)
        shutil.copy(Path(folder) / "oriel-report" / "index.html", page)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("report-page", ReportPage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
