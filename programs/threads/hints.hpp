// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstring>

namespace threads {

inline constexpr const char* scope_key = "mpi_win_scope";
inline constexpr const char* order_key = "mpi_win_order";

/// What a program asks of a window beyond the standard: that a flush waits for the calling thread's
/// operations alone, that operations to one target complete in their order.
struct Hints {
  bool thread_scope;
  bool order;

  const char* scope() const { return thread_scope ? "thread" : "process"; }

  MPI_Info info() const {
    MPI_Info result = MPI_INFO_NULL;
    MPI_Info_create(&result);
    if (thread_scope) MPI_Info_set(result, scope_key, scope());
    if (order) MPI_Info_set(result, order_key, "true");
    return result;
  }

  /// Whether the MPI says of the window that what was asked for is in effect, on every rank. An MPI
  /// that does not know a key has what the standard says, which is what nobody has to ask for.
  bool granted(MPI_Win win) const {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win_get_info(win, &info);
    int all = (!thread_scope || says(info, scope_key, scope())) &&
              (!order || says(info, order_key, "true"));
    MPI_Info_free(&info);
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all != 0;
  }

 private:
  static bool says(MPI_Info info, const char* key, const char* expected) {
    std::array<char, MPI_MAX_INFO_VAL + 1> value;
    int found = 0;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
    return found && std::strcmp(value.data(), expected) == 0;
  }
};

}  // namespace threads
