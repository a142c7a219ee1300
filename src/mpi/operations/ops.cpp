// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/operations/ops.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "mpi/host/fortran_layer.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// True if windows permit all ops of integers on MPI_BYTE, which the standard does not: MPICH and
/// Open MPI permit them, Intel MPI does not. MPICH and Intel MPI share an ABI, and MPI_Reduce_local
/// does not show the difference.
bool bytes_are_numbers() {
  static const bool are = library_version().find("Intel") == std::string::npos;
  return are;
}

/// A predefined op: the core's name for it, and the groups of types that it is defined for.
struct PredefinedOp {
  MPI_Op handle;
  Op op;
  bool integer, floating, logical, complex, byte, pair;

  /// `numbers`: MPI_BYTE counts as an integer.
  bool takes(TypeClass type, bool numbers) const {
    switch (type) {
      case TypeClass::integer:
        return integer;
      case TypeClass::floating:
        return floating;
      case TypeClass::logical:
        return logical;
      case TypeClass::complex:
        return complex;
      case TypeClass::byte:
        return byte || (integer && numbers);
      case TypeClass::pair:
        return pair;
      case TypeClass::opaque:
        return false;
    }
    return false;
  }
};

const std::array<PredefinedOp, 12>& predefined_ops() {
  // Built at first use: in some hosts handles are addresses, which are set when the host is loaded.
  static const std::array<PredefinedOp, 12> ops{{
      {MPI_SUM, Op::sum, true, true, false, true, false, false},
      {MPI_PROD, Op::prod, true, true, false, true, false, false},
      {MPI_MIN, Op::min, true, true, false, false, false, false},
      {MPI_MAX, Op::max, true, true, false, false, false, false},
      {MPI_LAND, Op::land, true, false, true, false, false, false},
      {MPI_LOR, Op::lor, true, false, true, false, false, false},
      {MPI_LXOR, Op::lxor, true, false, true, false, false, false},
      {MPI_BAND, Op::band, true, false, false, false, true, false},
      {MPI_BOR, Op::bor, true, false, false, false, true, false},
      {MPI_BXOR, Op::bxor, true, false, false, false, true, false},
      {MPI_MINLOC, Op::minloc, false, false, false, false, false, true},
      {MPI_MAXLOC, Op::maxloc, false, false, false, false, false, true},
  }};
  return ops;
}

const PredefinedOp* find_predefined(MPI_Op op) {
  const auto& ops = predefined_ops();
  const auto* const found = std::ranges::find(ops, op, &PredefinedOp::handle);
  return found != ops.end() ? found : nullptr;
}

/// True for integers with characters, logical and multi-language types, and bytes.
bool comparable(const PredefinedType& type) {
  return type.type_class == TypeClass::integer || type.type_class == TypeClass::logical ||
         type.type_class == TypeClass::byte;
}

/// True if the function of an op made by `caller` has the parameters of C. Those of C++ and Java do
/// not, and those of Fortran do only if its integers and C's handles have 32 bits.
bool takes_arguments_of_c(const void* caller) {
  Dl_info object{};
  if (::dladdr(caller, &object) == 0 || object.dli_fname == nullptr) return false;
  std::string_view name(object.dli_fname);
  name.remove_prefix(name.rfind('/') + 1);
  for (const char* other : {"libmpicxx", "libmpi_cxx", "libmpi_java"}) {
    if (name.starts_with(other)) return false;
  }
  return !in_fortran_layer(caller);
}

}  // namespace

OwnOps own_ops;

Failure reduction_of(OperationKind kind, MPI_Op op, const PredefinedType* basic,
                     Reduction& reduction) {
  if (basic == nullptr) {
    return {MPI_ERR_TYPE, "the datatype is made of more than one predefined type"};
  }
  const PredefinedType& type = *basic;
  reduction.basic = type.basic;
  reduction.element = type.true_extent;
  if (kind == OperationKind::compare_and_swap) {
    if (comparable(type)) return {};
    return {MPI_ERR_TYPE, "the datatype is not an integer, logical, multi-language or byte type"};
  }
  if (op == MPI_REPLACE) {
    reduction.op = Op::replace;
    return {};
  }
  if (op == MPI_NO_OP) {
    reduction.op = Op::no_op;
    if (kind == OperationKind::get_accumulate) return {};
    return {MPI_ERR_OP, "MPI_NO_OP needs a call that fetches"};
  }
  const PredefinedOp* found = find_predefined(op);
  if (found == nullptr) return {MPI_ERR_OP, "the op is not a predefined one"};
  if (!found->takes(type.type_class, bytes_are_numbers())) {
    return {MPI_ERR_OP, "the op is not defined for this datatype"};
  }
  reduction.op = found->op;
  if (valid(reduction)) return {};
  return {MPI_ERR_OP, "this build of Oriel has no arithmetic for the datatype"};
}

bool predefined(MPI_Op op) {
  return find_predefined(op) != nullptr;
}

bool has_reduction(MPI_Op op, const PredefinedType& type) {
  const PredefinedOp* found = find_predefined(op);
  return found != nullptr && found->takes(type.type_class, false);
}

}  // namespace oriel::mpi

using namespace oriel::mpi;
using oriel::Guard;

ORIEL_MPI_CALL(Op_create)(MPI_User_function* function, int commute, MPI_Op* op) {
  const bool known = takes_arguments_of_c(__builtin_return_address(0));
  const int code = host_mpi().Op_create(function, commute, op);
  if (code == MPI_SUCCESS && known) {
    own_ops.note(*op, {.plain = function, .commutes = commute != 0});
  }
  return code;
}

#if ORIEL_HOST_LARGE_COUNTS
ORIEL_MPI_CALL(Op_create_c)(MPI_User_function_c* function, int commute, MPI_Op* op) {
  const bool known = takes_arguments_of_c(__builtin_return_address(0));
  const int code = host_mpi().Op_create_c(function, commute, op);
  if (code == MPI_SUCCESS && known) {
    own_ops.note(*op, {.large = function, .commutes = commute != 0});
  }
  return code;
}
#endif

ORIEL_MPI_CALL(Op_free)(MPI_Op* op) {
  // Before the host may give the handle to another thread.
  if (op != nullptr) own_ops.forget(*op);
  return host_mpi().Op_free(op);
}

ORIEL_MPI_CALL(Type_free)(MPI_Datatype* datatype) {
  if (datatype != nullptr) {
    const Guard guard(engine.lock);
    runtime.datatypes.note_free(*datatype);
  }
  return host_mpi().Type_free(datatype);
}
