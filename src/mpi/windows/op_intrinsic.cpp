// SPDX-License-Identifier: BSD-3-Clause
// Reports which accumulates on a window are hardware atomics of their origin (Q3).
#include <oriel/profiling.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/operation/atomicity.hpp"
#include "mpi/operations/ops.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_errors.hpp"

namespace oriel::mpi {
namespace {

/// An op by the name that the caller uses. Compare-and-swap has no MPI_Op, and has one element.
struct NamedOp {
  std::string_view name;
  MPI_Op handle;
  OperationKind kind = OperationKind::get_accumulate;
};

const NamedOp* find_op(std::string_view name) {
  // Built at first use: in some hosts handles are addresses, which are set when the host is loaded.
  static const std::array<NamedOp, 15> ops{{
      {"sum", MPI_SUM},
      {"prod", MPI_PROD},
      {"min", MPI_MIN},
      {"max", MPI_MAX},
      {"land", MPI_LAND},
      {"lor", MPI_LOR},
      {"lxor", MPI_LXOR},
      {"band", MPI_BAND},
      {"bor", MPI_BOR},
      {"bxor", MPI_BXOR},
      {"minloc", MPI_MINLOC},
      {"maxloc", MPI_MAXLOC},
      {"no_op", MPI_NO_OP},
      {"replace", MPI_REPLACE},
      {"cas", MPI_OP_NULL, OperationKind::compare_and_swap},
  }};
  const auto* const found = std::ranges::find(ops, name, &NamedOp::name);
  return found != ops.end() ? found : nullptr;
}

bool intrinsic(const WindowHandle& handle, const NamedOp& op, const PredefinedType* type,
               std::uint64_t count) {
  // Found from the announcements, and therefore equal on all ranks.
  if (handle.info.intrinsic == Intrinsic::never) return false;
  const Window& window = *handle.core;
  Reduction reduction;
  if (reduction_of(op.kind, op.handle, type, reduction)) return false;  // MPI does not define it
  reduction.by_elements = handle.info.accumulate_intrinsic.load();
  if (op.kind == OperationKind::compare_and_swap) {
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
    const NamedOp* op = find_op(ops.substr(0, comma));
    if (op == nullptr) {
      return {MPI_ERR_ARG,
              "the ops are words apart by commas, without spaces, of: sum, prod, min, max, land, "
              "lor, lxor, band, bor, bxor, minloc, maxloc, no_op, replace, cas"};
    }
    all = all && intrinsic(window, *op, known->basic, static_cast<std::uint64_t>(most));
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
