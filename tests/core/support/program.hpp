// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/operation/operation.hpp"
#include "core/window.hpp"

namespace oriel::test {

/// A window of the random programs is an array of 64-bit cells, the same on every rank:
///   sums     any rank adds to them at any time, 1 << (8 * rank): eight counters in a word
///   guarded  two cells that are only touched under an exclusive lock, or read under a shared one:
///            always equal, incremented together
///   claims   compare-and-swapped from zero to rank + 1 by whoever comes first
///   wholes   replaced, all of them and by one number, by any rank at any time: whoever fetches all
///            by one call finds them equal. So it is with `spread` cells, each behind a gap
///   own      `own` cells for each origin, which alone puts, gets, replaces and swaps there
struct Cells {
  static constexpr std::uint32_t sums = 6;
  static constexpr std::uint32_t guarded = 2;
  static constexpr std::uint32_t claims = 2;
  static constexpr std::uint32_t wholes = 5;
  static constexpr std::uint32_t spread = 5;
  static constexpr std::uint32_t own = 24;

  static constexpr std::uint32_t first_guarded = sums;
  static constexpr std::uint32_t first_claim = sums + guarded;
  static constexpr std::uint32_t first_whole = first_claim + claims;
  static constexpr std::uint32_t first_spread = first_whole + wholes;
  static constexpr std::uint32_t first_own = first_spread + 2 * spread;

  static constexpr std::uint32_t own_of(int origin) {
    return first_own + static_cast<std::uint32_t>(origin) * own;
  }
  static constexpr std::uint32_t count(int ranks) { return own_of(ranks); }
};

/// What an operation may fetch from one cell.
struct Expected {
  enum class What : std::uint8_t { exactly, counters, equal_to_first, claim };
  What what = What::exactly;
  std::uint64_t low = 0;  // exactly: the value; counters: the least value of each byte
  /// counters: whose byte is known exactly; -1: nobody's. The most is what the program adds in all.
  int exact_rank = -1;
};

/// One operation of a program.
struct Access {
  OperationKind kind = OperationKind::put;
  Op op = Op::replace;
  int window = 0;
  int target = 0;
  std::vector<std::uint32_t> cells;
  std::vector<std::uint64_t> values;  // for each cell; not for gets
  std::uint64_t compare = 0;
  std::vector<Expected> expected;  // for each cell; only if it fetches
  bool scattered_origin = false;   // every second word of the origin's memory
  bool resized_target = false;  // elements of one word, extents apart; else blocks of one element
  bool direct = false;          // try the way that the MPI layer's hot path goes
  int increments = -1;          // values: those fetched by this access, plus one
  int request = -1;             // of a request-based operation
};

struct Instruction {
  enum class Kind : std::uint8_t {
    post,
    start,
    complete,
    wait,
    test,
    fence,
    lock,
    unlock,
    lock_all,
    unlock_all,
    flush,
    flush_all,
    access,     // issue accesses[index]
    await,      // the request is complete
    await_all,  // all requests so far are
    settle,     // accesses[index] is over: look at what it fetched, overwrite its origin memory
    barrier,    // not MPI RMA: all ranks are here
    memory,     // our window memory is what `cells` says
    away        // the rank computes: it makes no calls for a while
  };
  Kind kind = Kind::access;
  int window = 0;
  int target = 0;
  int request = -1;  // of calls that may be posted
  int index = 0;
  bool blocking = true;
  bool exclusive = false;
  bool local = false;
  bool barrier = false;  // fence
  Assert assertion;
  std::vector<int> group;
  std::vector<std::uint64_t> cells;
};

/// An own cell has been changed by its origin in this epoch (numbered per origin and window; epochs
/// that are open at the same time share a number).
struct Change {
  std::uint64_t epoch = 0;
  std::uint64_t value = 0;
};

struct Program {
  int ranks = 0;
  int windows = 0;
  bool ordered = true;                         // no reorder key is set: epochs take effect in order
  std::vector<std::vector<Instruction>> code;  // by rank
  std::vector<std::vector<Access>> accesses;   // by rank
  std::vector<int> requests;                   // by rank: how many
  /// By window, target and cell; only own cells, only if `ordered`.
  std::vector<std::vector<std::vector<std::vector<Change>>>> changes;
  /// By window, rank and cell: what the memory holds in the end.
  std::vector<std::vector<std::vector<std::uint64_t>>> memory;
};

/// The four reorder keys as the bits of a number.
inline Reorder keys_of(unsigned bits) {
  return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
}

struct ProgramSpec {
  int ranks = 2;
  int windows = 1;
  Reorder reorder;
};

Program make_program(std::uint64_t seed, const ProgramSpec& spec);

std::string to_string(const Instruction& instruction);

}  // namespace oriel::test
