# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check-names finds comments that name what is not there."""

from __future__ import annotations

import pytest
from support.scripts import load_script

CODE = """
namespace oriel {
template <typename Words>
struct alignas(64) BasicBlock { int word; /* BasicBlock::gone */ };
using Block = BasicBlock<Shared>;
class [[nodiscard]] Base { public: void sweep(); };
class Derived final : public Base { enum class State : char { open }; void wait(); };
void Derived::wait() { const char* text = "// Derived::quoted"; char c = '"'; }
std::uint64_t large = 1'000'000'000;
}  // namespace oriel, see Derived::last
"""
FILES = {"src/core/block.hpp", "docs/block_names.md", "mpi.h"}


@pytest.fixture(scope="module")
def script():
    return load_script("check-names")


@pytest.fixture(scope="module")
def names(script):
    code, _ = script.split(CODE)
    found = script.Names()
    found.add(code)
    return found


def test_comments_are_told_from_code(script):
    code, comments = script.split(CODE)
    assert comments == [
        (4, "/* BasicBlock::gone */"),
        (10, "// namespace oriel, see Derived::last"),
    ]
    assert "quoted" not in code and "large" in code


@pytest.mark.parametrize(
    "comment",
    [
        "Block::word and BasicBlock::word, oriel::Block::word",
        "Derived::sweep() of the base, Derived::wait, State::open, Derived::State::open",
        "std::vector::reserve, testing::Test",
        "wait() and sweep()",
        "core/block.hpp, block.hpp, mpi.h and names that end in _names.h",
    ],
)
def test_what_exists_passes(script, names, comment):
    assert not list(script.faults(comment, names, FILES))


@pytest.mark.parametrize(
    ("comment", "name"),
    [
        ("see Block::gone", "Block::gone"),
        ("see Gone::wait()", "Gone::wait"),
        ("Base::wait is the derived class's", "Base::wait"),
        ("Derived::quoted is a string's", "Derived::quoted"),
        ("see gone()", "gone()"),
        ("transport/block.hpp", "transport/block.hpp"),
        ("ock.hpp", "ock.hpp"),
    ],
)
def test_what_is_gone_is_found(script, names, comment, name):
    assert list(script.faults(f"A line.\n// {comment}", names, FILES)) == [(1, name)]


def test_banned_words_are_parts_of_names(script):
    code = (
        '#include "look/place.hpp"\nint look_at, lookup; struct NotedPiece {}; place_(replace());'
    )
    assert script.banned(code, {"look", "noted", "place"}) == ["NotedPiece", "look_at", "place_"]
