// SPDX-License-Identifier: BSD-3-Clause
// Duplicates of windows (Q4): another handle of the same window.
#include <oriel/profiling.h>

#include <memory>
#include <utility>

#include "boundary/runtime/runtime.hpp"
#include "boundary/runtime/unsupported_window.hpp"
#include "boundary/windows/another_handle.hpp"

using namespace oriel::boundary;

ORIEL_CALL(Win_dup_with_info)(MPI_Win parent, MPI_Info info, MPI_Win* win) {
  constexpr const char* call = "ORIEL_Win_dup_with_info";
  std::unique_ptr<WindowHandle> made;
  const int code = dispatch_call(
      call, parent,
      [&](WindowHandle& window) {
        if (const Failure bad = check_outputs(win)) return bad;
        made = std::make_unique<WindowHandle>(window);
        ++count_of(window);
        return Failure();
      },
      [&] { return unsupported_window(call, parent, lacking::duplicates); });
  return code == MPI_SUCCESS ? hand_out(call, parent, info, std::move(made), win) : code;
}
