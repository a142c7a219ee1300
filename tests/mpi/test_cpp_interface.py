# SPDX-License-Identifier: BSD-3-Clause
"""The C++ interface: its headers compile alone and without warnings, functions make the calls of
their C form and no other, compilers warn of a result that is dropped, a failure neither is lost nor
leaves a window behind, and the documentation's code compiles. What the classes do is tested by
cpp_interface.cpp."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import REPOSITORY, output_of
from plan import LIBRARIES

INCLUDE = REPOSITORY / "include"
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.glob("oriel/**/*.hpp"))
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror")
LIMIT_SECONDS = 120
EXAMPLE = REPOSITORY / "programs" / "cpp" / "ring.cpp"
PAGES = ("README.md", "docs/cpp.md")

# Each function in C++ and in C, where an error is one branch as well: the calls that both make, the
# parameters and body of both, and how many instructions C++ may have more: two are a compiler's
# choice; an epoch and a request are objects, and a status is cleared.
DOUBLES = "const oriel::window<double>& w, const double& x, int t, MPI_Aint d"
IN_C = "MPI_Win* w, const double* x, int t, MPI_Aint d"
PUT = "check(MPI_Put(x, 1, MPI_DOUBLE, t, d, 1, MPI_DOUBLE, *w));"


@dataclass(frozen=True)
class Pair:
    calls: tuple[str, ...]
    parameters: str
    body: str
    parameters_in_c: str
    body_in_c: str
    more: int = 2


PAIRS = {
    "put_flush": Pair(
        ("MPI_Put", "MPI_Win_flush"),
        DOUBLES,
        "w.put(x, t, d); w.flush(t);",
        IN_C,
        f"{PUT} check(MPI_Win_flush(t, *w));",
    ),
    "accumulate_vector": Pair(
        ("MPI_Accumulate", "MPI_Win_flush_local_all"),
        "const oriel::window<double>& w, std::span<const double> x, int t, MPI_Aint d",
        "w.accumulate(x, t, d, MPI_SUM); w.flush_local_all();",
        "MPI_Win* w, const double* x, size_t n, int t, MPI_Aint d",
        "if (n > INT_MAX) give_up(MPI_ERR_COUNT);"
        "check(MPI_Accumulate(x, (int)n, MPI_DOUBLE, t, d, (int)n, MPI_DOUBLE, MPI_SUM, *w));"
        "check(MPI_Win_flush_local_all(*w));",
    ),
    "locked_put": Pair(
        ("MPI_Win_lock", "MPI_Put", "MPI_Win_unlock"),
        DOUBLES,
        "oriel::lock_epoch epoch(w, MPI_LOCK_SHARED, t); w.put(x, t, d);",
        IN_C,
        f"check(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, *w)); {PUT} check(MPI_Win_unlock(t, *w));",
        more=12,
    ),
    "rput_wait": Pair(
        ("MPI_Rput", "MPI_Wait"),
        DOUBLES,
        "w.rput(x, t, d).wait();",
        IN_C,
        "MPI_Request r; check(MPI_Rput(x, 1, MPI_DOUBLE, t, d, 1, MPI_DOUBLE, *w, &r));"
        "check(MPI_Wait(&r, MPI_STATUS_IGNORE));",
        more=15,
    ),
    "put_notify": Pair(
        ("ORIEL_Put_notify",),
        DOUBLES,
        "w.put_notify(x, t, d, 3);",
        IN_C,
        "check(ORIEL_Put_notify(x, 1, MPI_DOUBLE, t, d, 1, MPI_DOUBLE, *w, 3));",
    ),
    "await": Pair(
        ("MPI_Start", "MPI_Wait"),
        "oriel::persistent_notify_request& n",
        "n.start(); n.wait();",
        "MPI_Request* n",
        "MPI_Status s; check(MPI_Start(n)); check(MPI_Wait(n, &s));",
        more=5,
    ),
}

# The destructor of an epoch that another call has closed.
TERMINATE = """\
#include <oriel/oriel.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::set_terminate([] {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const oriel::error& error) {
      std::printf("terminate: %d %s\\n", error.error_class() == MPI_ERR_RMA_SYNC, error.what());
      std::fflush(stdout);
    }
    MPI_Abort(MPI_COMM_WORLD, 3);
    std::abort();
  });
  const auto window = oriel::window<int>::allocate(1, MPI_COMM_WORLD);
  oriel::lock_epoch epoch(window, MPI_LOCK_SHARED, 0);
  MPI_Win_unlock(0, window.native());
}
"""

# A window whose error handler cannot be set. MPI_Win_free is counted.
FAILED_OWNER = """\
#include <oriel/oriel.hpp>
#include <cstdio>
int freed = 0;
int MPI_Win_set_errhandler(MPI_Win, MPI_Errhandler) { return MPI_ERR_OTHER; }
int MPI_Win_free(MPI_Win* window) {
  ++freed;
  return PMPI_Win_free(window);
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    const auto window = oriel::window<int>::allocate(1, MPI_COMM_WORLD);
  } catch (const oriel::error& error) {
    std::printf("class %d, freed %d\\n", error.error_class() == MPI_ERR_OTHER, freed);
  }
  MPI_Finalize();
}
"""

# What returns a request or an owner, with a result that the program drops.
DROPPED = (
    "w.iflush(1)",
    "w.iflush_all()",
    "w.iflush_local(1)",
    "w.iflush_local_all()",
    "w.rput(x, 1, 0)",
    "w.rput_notify(x, 1, 0, 1)",
    "w.notify_init(1, 1)",
    "w.wait_notify(1)",
    "w.get_notify_request(0, 1)",
    "w.dup_with_info(MPI_INFO_NULL)",
    "oriel::window<double>::allocate(1, MPI_COMM_SELF)",
    "oriel::window<double>::allocate_shared(1, MPI_COMM_SELF)",
    "oriel::window<double>::create({}, MPI_COMM_SELF)",
    "oriel::window<double>::from_memhandle({}, 1, 0, w)",
    "oriel::dynamic_window::create(MPI_COMM_SELF)",
    "oriel::lock_epoch(w, MPI_LOCK_SHARED, 1).iunlock()",
)

# What the documentation's blocks of code use.
BLOCK_HEAD = """\
#include <oriel/oriel.hpp>
#include <vector>
void work_that_needs_none_of_it();
void f(std::size_t n, int target, int left, int right, int tag, const std::vector<double>& edge) {
"""


# Each compiler, standard and kind of handle once.
COMPILERS = {"mpich": ("g++", "-std=c++23"), "openmpi": ("clang++", "-std=c++20")}


@pytest.fixture
def compiler(host) -> tuple[str, str]:
    """A compiler and its standard of C++."""
    name, standard = COMPILERS[host.name]
    if shutil.which(name) is None:
        pytest.skip(f"There is no {name} on this machine.")
    return name, standard


def compile_file(host, compiler: tuple[str, str], source: Path, *words):
    call = [*compiler, "-I", INCLUDE, "-isystem", host.prefix / "include"]
    call += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", *words, source]
    return output_of([str(word) for word in call], None, LIMIT_SECONDS)


@pytest.mark.hosts("mpich")
@pytest.mark.parametrize("header", HEADERS)
def test_header_alone(host, tmp_path, header):
    source = tmp_path / "alone.cpp"
    source.write_text(f"#include <{header}>\n", encoding="utf-8")
    compile_file(host, ("g++", "-std=c++20"), source, "-fsyntax-only", *WARNINGS)


@pytest.mark.hosts(*LIBRARIES)
def test_no_warnings(host, compiler):
    source = Path(__file__).parent / "cpp_interface.cpp"
    words = ("-fsyntax-only", "-I", source.parent, *WARNINGS)
    compile_file(host, compiler, source, *words)


@pytest.mark.hosts(*LIBRARIES)
def test_results_that_are_dropped(host, tmp_path, compiler):
    """A request that is dropped waits in its destructor, and an owner ends what it owns."""
    source = tmp_path / "dropped.cpp"
    head = "#include <oriel/oriel.hpp>\nvoid f(const oriel::window<double>& w, const double& x) {\n"
    source.write_text(head + "".join(f"{call};\n" for call in DROPPED) + "}\n", encoding="utf-8")
    said = compile_file(host, compiler, source, "-fsyntax-only", "-Wunused")
    warned = [int(line) for line in re.findall(r"dropped\.cpp:(\d+):\d+: warning", said)]
    assert warned == list(range(3, 3 + len(DROPPED))), said


def instructions(objects: Path) -> dict[str, list[str]]:
    """The instructions of each function up to its first return, which are those of the path on
    which no branch is taken; a call with the name that it calls."""
    listing = output_of(["objdump", "-dr", "--no-show-raw-insn", str(objects)], None, 60)
    found: dict[str, list[str]] = {}
    name = None
    for line in listing.splitlines():
        head = re.match(r"[0-9a-f]+ <(\w+)>:$", line)
        called = re.match(r"\s+[0-9a-f]+: R_X86_64_PLT32\s+(\w+)", line)
        instruction = re.match(r"\s+[0-9a-f]+:\t(\S+)", line)
        if head:
            name = head.group(1)
            found[name] = []
        elif name and called:
            found[name][-1] += f" {called.group(1)}"
        elif name and instruction:
            found[name].append(instruction.group(1))
            if instruction.group(1).startswith("ret"):
                name = None
    return found


@pytest.mark.hosts(*LIBRARIES)
def test_machine_code(host, tmp_path, compiler):
    """Without an error a function makes C's calls and no other one, and thus allocates nothing. A
    nonblocking epoch also completes the request that has opened it."""
    cpp = '#include <oriel/oriel.hpp>\n#include <span>\nextern "C" {\n'
    c = "#include <oriel/oriel.h>\n#include <limits.h>\n#include <stddef.h>\n"
    c += 'extern "C" {\n[[noreturn, gnu::cold]] void give_up(int);\n'
    c += "static inline void check(int code) { if (code != MPI_SUCCESS) give_up(code); }\n"
    for name, pair in PAIRS.items():
        cpp += f"void {name}({pair.parameters}) {{ {pair.body} }}\n"
        c += f"void {name}({pair.parameters_in_c}) {{ {pair.body_in_c} }}\n"
    made = []
    for stem, text in (("cpp", cpp), ("c", c)):
        source, objects = tmp_path / f"{stem}.cpp", tmp_path / f"{stem}.o"
        source.write_text(text + "}\n", encoding="utf-8")
        compile_file(host, compiler, source, "-O2", "-c", "-o", objects)
        made.append(instructions(objects))
    for name, pair in PAIRS.items():
        for each in made:
            calls = [line.split()[-1] for line in each[name] if line.startswith("call")]
            assert calls == list(pair.calls)
            assert not [line for line in each[name] if line.startswith("jmp")]
        ours, c_only = (len(each[name]) for each in made)
        assert ours <= c_only + pair.more, f"{name}: {ours} instructions, C has {c_only}"


def test_weak_calls_are_all():
    """With ORIEL_WEAK a program may call every function of the C headers."""
    declared = set()
    for path in INCLUDE.glob("oriel/*.h"):
        declared |= set(re.findall(r"^int (ORIEL_\w+)\(", path.read_text(encoding="utf-8"), re.M))
    text = (INCLUDE / "oriel" / "cpp" / "weak.hpp").read_text(encoding="utf-8")
    assert set(re.findall(r"^#pragma weak (\w+)$", text, re.M)) == declared


def build(host, source: Path, program: Path, *linked):
    """As a user does."""
    call = [host.prefix / "bin" / "mpicxx", "-std=c++20", *WARNINGS, "-I", INCLUDE, source]
    call += ["-o", program, *linked]
    environment = host.command(1, [], preload=False)[1]
    output_of([str(word) for word in call], environment, LIMIT_SECONDS)


@pytest.mark.parametrize("ranks", (1, 2, 3))
def test_example(job, host, tmp_path_factory, ranks):
    program = tmp_path_factory.getbasetemp() / f"ring-{host.name}"
    if not program.is_file():
        build(host, EXAMPLE, program, host.library, f"-Wl,-rpath,{host.library.parent}")
    status, output = job.run_command(host, [program], ranks)
    assert status == 0 and output.count("ok: ") == ranks, output[-4000:]


@pytest.mark.hosts("mpich")
def test_documentation(host, tmp_path):
    """Each block of code is a part of the example, which test_example runs, or compiles."""
    program = EXAMPLE.read_text(encoding="utf-8")
    parts, source = 0, BLOCK_HEAD
    for page in PAGES:
        text = (REPOSITORY / page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```c\+\+\n(.*?)^```", text, re.S | re.M)
        assert blocks, page
        for block in blocks:
            if block in program:
                parts += 1
            else:
                block = re.sub(r"^#include <oriel/oriel.hpp>$", "", block, flags=re.M)
                source += f"{{\n{block}}}\n"
    assert parts, "docs/cpp.md no longer shows the example"
    (tmp_path / "blocks.cpp").write_text(source + "}\n", encoding="utf-8")
    words = ("-fsyntax-only", "-Wall", "-Werror")
    compile_file(host, ("g++", "-std=c++20"), tmp_path / "blocks.cpp", *words)


def run_without_oriel(job, host, folder: Path, text: str) -> tuple[int, str]:
    """A program of MPI's calls alone, which is linked without Oriel."""
    (folder / "program.cpp").write_text(text, encoding="utf-8")
    build(host, folder / "program.cpp", folder / "program")
    return job.run_command(host, [folder / "program"], 1)


@pytest.mark.hosts("mpich")
def test_error_of_a_destructor(job, host, tmp_path):
    status, output = run_without_oriel(job, host, tmp_path, TERMINATE)
    assert status != 0
    assert re.search(r"terminate: 1 MPI_Win_unlock", output), output[-4000:]


@pytest.mark.hosts("mpich")
def test_a_window_that_cannot_be_owned_is_freed(job, host, tmp_path):
    status, output = run_without_oriel(job, host, tmp_path, FAILED_OWNER)
    assert status == 0 and "class 1, freed 1" in output, output[-4000:]
