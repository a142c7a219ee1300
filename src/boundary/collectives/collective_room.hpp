// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "boundary/host/host.hpp"
#include "boundary/runtime/bound_window.hpp"
#include "core/collective/room.hpp"

namespace oriel::boundary {

/// Where the plans of a communicator's ranks are: the room of a window that is made for it. The
/// window has a private byte of each rank and no more. So ranks of a node whose private memory
/// somebody must not touch are remote to one another in the room, as plans need it.
class CollectiveRoom {
 public:
  /// Opens it, on all ranks, if it is not open, and learns where they are: whatever they make in it
  /// afterwards. Raises what is wrong. Without the process lock.
  int open(const char* call, MPI_Comm communicator);
  // With the process lock.
  bool opened() const { return window_ != nullptr; }
  Room& core() { return window_->core->room(); }
  /// Some rank is remote to some other.
  bool sends_messages() const { return window_->core->remote(); }
  const CarriedWindow& window() const { return *window_->carried; }
  void free(Plan& plan);
  /// For a collective that has no plan in it: that there is one more, or one less.
  void add_watcher() { ++watchers_; }
  void remove_watcher() {
    --watchers_;
    leave_if_unused();
  }
  /// The communicator is gone: when the last plan is freed, the window is left.
  void orphan();

 private:
  static void part_from_all();
  int create(const char* call, MPI_Comm communicator);
  int ask_nodes(const char* call, MPI_Comm communicator);
  void leave_if_unused();
  void leave();

  BoundWindow* window_ = nullptr;
  std::size_t watchers_ = 0;
  bool asked_ = false;
  bool orphaned_ = false;
};

}  // namespace oriel::boundary
