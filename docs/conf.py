# SPDX-License-Identifier: BSD-3-Clause
"""The documentation's site, which `make docs` builds. Pages are Markdown; what the reference lists
comes from the headers, the table of calls, the Python package and the library's settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import mpi4py

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / folder) for folder in ("docs", "python", "src/mpi/calls")]

from oriel import __version__  # noqa: E402
from oriel.hosts.host import find_host  # noqa: E402

project = "Oriel"
version = release = __version__
language = "en"
html_title = f"Oriel {release}"
project_copyright = ""

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "directives.call_reference",
    "directives.cpp_header",
    "directives.events",
    "directives.report_page",
    "directives.settings",
]
exclude_patterns = ["directives"]
source_suffix = {".md": "markdown"}

# Markdown as GitHub shows it, which has these pages without a build.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# Warnings are errors, and so are references that lead nowhere, but for those to MPI and to Python's
# packages, whose documentation is not at hand where there is no network.
nitpicky = True
nitpick_ignore_regex = [
    ("c:identifier", r"MPI_\w+"),
    ("py:.*", r"(mpi4py|MPI|collections\.abc)\..*"),
    ("py:class", r"Buf\w+|InPlace|TargetSpec|oriel\.rma\.request\.(AnyRequest|Persistent)"),
]

# The calls in Python are imported, with an MPI library that is not initialized.
os.environ["MPI4PY_LIBMPI"] = str(find_host("mpich").mpi_library())
mpi4py.rc.initialize = False
autodoc_member_order = "bysource"
# By the names of mpi4py.typing: each is a union of six types or more.
autodoc_type_aliases = {
    name: name
    for name in ("Buffer", "BufSpec", "BufSpecB", "BufSpecV", "BufSpecW", "InPlace", "TargetSpec")
}
autodoc_preserve_defaults = True
add_module_names = False
add_function_parentheses = False

html_theme = "furo"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
pygments_style = "friendly"
highlight_language = "none"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
