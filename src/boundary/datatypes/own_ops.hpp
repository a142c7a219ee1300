// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// What MPI_Op_create was given: one of the two functions.
struct OwnFunction {
  void (*plain)(void*, void*, int*, MPI_Datatype*) = nullptr;
  void (*large)(void*, void*, MPI_Count*, MPI_Datatype*) = nullptr;
  bool commutes = false;
};

/// The ops that the program has made, by handle: no call of MPI tells an op's function. Any thread
/// may ask.
class OwnOps {
 public:
  void note(MPI_Op op, const OwnFunction& function);
  void forget(MPI_Op op);
  std::optional<OwnFunction> find(MPI_Op op);

 private:
  std::mutex alone_;
  std::unordered_map<std::uint64_t, OwnFunction> functions_;
};

}  // namespace oriel::boundary
