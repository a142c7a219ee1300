# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran module (G10): it has every call of the table, and programs that use it run on each
MPI that has mpi_f08."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fortran
import generate
import pytest
import table as calls_table
from conftest import REPOSITORY, output_of
from system_mpis import has_f08, hosts_named, wrapper

SOURCES = Path(__file__).resolve().parent / "fortran"
TABLE = calls_table.Table(calls_table.TABLE.read_text(encoding="utf-8"))
CALLS = {call.name: call for call in fortran.ours(TABLE)}
LIMIT_SECONDS = 120
WARNINGS = ("-std=f2018", "-Wall", "-Wextra", "-Werror", "-O2")

# A tool's, which wraps a call of C.
TOOL = """\
#include <oriel/profiling.h>
#include <stdio.h>
int ORIEL_Put_notify(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Win win, int tag) {
  static int seen = 0;
  if (seen++ == 0) printf("the tool has seen a put\\n");
  return PORIEL_Put_notify(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                           target_count, target_datatype, win, tag);
}
"""


@dataclasses.dataclass(frozen=True)
class Toolchain:
    """An MPI with mpi_f08, and the module compiled for it."""

    host: object
    compiler: str
    c_compiler: str
    folder: Path

    def compile(self, source: Path, *words, to: str = "program") -> Path:
        call = [self.compiler, *WARNINGS, f"-I{self.folder}", f"-I{SOURCES}", source, *words]
        call += [self.folder / "oriel.o", "-o", self.folder / to, *self.linked()]
        output_of([str(word) for word in call], self.environment(), LIMIT_SECONDS, self.folder)
        return self.folder / to

    def linked(self) -> list:
        return [self.host.library, f"-Wl,-rpath,{self.host.library.parent}"]

    def environment(self) -> dict[str, str]:
        return self.host.command(2, [], preload=False)[1]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """What the script makes of the table."""
    folder = tmp_path_factory.mktemp("calls")
    subprocess.run([sys.executable, generate.__file__, folder, "0.1.0"], check=True, timeout=60)
    return folder


@pytest.fixture(scope="module", params=("mpich", "openmpi"))
def toolchain(request, made, tmp_path_factory) -> Toolchain:
    name = request.param
    if request.config.getoption("sanitized"):
        pytest.skip("The library with sanitizers is not built for every MPI that has mpi_f08.")
    if shutil.which("gfortran") is None:
        pytest.skip("There is no gfortran on this machine.")
    for host in hosts_named(name):
        folder = tmp_path_factory.mktemp(name)
        if not has_f08(host, folder):
            continue
        compilers = [str(wrapper(host, each)) for each in ("mpifort", "mpicc")]
        if not host.library.is_file():
            pytest.skip(f"The library for {host.title}, {host.library}, is not built.")
        found = Toolchain(host, *compilers, folder)
        for source in (made / "fortran" / "oriel.f90", SOURCES / "checks.f90"):
            words = [compilers[0], *WARNINGS, "-c", source, "-o", f"{source.stem}.o"]
            output_of([str(word) for word in words], found.environment(), LIMIT_SECONDS, folder)
        return found
    pytest.skip(f"No {name} on this machine has mpi_f08 for its Fortran compiler.")


def expect_ok(job, toolchain, program, ranks, settings=None) -> str:
    status, output = job.run_command(toolchain.host, [program], ranks, settings)
    assert status == 0 and "ok: " in output, output[-4000:]
    return output


@pytest.mark.parametrize("name", ("epochs", "notified"))
def test_program(job, toolchain, name):
    program = toolchain.compile(SOURCES / f"{name}.f90", toolchain.folder / "checks.o", to=name)
    expect_ok(job, toolchain, program, 2)


@pytest.mark.parametrize("ranks", (1, 2, 3))
def test_example(job, toolchain, ranks):
    program = toolchain.compile(REPOSITORY / "programs" / "fortran" / "ring.f90", to="ring")
    expect_ok(job, toolchain, program, ranks)


@pytest.mark.parametrize("name", ("counters", "late_target"))
def test_guide_program(job, toolchain, name):
    source = REPOSITORY / "programs" / "fortran" / f"{name}.f90"
    expect_ok(job, toolchain, toolchain.compile(source, to=name), 2)


def test_tools_see_the_calls(job, toolchain, made):
    """The module calls the functions by the names that tools wrap."""
    folder = toolchain.folder
    (folder / "tool.c").write_text(TOOL, encoding="utf-8")
    words = [toolchain.c_compiler, "-shared", "-fPIC", "tool.c", "-o", "tool.so"]
    words += [f"-I{REPOSITORY / 'include'}", f"-I{made / 'include'}"]
    output_of(words, toolchain.environment(), LIMIT_SECONDS, folder)
    program = toolchain.compile(REPOSITORY / "programs" / "fortran" / "ring.f90", to="ring")
    # Before the library.
    command = ["env", f"LD_PRELOAD={folder / 'tool.so'}:{toolchain.host.library}", program]
    status, output = job.run_command(toolchain.host, command, 2)
    assert status == 0 and "ok: " in output, output[-4000:]
    assert "the tool has seen a put" in output


def test_constants_are_those_of_the_headers(toolchain, made):
    """Also those that depend on how long the MPI lets keys be."""
    folder = toolchain.folder
    names = {
        each.name: each.value.startswith('"')
        for header in sorted({call.group.header for call in CALLS.values()})
        for each in fortran.read_constants(
            (calls_table.HEADERS.parent / header).read_text(encoding="utf-8")
        )
    }
    assert len(names) > 15
    lines = [f'printf("%{"s" if text else "d"}\\n", {name});' for name, text in names.items()]
    main = "#include <oriel/oriel.h>\n#include <stdio.h>\nint main(void) {\n"
    text = main + "\n".join(lines) + "\nreturn 0;\n}\n"
    (folder / "constants.c").write_text(text, encoding="utf-8")
    words = [toolchain.c_compiler, "constants.c", f"-I{REPOSITORY / 'include'}", "-o", "in_c"]
    output_of(words, toolchain.environment(), LIMIT_SECONDS, folder)
    lines = [f'print "({"a" if text else "i0"})", {name}' for name, text in names.items()]
    text = "program constants\nuse oriel\n" + "\n".join(lines) + "\nend program\n"
    (folder / "constants.f90").write_text(text, encoding="utf-8")
    program = toolchain.compile(folder / "constants.f90", to="in_fortran")
    preloaded = {**toolchain.environment(), "LD_PRELOAD": str(toolchain.host.library)}
    printed = [output_of([str(each)], preloaded, 60) for each in (folder / "in_c", program)]
    assert printed[0] == printed[1]


def procedures(source: str) -> dict[str, list[str]]:
    """The procedures of the module and their arguments, by name."""
    flat = re.sub(r"&\n\s*", "", source.partition("\ncontains\n")[2])
    found = re.findall(r"^  (?:subroutine|function) (\w+)\(([^)]*)\)", flat, re.M)
    return {name: [word.strip() for word in words.split(",") if word] for name, words in found}


def test_the_module_has_every_call(made):
    """With the table's names of arguments, which are keywords."""
    source = (made / "fortran" / "oriel.f90").read_text(encoding="utf-8")
    found = procedures(source)
    assert found.pop("address_in_c") == ["buffer"]
    expected = {
        name: [*[each.name for each in call.parameters], *(["ierror"] if call.parameters else [])]
        for name, call in CALLS.items()
    }
    assert found == expected
    declared = {call for header in calls_table.HEADERS.glob("*.h") for call in prototypes(header)}
    assert {name for name in declared if name.startswith("ORIEL_")} == set(expected)
    public = re.search(r"  public :: (.*?)\n\n", source, re.S)[1].replace("&\n", "")
    assert set(expected) <= {word.strip() for word in public.split(",")}


def prototypes(header: Path) -> list[str]:
    return re.findall(r"^int (\w+)\(", header.read_text(encoding="utf-8"), re.M)


def test_the_programs_call_every_call():
    """Those with large counts by the generic name, in the part that runs with both kinds."""
    text = {path.name: path.read_text(encoding="utf-8") for path in SOURCES.iterdir()}
    twice = text["counted.inc"]
    assert twice and text["notified.f90"].count('include "counted.inc"') == 2
    for name, call in CALLS.items():
        where = twice if call.large else "".join(text.values())
        assert re.search(rf"\b{name.removesuffix('_c')}\(", where), name
