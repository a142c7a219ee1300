// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "memory.hpp"
#include "program.hpp"

namespace oriel::model {

/// What a search has found.
struct Result {
  std::string violation;  // empty: none
  std::string trace;      // the shortest way there, a step a line
  std::uint64_t states = 0;
  std::uint64_t steps = 0;  // between them
  std::size_t nodes = 0;    // of the programs' graphs
  bool complete = true;     // the whole space has been seen
};

/// How a rank begins: one step, or all up to one that is described so ("store locked[0] = 2"). Each
/// load reads what is newest.
struct Lead {
  int rank = 0;
  std::string until;
};

struct Bounds {
  int ranks = 2;
  int kills = 0;  // ranks killed at most, each before any of its steps
  std::uint64_t most_states = 20'000'000;
  std::vector<Lead> leads;  // where the search begins
};

/// Searches all that the ranks can do, breadth first: each order of their steps, each message that
/// each load may read. A state is visited once. A violation is a race, a failed expectation of a
/// program or of `at_end` (all ranks finished), or a state from which the ranks that live cannot
/// all finish any more, however lucky: a lost wake-up, a lost grant, a loop for ever.
Result search(Programs& programs, const Bounds& bounds,
              const std::function<std::string(State&)>& at_end);

}  // namespace oriel::model
