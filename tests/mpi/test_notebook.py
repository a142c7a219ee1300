# SPDX-License-Identifier: BSD-3-Clause
"""The notebook of programs/python, executed as Jupyter does, on two engines of ipyparallel."""

from __future__ import annotations

import importlib.util
import os
import sys

import pytest
from conftest import LIMIT_SECONDS, NO_SLEEP, REPOSITORY, SAME

NOTEBOOK = REPOSITORY / "programs" / "python" / "two_engines.ipynb"
PACKAGES = ("ipykernel", "ipyparallel", "mpi4py", "nbclient", "numpy")

missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(missing), reason=f"{sys.executable} has no {', '.join(missing)}: `make setup` installs it"
)


@pytest.fixture
def jupyter(host, tmp_path, monkeypatch):
    """A user's environment: the command on PATH, and settings of Jupyter in an empty folder. At the
    end nothing that was started in it is left."""
    import psutil

    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    # The tests' Python belongs to no MPI.
    (profile / "ipcluster_config.py").write_text(
        f'c.MPILauncher.mpi_args = ["--mpi", "{host.name}"]\nc.Cluster.delay = 0.1\n',
        encoding="utf-8",
    )
    # Engines are there when they have answered twice; every three seconds would be its default.
    (profile / "ipcontroller_config.py").write_text(
        "c.HeartMonitor.period = 500\n", encoding="utf-8"
    )
    variables = {
        **{f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")},
        **SAME,
        **NO_SLEEP,
        "IPYTHONDIR": str(profile.parent),
        "MPI4PY_MPIABI": "openmpi" if host.name == "openmpi" else "mpich",
        "PATH": f"{REPOSITORY / 'build' / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY / "python"),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    yield tmp_path

    def started_here(process: psutil.Process) -> bool:
        try:
            return process.environ().get("IPYTHONDIR") == str(profile.parent)
        except psutil.Error:  # it has ended, or is another user's
            return False

    left = [each for each in psutil.process_iter() if started_here(each)]
    _, alive = psutil.wait_procs(left, timeout=LIMIT_SECONDS / 4)
    words = [" ".join(each.cmdline()) for each in alive]
    for each in alive:
        each.kill()
    assert not words


# Intel MPI's launcher is MPICH's.
@pytest.mark.hosts("mpich", "openmpi")
def test_notebook(jupyter):
    """Its cells assert what they compute."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells), "it has outputs"
    client = NotebookClient(
        notebook,
        timeout=LIMIT_SECONDS,
        startup_timeout=LIMIT_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(jupyter)}},
    )
    client.execute()
    printed = "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    assert "heat in the left half" in printed
    assert "the rank is not in the window's group" in printed
