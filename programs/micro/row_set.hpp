// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace micro {

/// The rows of one run. Messages have a run of their own: a program without windows must not pay
/// for the library, and after the first window it is no longer such a program.
enum class RowSet { usual, operations, sizes, vectors, dynamic, contended, messages };

inline constexpr std::array<std::pair<std::string_view, RowSet>, 7> row_sets{{
    {"usual", RowSet::usual},
    {"operations", RowSet::operations},  // every operation in every kind of synchronization
    {"sizes", RowSet::sizes},            // accumulates of 1 to 8192 elements
    {"vectors", RowSet::vectors},        // of MPI_Type_vector at the target
    {"dynamic", RowSet::dynamic},        // windows of MPI_Win_create_dynamic
    {"contended", RowSet::contended},    // all ranks at one word
    {"messages", RowSet::messages},
}};

inline std::string_view name_of(RowSet set) {
  for (const auto& [name, one] : row_sets) {
    if (one == set) return name;
  }
  return "unknown";
}

}  // namespace micro
