# SPDX-License-Identifier: BSD-3-Clause
"""The components of `cmake --install`: together they are the installation, none has a file of
another, and each works without those that it does not need."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import folder_of
from test_install import PROGRAM, REPOSITORY, call, run_user_program

COMPONENTS = ("runtime", "development", "tools")
pytestmark = pytest.mark.hosts("openmpi")


def install(host, prefix: Path, *components: str) -> Path:
    """The whole, if no component is named."""
    words = ("cmake", "--install", REPOSITORY / "build", "--prefix", prefix)
    for component in components or [None]:
        call(host, *words, *(("--component", component) if component else ()))
    return prefix


def files(prefix: Path) -> set[str]:
    return {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}


def test_the_whole_and_its_parts(host, tmp_path):
    whole = files(install(host, tmp_path / "whole"))
    parts = [files(install(host, tmp_path / name, name)) for name in COMPONENTS]
    assert sorted(whole) == sorted(file for part in parts for file in part)
    for part, some in zip(
        parts,
        (
            {"lib/liboriel_openmpi.so"},
            {
                "include/oriel/oriel.h",
                "lib/pkgconfig/oriel-openmpi.pc",
                "share/man/man3/ORIEL_Put_notify.3",
            },
            {"bin/oriel", "bin/oriel-settings", "share/man/man1/oriel.1"},
        ),
    ):
        assert some <= part
    assert all(Path(file).suffix == ".so" for file in parts[0])


def test_a_program_needs_the_runtime_alone(host, tmp_path):
    prefix = install(host, tmp_path / "prefix", "runtime", "development")
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed")
    (tmp_path / "user.c").write_text(PROGRAM, encoding="utf-8")
    (package,) = prefix.glob("lib*/pkgconfig")
    ask = ("env", f"PKG_CONFIG_PATH={package}", "pkg-config", "--cflags", "--libs")
    flags = call(host, *ask, f"oriel-{host.name}").split()
    call(host, host.prefix / "bin" / "mpicc", "user.c", *flags, "-o", "user", cwd=tmp_path)
    shutil.rmtree(prefix)
    install(host, prefix, "runtime")
    run_user_program(host, tmp_path / "user")


def test_the_command_needs_the_runtime_alone(host, tmp_path):
    prefix = install(host, tmp_path / "prefix", "runtime", "tools")
    command = prefix / "bin" / "oriel"
    words = ("run", "-n", "2", "--mpi", host.name, folder_of(host) / "fence")
    assert "ok: " in call(host, command, *words)
    assert "ORIEL_SPIN" in call(host, prefix / "bin" / "oriel-settings")
