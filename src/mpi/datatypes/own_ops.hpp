// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "mpi/host/host.hpp"

namespace oriel::mpi {

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
  void note(MPI_Op op, const OwnFunction& function) {
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

}  // namespace oriel::mpi
