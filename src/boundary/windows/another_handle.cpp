// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/windows/another_handle.hpp"

#include <string>
#include <utility>

#include "boundary/host/host_windows.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/startup/lifetime.hpp"

namespace oriel::boundary {
namespace {

bool make_handle(MPI_Win parent, MPI_Win* made) {
  if (!host_windows.make(runtime.self, made)) return false;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Win_get_errhandler(parent, &handler) != MPI_SUCCESS) return true;
  PMPI_Win_set_errhandler(*made, handler);
  PMPI_Errhandler_free(&handler);
  return true;
}

}  // namespace

int hand_out(const char* call, MPI_Win parent, MPI_Info info, std::unique_ptr<BoundWindow> made,
             MPI_Win* win) {
  made->info.update(info);
  std::string error;
  const bool held = lifetime.hold(error);  // the parent does, too: nothing is made
  if (!held || !make_handle(parent, &made->handle)) {
    {
      const Guard guard(runtime.lock);
      --count_of(*made);
      made = nullptr;
    }
    if (held) lifetime.let_go();
    return raise(parent, call,
                 {MPI_ERR_OTHER, "the host MPI cannot make the window that lends its handle"});
  }
  const Guard guard(runtime.lock);
  runtime.windows.insert(handle_key(made->handle), made.get());
  *win = made->handle;
  runtime.engine()->windows.push_back(std::move(made));
  return MPI_SUCCESS;
}

}  // namespace oriel::boundary
