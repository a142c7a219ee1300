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

using TypeClasses = unsigned;  // a bit for each TypeClass

template <typename... Classes>
constexpr TypeClasses classes(Classes... each) {
  return (... | (1U << static_cast<unsigned>(each)));
}

/// A predefined op: the name by which ORIEL_Win_op_intrinsic knows it, the core's op, and the
/// groups of types that it is defined for.
struct PredefinedOp {
  std::string_view name;
  MPI_Op handle;
  Op op;
  TypeClasses types;

  /// `numbers`: MPI_BYTE counts as an integer.
  bool defined_for(TypeClass type, bool numbers) const {
    return (types & classes(type)) != 0 ||
           (numbers && type == TypeClass::byte && defined_for(TypeClass::integer, false));
  }
};

const std::array<PredefinedOp, 12>& predefined_ops() {
  using enum TypeClass;
  constexpr TypeClasses numbers = classes(integer, floating, complex);
  constexpr TypeClasses ordered = classes(integer, floating);
  constexpr TypeClasses truths = classes(integer, logical);
  constexpr TypeClasses bits = classes(integer, byte);
  // Built at first use: in some hosts handles are addresses, which are set when the host is loaded.
  static const std::array<PredefinedOp, 12> ops{
      {{"sum", MPI_SUM, Op::sum, numbers},
       {"prod", MPI_PROD, Op::prod, numbers},
       {"min", MPI_MIN, Op::min, ordered},
       {"max", MPI_MAX, Op::max, ordered},
       {"land", MPI_LAND, Op::land, truths},
       {"lor", MPI_LOR, Op::lor, truths},
       {"lxor", MPI_LXOR, Op::lxor, truths},
       {"band", MPI_BAND, Op::band, bits},
       {"bor", MPI_BOR, Op::bor, bits},
       {"bxor", MPI_BXOR, Op::bxor, bits},
       {"minloc", MPI_MINLOC, Op::minloc, classes(pair)},
       {"maxloc", MPI_MAXLOC, Op::maxloc, classes(pair)}}};
  return ops;
}

const PredefinedOp* find_predefined(MPI_Op op) {
  const auto& ops = predefined_ops();
  const auto* const found = std::ranges::find(ops, op, &PredefinedOp::handle);
  return found != ops.end() ? found : nullptr;
}

/// True for integers with characters, logical and multi-language types, and bytes.
bool comparable(const PredefinedType& type) {
  using enum TypeClass;
  return (classes(type.type_class) & classes(integer, logical, byte)) != 0;
}

/// True if the function of an op made by `caller` has the parameters of C. Those of C++ and Java do
/// not, and those of Fortran do only if its integers and C's handles have 32 bits.
bool has_arguments_of_c(const void* caller) {
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
  if (!found->defined_for(type.type_class, bytes_are_numbers())) {
    return {MPI_ERR_OP, "the op is not defined for this datatype"};
  }
  reduction.op = found->op;
  if (valid(reduction)) return {};
  return {MPI_ERR_OP, "this build of Oriel has no arithmetic for the datatype"};
}

bool find_op(std::string_view name, MPI_Op& op) {
  if (name == "no_op" || name == "replace") {
    op = name == "no_op" ? MPI_NO_OP : MPI_REPLACE;
    return true;
  }
  const auto& ops = predefined_ops();
  const auto* const found = std::ranges::find(ops, name, &PredefinedOp::name);
  if (found == ops.end()) return false;
  op = found->handle;
  return true;
}

bool predefined(MPI_Op op) {
  return find_predefined(op) != nullptr;
}

bool has_reduction(MPI_Op op, const PredefinedType& type) {
  const PredefinedOp* found = find_predefined(op);
  return found != nullptr && found->defined_for(type.type_class, false);
}

}  // namespace oriel::mpi

using namespace oriel::mpi;
using oriel::Guard;

ORIEL_MPI_CALL(Op_create)(MPI_User_function* function, int commute, MPI_Op* op) {
  const bool known = has_arguments_of_c(__builtin_return_address(0));
  const int code = host_mpi().Op_create(function, commute, op);
  if (code == MPI_SUCCESS && known) {
    own_ops.record(*op, {.plain = function, .commutes = commute != 0});
  }
  return code;
}

#if ORIEL_HOST_LARGE_COUNTS
ORIEL_MPI_CALL(Op_create_c)(MPI_User_function_c* function, int commute, MPI_Op* op) {
  const bool known = has_arguments_of_c(__builtin_return_address(0));
  const int code = host_mpi().Op_create_c(function, commute, op);
  if (code == MPI_SUCCESS && known) {
    own_ops.record(*op, {.large = function, .commutes = commute != 0});
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
    runtime.datatypes.watch_freed(*datatype);
  }
  return host_mpi().Type_free(datatype);
}
