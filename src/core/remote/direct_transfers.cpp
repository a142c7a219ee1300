// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/direct_transfers.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/pool.hpp"
#include "core/operation/element_runs.hpp"

namespace oriel {

/// The notification behind the last bytes of a direct write. It has no gate, because the write is
/// made only when the target is available. So the messages of equal notifications (tag and length)
/// are equal, and the transport may replace them by a code.
Message DirectTransfers::notification_behind(const Operation& operation) {
  Message message;
  message.kind = MessageKind::notify;
  message.gate = Gate::open;
  message.notify(operation.notify_arg);
  sender_.address(operation.target, message);
  return message;
}

bool DirectTransfers::transmit(RecordedOperation& recorded) {
  Operation& operation = recorded.operation;
  Target& target = *recorded.target;
  const Member& member = region_.member(target.rank);
  const bool write = operation.kind == OperationKind::put;
  const std::uint64_t start = member.memory.address + member.offset(operation.displacement);
  const bool waits = recorded.epoch->closed;
  const bool tells = write && operation.notify_arg.wanted() && messages_.orders_writes();
  ElementRuns left(operation);
  left.skip(recorded.sent);
  while (left.bytes() != 0) {
    std::array<TransferRun, Messages::most_runs> runs;
    std::size_t used = 0;
    // A waiting process serves other ranks between two pieces: they may need its answer before they
    // send.
    std::uint64_t space = waits ? limits_.direct_fragment : operation.bytes();
    ElementRuns next = left;
    while (used < runs.size() && space != 0 && next.bytes() != 0) {
      const std::uint64_t bytes = std::min(next.bytes(), space);
      runs[used++] = {write ? next.origin() : next.result(),
                      start + static_cast<std::uint64_t>(next.offset()), bytes};
      space -= bytes;
      next.skip(bytes);
    }
    Message notification;
    Behind behind;
    const bool last = tells && next.bytes() == 0;
    if (last) {
      notification = notification_behind(operation);
      behind.message = notification.trim();
    }
    const std::uint64_t taken =
        messages_.transfer(member.process, write, std::span(runs).first(used), member.memory.key,
                           Pool<RecordedOperation>::token(recorded), last ? &behind : nullptr);
    if (taken == 0) return false;
    recorded.sent += taken;
    left.skip(taken);
    if (tells && left.bytes() == 0) {
      if (!behind.went) messages_.send(member.process, behind.message, {});
      operation.notify_arg = {};
    }
    ++(write ? target.writes : target.reads);
    if (waits && left.bytes() != 0) return false;
  }
  return true;
}

void DirectTransfers::note_end(RecordedOperation& recorded, bool last) {
  Target& target = *recorded.target;
  --(recorded.operation.kind == OperationKind::put ? target.writes : target.reads);
  if (last && recorded.operation.awaits_answer()) --target.unasked;
}

}  // namespace oriel
