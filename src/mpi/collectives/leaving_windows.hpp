// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "mpi/host/host.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

/// Oriel's own windows that this rank no longer uses, until all ranks have left them. A rank leaves
/// a window by a last fence, for which it does not wait. Leaving and destroying together do what
/// MPI_Win_free does.
class LeavingWindows {
 public:
  /// Begins to leave a window. Its memory is kept until the window is destroyed. `locked`: this
  /// rank holds its own lock of the window. With the process lock.
  void add(MPI_Win handle, bool locked, std::shared_ptr<void> memory);
  /// Begins to leave the window of a plan registry. All ranks leave it before they end, even if the
  /// program has not freed its requests. With the process lock.
  void add_plan_window(MPI_Win handle);
  /// Waits until all ranks have left the windows of plan registries, or one of the ranks is lost.
  /// With the process lock.
  void wait_for_plan_windows();
  /// Keeps a window and its memory until MPI ends: a round on it was abandoned, so it cannot be
  /// left.
  void keep(MPI_Win handle, std::shared_ptr<void> memory);
  /// Destroys the windows that all ranks have left. Without the process lock.
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
  static void begin_leaving(One& one, bool locked);

  std::vector<std::unique_ptr<One>> all_;
};

extern LeavingWindows leaving_windows;

}  // namespace oriel::mpi
