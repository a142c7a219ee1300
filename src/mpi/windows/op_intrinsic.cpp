// SPDX-License-Identifier: BSD-3-Clause
// Reports which accumulates on a window are hardware atomics of their origin (Q3).
#include <oriel/profiling.h>

#include <cstdint>
#include <string_view>

#include "core/operation/atomicity.hpp"
#include "mpi/operations/ops.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_errors.hpp"

namespace oriel::mpi {
namespace {

bool intrinsic(const WindowHandle& handle, OperationKind kind, MPI_Op op,
               const PredefinedType* type, std::uint64_t count) {
  // Found from the announcements, and therefore equal on all ranks.
  if (handle.info.intrinsic == Intrinsic::never) return false;
  const Window& window = *handle.core;
  Reduction reduction;
  if (reduction_of(kind, op, type, reduction)) return false;  // MPI does not define it
  reduction.by_elements = handle.info.accumulate_intrinsic.load();
  if (kind == OperationKind::compare_and_swap) {
    return window.intrinsic(compare_swap_bit, reduction, 1);
  }
  return window.intrinsic(bit(reduction.op), reduction, count);
}

Failure query(const WindowHandle& window, std::string_view ops, MPI_Aint most, MPI_Datatype type,
              int& flag) {
  if (most < 0) return {MPI_ERR_COUNT, "the largest count is negative"};
  const Datatypes::Known* known = runtime.datatypes.find_committed(type);
  if (known == nullptr) return {MPI_ERR_TYPE, "the datatype is not valid or not committed"};
  bool all = known->basic != nullptr && known->basic->handle == type;
  for (bool more = true; more;) {
    const std::size_t comma = ops.find(',');
    const std::string_view name = ops.substr(0, comma);
    // Compare-and-swap has no MPI_Op, and has one element.
    const bool swaps = name == "cas";
    MPI_Op op = MPI_OP_NULL;
    if (!swaps && !find_op(name, op)) {
      return {MPI_ERR_ARG,
              "the ops are words apart by commas, without spaces, of: sum, prod, min, max, land, "
              "lor, lxor, band, bor, bxor, minloc, maxloc, no_op, replace, cas"};
    }
    const auto kind = swaps ? OperationKind::compare_and_swap : OperationKind::get_accumulate;
    all = all && intrinsic(window, kind, op, known->basic, static_cast<std::uint64_t>(most));
    more = comma != std::string_view::npos;
    if (more) ops.remove_prefix(comma + 1);
  }
  flag = all ? 1 : 0;
  return {};
}

}  // namespace
}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_CALL(Win_op_intrinsic)
(const char* ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win, int* flag) {
  constexpr const char* call = "ORIEL_Win_op_intrinsic";
  return dispatch_call(
      call, win,
      [&](WindowHandle& window) {
        if (const Failure bad = check_outputs(flag)) return bad;
        return query(window, ops != nullptr ? ops : "", max_count, type, *flag);
      },
      [&] { return unsupported_window(call, win, lacking::op_intrinsic); });
}
