// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "core/collective/plan_registry.hpp"
#include "mpi/host/host.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

/// The plan registry of a communicator, and the window that is made for it. The window exposes only
/// one byte of private memory of each rank. So ranks of a node that may not access one another's
/// private memory are remote to one another in the plan registry, as plans require.
class PlanWindow {
 public:
  /// Opens the window on all ranks, if it is not open, and finds the node of each rank, on which
  /// schedules depend. Raises errors. Without the process lock.
  int open(const char* call, MPI_Comm communicator);
  // The other calls are made with the process lock.
  bool opened() const { return window_ != nullptr; }
  PlanRegistry& core() { return window_->core->plan_registry(); }
  /// Returns whether some ranks are remote to each other.
  bool sends_messages() const { return window_->core->remote(); }
  Window& window() const { return *window_->core; }
  /// The core's window; null: it is not open, or has been left.
  const Window* core_window() const { return window_ != nullptr ? window_->core : nullptr; }
  void free(Plan& plan);
  /// Counts the collectives without a plan that need the window, too.
  void add_watcher() { ++watchers_; }
  void remove_watcher() {
    --watchers_;
    close_if_unused();
  }
  /// Called when the communicator is freed: the window is left when no plan or watcher needs it.
  void orphan();

 private:
  static void disconnect_all();
  int create(const char* call, MPI_Comm communicator);
  int ask_nodes(const char* call, MPI_Comm communicator);
  void close_if_unused();
  void close();

  WindowHandle* window_ = nullptr;
  std::size_t watchers_ = 0;
  bool asked_ = false;
  bool orphaned_ = false;
};

}  // namespace oriel::mpi
