// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace micro {

/// The rows of one run. Messages have a run of their own: a program without windows must not pay
/// for the library, and after the first window it is no longer such a program.
enum class RowSet { usual, operations, sizes, vectors, dynamic, contended, messages };

inline constexpr std::array<std::pair<RowSet, std::string_view>, 7> row_sets{{
    {RowSet::usual, "usual"},
    {RowSet::operations, "operations"},  // every operation in every kind of synchronization
    {RowSet::sizes, "sizes"},            // accumulates of 1 to 8192 elements
    {RowSet::vectors, "vectors"},        // of MPI_Type_vector at the target
    {RowSet::dynamic, "dynamic"},        // windows of MPI_Win_create_dynamic
    {RowSet::contended, "contended"},    // all ranks at one word
    {RowSet::messages, "messages"},
}};

inline std::string_view name_of(RowSet set) {
  for (const auto& [one, name] : row_sets) {
    if (one == set) return name;
  }
  return "unknown";
}

/// Whether the value of --set names a set of rows; which.
inline bool is_row_set(std::string_view value, RowSet& set) {
  for (const auto& [one, name] : row_sets) {
    if (value != name) continue;
    set = one;
    return true;
  }
  return false;
}

}  // namespace micro
