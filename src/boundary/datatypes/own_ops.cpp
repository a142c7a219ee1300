// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/datatypes/own_ops.hpp"

namespace oriel::boundary {

void OwnOps::note(MPI_Op op, const OwnFunction& function) {
  const std::lock_guard alone(alone_);
  functions_.insert_or_assign(handle_key(op), function);
}

void OwnOps::forget(MPI_Op op) {
  const std::lock_guard alone(alone_);
  functions_.erase(handle_key(op));
}

std::optional<OwnFunction> OwnOps::find(MPI_Op op) {
  const std::lock_guard alone(alone_);
  const auto found = functions_.find(handle_key(op));
  if (found == functions_.end()) return std::nullopt;
  return found->second;
}

}  // namespace oriel::boundary
