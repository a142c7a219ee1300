// SPDX-License-Identifier: BSD-3-Clause
// Accumulates that the transport carries out by atomics of its own, at the origin. The target's
// engine takes no part, and neither do the CPUs of the target's node, which are not atomic with
// what carries them out: the way is the same to remote targets, to those on our node and to
// ourselves.
#include <algorithm>

#include "core/element_runs.hpp"
#include "core/process.hpp"
#include "core/window.hpp"

namespace oriel {

bool Window::aligned(const Operation& operation) const {
  const Member& member = peers_[static_cast<std::size_t>(operation.target)].member;
  const Layout& layout = *operation.target_layout;
  const auto element = static_cast<std::int64_t>(operation.reduction.element);
  const auto start = operation.displacement * static_cast<std::int64_t>(member.disp_unit);
  return (operation.target_count == 1 || layout.extent() % element == 0) &&
         std::all_of(layout.blocks().begin(), layout.blocks().end(),
                     [&](const Block& block) { return (start + block.offset) % element == 0; });
}

Outcome Window::issue_atomic(const Operation& operation, Epoch& epoch, Target& target) {
  if (operation.target_count * operation.target_layout->size() == 0) return Outcome::finished();
  // Neither can it go by the engine: others may reach some of its elements by atomics.
  if (!aligned(operation)) {
    return Outcome::failed(fail(Error::displacement,
                                "with mpi_assert_accumulate_intrinsic, the elements of an "
                                "accumulate must be aligned at the target"));
  }
  RecordedOperation& recorded = record(operation, epoch, target);
  recorded.atomic = true;
  ++target.atomics;
  append(target, recorded);
  if (epoch.active) advance(epoch, target);
  return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
}

bool Window::transmit_atomic(RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  Target& target = *recorded.target;
  Peer& other = peer(target.rank);
  if (remote(other) && !may_transfer(*recorded.epoch, target)) return false;
  Atomic atomic;
  atomic.kind = operation.kind;
  atomic.op = operation.reduction.op;
  atomic.basic = operation.reduction.basic;
  atomic.element = operation.reduction.element;
  atomic.compare = operation.compare;
  const std::uint64_t start =
      other.member.atomic_memory.address + other.member.offset(operation.displacement);
  ElementRuns runs(operation);
  runs.skip(recorded.sent);
  while (runs.bytes() != 0) {
    atomic.bytes = runs.bytes();
    atomic.operands = runs.origin();
    atomic.fetched = runs.result();
    const RemoteMemory where{start + static_cast<std::uint64_t>(runs.offset()),
                             other.member.atomic_memory.key};
    const std::uint64_t taken =
        transport_.atomic(other.member.atomic_process, atomic, where, recorded.pool_index);
    if (taken == 0) return false;
    recorded.sent += taken;
    runs.skip(taken);
  }
  return true;
}

}  // namespace oriel
