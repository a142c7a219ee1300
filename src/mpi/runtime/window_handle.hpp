// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "core/window.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/group_ranks.hpp"
#include "mpi/host/host.hpp"
#include "mpi/info/window_info.hpp"
#include "mpi/runtime/keyvals.hpp"

namespace oriel::mpi {

/// A window of Oriel's: the state that all of its handles share.
struct WindowState {
  Window* core = nullptr;  // owned by the Process
  MPI_Group group = MPI_GROUP_NULL;
  int handles = 1;  // handles that the program has not freed
  int views = 0;    // those of memory handles
  /// This process has left the window, in the collective part of an MPI_Win_free. A further
  /// MPI_Win_free is local.
  bool left = false;
  /// Made by Oriel for a persistent collective; freed with it.
  bool own = false;
};

/// Name, attributes and error handler that the program has set on a handle.
struct UserState {
  std::string name;
  std::list<Attribute> attributes;  // in the order of setting; pointers to values stay valid
  MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;  // null: none has been set
};

/// A handle of a window of Oriel's: the original one, a duplicate (Q4), or one for a memory handle
/// (Q5).
struct WindowHandle {
  MPI_Win handle = MPI_WIN_NULL;
  std::shared_ptr<WindowState> state = std::make_shared<WindowState>();
  Window* core = nullptr;          // that of `state`
  int ranks = 0;                   // of its group; 0: made from a memory handle
  std::optional<HandleView> view;  // if made from a memory handle
  UserState user_state;
  GroupRanks origins;  // of the group of the last MPI_Win_post
  GroupRanks targets;  // of the group of the last MPI_Win_start

  // The values that the predefined attributes point to.
  void* base = nullptr;
  MPI_Aint size = 0;
  int disp_unit = 1;
  int flavor = 0;
  int model = MPI_WIN_UNIFIED;
  int suggested_counters = 0;
  int most_counters = 0;
  MPI_Count largest_count = std::numeric_limits<std::int64_t>::max();

  WindowInfo info;
};

/// The failure of a finished call of the core. A separate function, because the reason must be read
/// after the call: arguments of one function are evaluated in any order.
inline Failure failure_of(const WindowHandle& window, Error error) {
  return failure(error, window.core->reason());
}

/// True if operations may name the rank. False for all ranks of a window made from a memory handle,
/// whose displacements have another meaning.
inline bool valid_rank(const WindowHandle& window, int rank) {
  return static_cast<unsigned>(rank) < static_cast<unsigned>(window.ranks);
}
/// True if flushes of the window may name the rank; for a window made from a memory handle, only
/// the handle's owner.
inline bool may_flush(const WindowHandle& window, int rank) {
  return valid_rank(window, rank) || (window.view.has_value() && rank == window.view->target);
}

}  // namespace oriel::mpi
