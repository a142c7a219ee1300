// SPDX-License-Identifier: BSD-3-Clause
#include "core/atomics/network_atomics.hpp"

#include <algorithm>

#include "core/operation/element_runs.hpp"

namespace oriel {

bool NetworkAtomics::aligned(const Operation& operation) {
  const Member& member = region_.member(operation.target);
  const Layout& layout = *operation.target_layout;
  const auto element = static_cast<std::int64_t>(operation.reduction.element);
  const auto start = operation.displacement * static_cast<std::int64_t>(member.disp_unit);
  return (operation.target_count == 1 || layout.extent() % element == 0) &&
         std::all_of(layout.blocks().begin(), layout.blocks().end(),
                     [&](const Block& block) { return (start + block.offset) % element == 0; });
}

Outcome NetworkAtomics::record(const Operation& operation, Epoch& epoch, Target& target) {
  // The Server cannot carry it out either: other origins may update some of its elements by
  // atomics.
  if (!aligned(operation)) {
    return Outcome::failed(state_.reason.fail(
        Error::displacement,
        "with mpi_assert_accumulate_intrinsic, the elements of an accumulate must be aligned at "
        "the target"));
  }
  RecordedOperation& recorded =
      state_.pending.record(operation, Protocol::network_atomic, epoch, target);
  ++target.counted_apart;
  PendingOperations::append(target, recorded);
  return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
}

bool NetworkAtomics::transmit(RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  const Member& member = region_.member(operation.target);
  Atomic atomic;
  atomic.kind = operation.kind;
  atomic.op = operation.reduction.op;
  atomic.basic = operation.reduction.basic;
  atomic.element = operation.reduction.element;
  atomic.compare = operation.compare;
  const std::uint64_t start = member.atomic_memory.address + member.offset(operation.displacement);
  ElementRuns runs(operation);
  runs.skip(recorded.sent);
  while (runs.bytes() != 0) {
    atomic.bytes = runs.bytes();
    atomic.operands = runs.origin();
    atomic.fetched = runs.result();
    const RemoteMemory where{start + static_cast<std::uint64_t>(runs.offset()),
                             member.atomic_memory.key};
    const std::uint64_t accepted = messages_.atomic(member.atomic_process, atomic, where,
                                                    Pool<RecordedOperation>::token(recorded));
    if (accepted == 0) return false;
    recorded.sent += accepted;
    runs.skip(accepted);
  }
  return true;
}

}  // namespace oriel
