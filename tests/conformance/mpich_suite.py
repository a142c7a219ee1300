# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own tests of one-sided communication, from the source of Debian's package, which is
fetched from the mirror that apt uses. They are made for any MPI."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from oriel.hosts.host import Host

VERSION = "4.0.2"
ARCHIVE = f"pool/main/m/mpich/mpich_{VERSION}.orig.tar.xz"
SHA256 = "b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860"
NAME = f"MPICH {VERSION}'s tests"

# Those about one-sided communication, behind what they are linked with.
LIBRARIES = ("util", "dtpools")
FOLDERS = ("rma", "errors/rma", "threads/rma")
OPTIONS = (
    "--disable-fortran",
    "--disable-cxx",
    "--without-cuda",
    "--without-hip",
    "--without-ze",
)
FETCH_SECONDS = 300
BUILD_SECONDS = 900


class Missing(Exception):
    """Why there are no tests here."""


@dataclasses.dataclass(frozen=True)
class Test:
    name: str
    command: tuple[str, ...]
    ranks: int
    environment: dict[str, str]


def source(folder: Path) -> Path:
    """The folder of the tests' source, fetched once."""
    unpacked = folder / f"mpich-{VERSION}" / "test" / "mpi"
    if unpacked.is_dir():
        return unpacked
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / Path(ARCHIVE).name
    if not archive.exists():
        _fetch(archive)
    wanted = (f"mpich-{VERSION}/test/mpi/", f"mpich-{VERSION}/confdb/")
    with (
        tarfile.open(archive) as opened,
        tempfile.TemporaryDirectory(dir=folder) as unfinished,
    ):
        members = [each for each in opened if each.name.startswith(wanted)]
        # Debian 12's Python, 3.11.2, has no filters yet.
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        opened.extractall(unfinished, members, **safe)
        (Path(unfinished) / f"mpich-{VERSION}").rename(folder / f"mpich-{VERSION}")
    return unpacked


def _mirrors() -> list[str]:
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    try:
        listed = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        raise Missing("there is no apt here to tell where Debian's sources are") from error
    return list(dict.fromkeys(listed.stdout.split()))


def _fetch(archive: Path) -> None:
    for mirror in _mirrors():
        try:
            with urllib.request.urlopen(mirror + ARCHIVE, timeout=FETCH_SECONDS) as opened:
                content = opened.read()
        except urllib.error.URLError:
            continue
        if hashlib.sha256(content).hexdigest() == SHA256:
            archive.write_bytes(content)
            return
    raise Missing(f"no mirror that apt uses has {ARCHIVE}")


def build(host: Host, folder: Path) -> Path:
    """The folder of the programs for this MPI's ABI, built once."""
    sources = source(folder)
    built = folder / host.name
    stamp = built / ".built"
    if stamp.exists():
        return built
    built.mkdir(exist_ok=True)
    environment = {**os.environ, "PATH": f"{host.prefix / 'bin'}:{os.environ['PATH']}"}
    make = ["make", "--keep-going", f"-j{os.cpu_count()}", "-C"]
    steps = [[str(sources / "configure"), f"--with-mpi={host.prefix}", *OPTIONS]]
    steps += [[*make, part] for part in (*LIBRARIES, *FOLDERS)]
    with (built / "build.log").open("w") as log:
        for words in steps:
            try:
                ended = subprocess.run(
                    words,
                    cwd=built,
                    env=environment,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=BUILD_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired as slow:
                raise Missing(f"'{' '.join(words)}' takes too long; see {log.name}") from slow
            # A program that an MPI's header cannot compile is no reason to leave out the others.
            if ended.returncode != 0 and words[-1] not in FOLDERS:
                raise Missing(f"'{' '.join(words)}' fails; see {log.name}")
    if not any(tests(built, folder)):
        raise Missing(f"none could be built; see {log.name}")
    stamp.touch()
    return built


def tests(built: Path, folder: Path) -> Iterator[Test]:
    """As the suite lists them, but for those that need gigabytes: a program, the number of its
    ranks, and more words."""
    for part in FOLDERS:
        for line in dict.fromkeys(_lines(built / part, source(folder) / part)):
            words = line.split("#")[0].split()
            more = [word.partition("=")[::2] for word in words[2:]]
            if not words or not (built / part / words[0]).is_file() or "mem" in dict(more):
                continue
            arguments = [value for key, value in more if key == "arg"]
            variables = [value.partition("=")[::2] for key, value in more if key == "env"]
            yield Test(
                " ".join([words[0], *arguments, f"on {words[1]}"]),
                (str(built / part / words[0]), *arguments),
                int(words[1]),
                dict(variables),
            )


def _lines(*folders: Path) -> Iterator[str]:
    """Of the lists, of which configure writes some and others are in the source."""
    for name in ("testlist", "testlist.dtp"):
        found = [folder / name for folder in folders if (folder / name).is_file()]
        yield from found[0].read_text(encoding="utf-8").splitlines() if found else ()
