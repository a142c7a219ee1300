// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "boundary/host/host.hpp"
#include "boundary/runtime/window_handle.hpp"

namespace oriel::boundary {

/// Windows of ours that this rank does not use any more, until all ranks have left them: what
/// MPI_Win_free does, but nobody waits.
class LeavingWindows {
 public:
  /// Begins to leave one, whose memory is kept as long. `locked`: we hold our own lock of it.
  /// With the process lock.
  void add(MPI_Win handle, bool locked, std::shared_ptr<void> memory);
  /// Likewise that of a plan registry, which all ranks leave before they end, whatever the program
  /// has forgotten to free.
  void add_plan_window(MPI_Win handle);
  /// Waits until all ranks have left those of plan registries, or one of them is lost. With the
  /// process lock.
  void wait_for_plan_windows();
  /// One that cannot be left, because something of it was abandoned: it stays to the end of MPI.
  void keep(MPI_Win handle, std::shared_ptr<void> memory);
  /// Destroys those that all ranks have left. Without the process lock.
  void reap();

 private:
  struct One {
    MPI_Win handle = MPI_WIN_NULL;
    WindowHandle* window = nullptr;
    std::shared_ptr<void> memory;
    bool broken = false;
    bool of_plans = false;
    Flag met{};
    Flag left{};

    bool gone() const;
    bool left_by_all();
  };

  One& append(MPI_Win handle, std::shared_ptr<void> memory);
  static void leave(One& one, bool locked);

  std::vector<std::unique_ptr<One>> all_;
};

extern LeavingWindows leaving_windows;

}  // namespace oriel::boundary
