// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/operation/operation.hpp"
#include "mpi/datatypes/predefined_types.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The reduction that an accumulate or compare-and-swap applies to each element of a datatype made
/// of the predefined type `basic`; null: of several types. Fails with MPI_ERR_OP or MPI_ERR_TYPE if
/// the call does not permit the op or the datatype (MPI-4.1 section 12.3.4).
Failure reduction_of(OperationKind kind, MPI_Op op, const PredefinedType* basic,
                     Reduction& reduction);

/// Finds a predefined op by its name in lower case without MPI_. False: there is none.
bool find_op(std::string_view name, MPI_Op& op);

/// True for the predefined ops of MPI_Reduce.
bool predefined(MPI_Op op);
/// True if MPI-4.1 section 6.9.2 defines the op for the type. Hosts' collectives permit no more
/// than that, even if their windows do: see reduction_of().
bool has_reduction(MPI_Op op, const PredefinedType& type);

/// The arguments of MPI_Op_create or MPI_Op_create_c. One of the two functions is set.
struct OwnFunction {
  void (*plain)(void*, void*, int*, MPI_Datatype*) = nullptr;
  void (*large)(void*, void*, MPI_Count*, MPI_Datatype*) = nullptr;
  bool commutes = false;
};

/// The user-defined ops, by handle. They are recorded because no call of MPI returns an op's
/// function. Thread-safe.
class OwnOps {
 public:
  void record(MPI_Op op, const OwnFunction& function) {
    const std::lock_guard alone(alone_);
    functions_.insert_or_assign(handle_key(op), function);
  }
  void forget(MPI_Op op) {
    const std::lock_guard alone(alone_);
    functions_.erase(handle_key(op));
  }
  std::optional<OwnFunction> find(MPI_Op op) {
    const std::lock_guard alone(alone_);
    const auto found = functions_.find(handle_key(op));
    if (found == functions_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::mutex alone_;
  std::unordered_map<std::uint64_t, OwnFunction> functions_;
};

extern OwnOps own_ops;

}  // namespace oriel::mpi
