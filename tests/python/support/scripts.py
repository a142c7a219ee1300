# SPDX-License-Identifier: BSD-3-Clause
"""Python programs of the folder scripts as modules: their names have no ending."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


def load_script(name: str) -> ModuleType:
    loader = SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module  # where dataclasses look for it
    if str(SCRIPTS) not in sys.path:
        sys.path.append(str(SCRIPTS))  # a script finds its neighbours there
    loader.exec_module(module)
    return module
