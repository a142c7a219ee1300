// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "boundary/host/host.hpp"
#include "boundary/runtime/window_handle.hpp"
#include "core/collective/plan_registry.hpp"

namespace oriel::boundary {

/// Where the plans of a communicator's ranks are: the plan registry of a window that is made for
/// it. The window has a private byte of each rank and no more. So ranks of a node whose private
/// memory somebody must not touch are remote to one another in the plan registry, as plans need it.
class PlanWindow {
 public:
  /// Opens it, on all ranks, if it is not open, and learns where they are: whatever they make in it
  /// afterwards. Raises what is wrong. Without the process lock.
  int open(const char* call, MPI_Comm communicator);
  // With the process lock.
  bool opened() const { return window_ != nullptr; }
  PlanRegistry& core() { return window_->core->plan_registry(); }
  /// Some rank is remote to some other.
  bool sends_messages() const { return window_->core->remote(); }
  const WindowState& window() const { return *window_->state; }
  /// The window itself; null: it is not open, or has been left.
  const Window* core_window() const { return window_ != nullptr ? window_->core : nullptr; }
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
  static void disconnect_all();
  int create(const char* call, MPI_Comm communicator);
  int ask_nodes(const char* call, MPI_Comm communicator);
  void leave_if_unused();
  void leave();

  WindowHandle* window_ = nullptr;
  std::size_t watchers_ = 0;
  bool asked_ = false;
  bool orphaned_ = false;
};

}  // namespace oriel::boundary
