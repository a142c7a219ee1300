// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "engine/windows/window_draft.hpp"
#include "mpi/host/host.hpp"
#include "mpi/progress/mpi_host.hpp"
#include "mpi/runtime/window_handle.hpp"
#include "mpi/startup/lifetime.hpp"

namespace oriel::mpi {

/// Makes one window: checks the arguments, lets the engine make the window (make_window()), and
/// gives it a handle. Raises the errors.
class WindowMaker {
 public:
  WindowMaker(const char* call, MPI_Comm communicator, MPI_Info info);
  ~WindowMaker();
  WindowMaker(const WindowMaker&) = delete;
  WindowMaker& operator=(const WindowMaker&) = delete;

  // The calls of MPI. A maker makes one window.
  int create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Win* handle);
  /// `flavor`: allocated or shared.
  int allocate(WindowFlavor flavor, MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle);
  int create_dynamic(MPI_Win* handle);

 private:
  /// The arguments of a call, translated.
  struct Arguments {
    WindowFlavor flavor;
    void* base = nullptr;
    MPI_Aint size = 0;
    MPI_Aint disp_unit = 1;
    EngineFailure bad;  // the error of the other arguments, if any
  };
  int make(const Arguments& arguments, MPI_Win* handle);
  int prepare(const Arguments& arguments);
  void allocate_handle();
  MPI_Win hand_over();
  void describe() const;

  MPI_Comm communicator_;
  MpiComm comm_;
  std::unique_ptr<EngineHold> hold_;
  std::unique_ptr<WindowHandle> window_;  // null: the program has its handle
  WindowDraft draft_;
};

}  // namespace oriel::mpi
