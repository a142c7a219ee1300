// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/collectives/function_op.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "engine/engine.hpp"

namespace oriel::boundary {
namespace {

/// Calls the function, for as many elements at a time as a Count can hold.
template <typename Count>
void call(void (*function)(void*, void*, Count*, MPI_Datatype*), const void* from, void* into,
          std::uint64_t count, MPI_Datatype type, std::uint64_t extent) {
  constexpr std::uint64_t most = std::numeric_limits<Count>::max();
  // MPI's prototype has no const for the vector that is only read.
  auto* in = static_cast<std::byte*>(const_cast<void*>(from));
  auto* inout = static_cast<std::byte*>(into);
  while (count != 0) {
    const std::uint64_t now = std::min(count, most);
    auto length = static_cast<Count>(now);
    MPI_Datatype handle = type;
    function(in, inout, &length, &handle);
    in += now * extent;
    inout += now * extent;
    count -= now;
  }
}

}  // namespace

/// False on the agent's thread, because the program may have initialized MPI for a single thread.
bool FunctionOp::callable() const {
  return !engine.agent.sweeping();
}

void FunctionOp::combine(const void* from, void* into, std::uint64_t count) {
  if (function_.large != nullptr) {
    call(function_.large, from, into, count, type_, extent_);
  } else {
    call(function_.plain, from, into, count, type_, extent_);
  }
}

}  // namespace oriel::boundary
