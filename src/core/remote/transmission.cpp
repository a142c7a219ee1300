// SPDX-License-Identifier: BSD-3-Clause
// How RemoteTargets sends an operation: by messages, by a direct transfer, or by a rendezvous.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "core/base/pool.hpp"
#include "core/operation/element_runs.hpp"
#include "core/region/region.hpp"
#include "core/remote/remote_targets.hpp"

namespace oriel {
namespace {

bool sends(const Operation& operation) {
  return operation.kind != OperationKind::get && operation.kind != OperationKind::acknowledge &&
         operation.reduction.op != Op::no_op;
}

/// The bytes of the longest piece; accumulates are cut between elements.
std::uint64_t largest_fragment(const Operation& operation, std::uint64_t limit) {
  const std::uint64_t element = operation.reduction.element;
  if (element == 0) return limit;
  return std::max(limit / element, std::uint64_t{1}) * element;
}

/// Some runs of a direct transfer: their number and all their bytes.
struct NextRuns {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
};

/// Sets `runs` to the runs of a put or get behind its first `sent` bytes, up to `most` bytes.
/// `start`: the address of the target's first element.
NextRuns next_runs(const Operation& operation, std::uint64_t start, std::uint64_t sent,
                   std::uint64_t most, std::span<TransferRun> runs) {
  const bool put = operation.kind == OperationKind::put;
  const Buffer& local = put ? operation.origin : operation.result;
  if (local.layout->contiguous() && operation.target_layout->contiguous()) {
    const std::uint64_t bytes = std::min(operation.bytes() - sent, most);
    runs[0] = {static_cast<std::byte*>(local.address) + sent, start + sent, bytes};
    return {1, bytes};
  }
  NextRuns next;
  ElementRuns rest(operation);
  rest.skip(sent);
  while (next.count < runs.size() && next.bytes != most && rest.bytes() != 0) {
    const std::uint64_t bytes = std::min(rest.bytes(), most - next.bytes);
    runs[next.count++] = {put ? rest.origin() : rest.result(),
                          start + static_cast<std::uint64_t>(rest.offset()), bytes};
    next.bytes += bytes;
    rest.skip(bytes);
  }
  return next;
}

}  // namespace

Message RemoteTargets::request(const Operation& operation, const Epoch& epoch,
                               const Target& target) const {
  Message message;
  message.kind = MessageKind::operation;
  message.operation = operation.kind;
  message.op = operation.reduction.op;
  message.basic = operation.reduction.basic;
  message.element = operation.reduction.element;
  switch (epoch.kind) {
    case EpochKind::fence:
      message.gate = Gate::fence;
      message.stamp = epoch.call;
      break;
    case EpochKind::lock:
    case EpochKind::lock_all:
      message.gate = Gate::lock;
      message.stamp = fence_.ended();
      break;
    case EpochKind::notified:
      message.gate = Gate::open;
      break;
    case EpochKind::access:
    case EpochKind::exposure:
      message.gate = Gate::exposure;
      message.stamp = target.id;
      break;
  }
  return message;
}

void RemoteTargets::describe(const Layout& layout, int rank) {
  LayoutCache& cache = layouts_.described[region_.member(rank).process];
  if (cache.find(layout.id())) return;
  cache.insert(layout.id(), LayoutRef(&layout));
  constexpr std::size_t most = Message::most_data / sizeof(Block);
  const std::span blocks(layout.blocks());
  for (std::size_t first = 0; first < blocks.size(); first += most) {
    const auto piece = blocks.subspan(first, std::min(most, blocks.size() - first));
    Message message;
    message.kind = MessageKind::layout;
    message.layout = layout.id();
    message.extent = layout.extent();
    message.basic = layout.basic();
    message.first = first;
    message.last = first + piece.size() == blocks.size() ? 1 : 0;
    message.data = static_cast<std::uint32_t>(piece.size_bytes());
    sender_.send(rank, message, std::as_bytes(piece));
  }
}

void RemoteTargets::send_fragment(Message message, const Operation& operation, std::uint64_t first,
                                  std::uint64_t bytes) {
  const int rank = operation.target;
  message.first = first;
  message.offset = region_.member(rank).offset(operation.displacement);
  message.handle_token = operation.handle.token;
  message.handle_slot = operation.handle.slot;
  if (operation.target_layout->contiguous()) {
    message.offset += first;
    // The target looks up the whole range in its attached memory, or assembles the whole operation.
    if (region_.dynamic() || message.assembly != Assembly::none) message.count = operation.bytes();
  } else {
    message.layout = operation.target_layout->id();
    message.count = operation.target_count;
    describe(*operation.target_layout, rank);
  }
  if (first + bytes == operation.bytes()) message.notify(operation.notify_arg);
  if (fetches(operation.kind)) message.fetched = static_cast<std::uint32_t>(bytes);
  if (!sends(operation)) return sender_.send(rank, message);
  message.data = static_cast<std::uint32_t>(bytes);
  const auto* source = static_cast<const std::byte*>(operation.origin.address);
  if (operation.kind == OperationKind::compare_and_swap) {
    scratch_.resize(2 * bytes);
    std::memcpy(scratch_.data(), operation.compare, bytes);
    std::memcpy(scratch_.data() + bytes, source, bytes);
    return sender_.send(rank, message, scratch_);
  }
  if (operation.origin.layout->contiguous()) {
    return sender_.send(rank, message, {source + first, bytes});
  }
  scratch_.resize(bytes);
  operation.origin.pack(first, bytes, scratch_.data());
  sender_.send(rank, message, scratch_);
}

/// Notifies the target of an operation whose bytes have been moved.
void RemoteTargets::send_notification(RecordedOperation& recorded) {
  if (!recorded.operation.notify_arg.wanted()) return;
  Message message = request(recorded.operation, *recorded.epoch, *recorded.target);
  message.kind = MessageKind::notify;
  message.notify(recorded.operation.notify_arg);
  sender_.send(recorded.target->rank, message);
  recorded.operation.notify_arg = {};
}

/// Begins the transfer of the last `bytes` bytes of a direct write, which are in these runs. If the
/// network accepts all, the notification follows. The notification has no gate, because the write
/// is made only when the target is available. So the messages of equal notifications (tag and
/// length) are equal, and the transport may replace them by a code.
Accepted RemoteTargets::transfer_with_notification(const Operation& put, std::uint64_t token,
                                                   std::span<const TransferRun> runs,
                                                   std::uint64_t bytes) {
  const Member& member = region_.member(put.target);
  Message notification;
  notification.kind = MessageKind::notify;
  notification.gate = Gate::open;
  notification.notify(put.notify_arg);
  sender_.address(put.target, notification);
  Behind behind;
  behind.message = notification.trim();
  const Accepted accepted =
      messages_.transfer(member.process, true, runs, member.memory.key, token, &behind);
  if (accepted.bytes == bytes && !behind.went && !behind.failed) {
    messages_.send(member.process, behind.message, {});
  }
  return accepted;
}

/// Gives the network as much of a long put or get as it accepts (Protocol::direct): it moves the
/// bytes between the origin's buffer and the exposed memory of the target, whose Server takes no
/// part. True if it has accepted all. The target is available.
bool RemoteTargets::transmit_directly(RecordedOperation& recorded) {
  Operation& operation = recorded.operation;
  Target& target = *recorded.target;
  const Member& member = region_.member(target.rank);
  const bool write = operation.kind == OperationKind::put;
  const std::uint64_t start = member.memory.address + member.offset(operation.displacement);
  const bool waits = recorded.epoch->closed;
  const bool notifies = notifies_at_once(operation);
  const std::uint64_t total = operation.bytes();
  const std::uint64_t token = Pool<RecordedOperation>::token(recorded);
  while (recorded.sent != total) {
    std::array<TransferRun, Messages::most_runs> runs;
    // A waiting process serves other ranks between two pieces: they may need its answer before they
    // send.
    const std::uint64_t most = waits ? limits_.direct_fragment : total;
    const NextRuns next = next_runs(operation, start, recorded.sent, most, runs);
    const std::span some(runs.data(), next.count);
    const bool last = notifies && recorded.sent + next.bytes == total;
    const Accepted accepted =
        last ? transfer_with_notification(operation, token, some, next.bytes)
             : messages_.transfer(member.process, write, some, member.memory.key, token, nullptr);
    if (accepted.bytes == 0) return false;
    recorded.uncopied = recorded.uncopied || !accepted.copied;
    recorded.sent += accepted.bytes;
    if (notifies && recorded.sent == total) operation.notify_arg = {};
    ++(write ? target.writes : target.reads);
    if (waits && recorded.sent != total) return false;
  }
  recorded.copied = !recorded.uncopied;
  return true;
}

/// Moves an operation that the network carries out now from those that wait.
void RemoteTargets::put_under_way(RecordedOperation& recorded) {
  Target& target = *recorded.target;
  target.waiting.remove(recorded);
  if (recorded.copied) {
    PendingOperations::append_copied(target, recorded);
  } else {
    target.moving.append(recorded);
  }
}

/// Registers the operation's buffer for its target, which moves the bytes of a rendezvous by direct
/// transfers of its own. Returns the number for RecordedOperation::registration; -1: the buffer
/// cannot be registered.
int RemoteTargets::register_buffer(const Operation& operation) {
  const bool put = operation.kind == OperationKind::put;
  const Buffer& buffer = put ? operation.origin : operation.result;
  return registrations_.register_buffer(region_.member(operation.target).process, !put,
                                        buffer.address, operation.bytes());
}

/// Sends the request of a rendezvous with the buffer's address and key. `message` has the kind and
/// the gate of an operation.
void RemoteTargets::send_rendezvous(RecordedOperation& recorded, Message message) {
  const Operation& operation = recorded.operation;
  const RemoteMemory& registered = registrations_.memory(recorded.registration);
  message.kind = MessageKind::rendezvous;
  message.word = Pool<RecordedOperation>::token(recorded);
  message.offset = region_.member(operation.target).offset(operation.displacement);
  message.handle_token = operation.handle.token;
  message.handle_slot = operation.handle.slot;
  message.count = operation.bytes();
  message.data = sizeof registered;
  message.notify(operation.notify_arg);
  sender_.send(operation.target, message, std::as_bytes(std::span(&registered, 1)));
  recorded.sent = operation.bytes();
}

bool RemoteTargets::transmit_now(const Operation& operation, Epoch& epoch, Target& target) {
  const std::uint64_t bytes = operation.bytes();
  if (bytes > largest_fragment(operation, limits_.fragment) ||
      !reserve(epoch, target, bytes + Message::held_bytes)) {
    return false;
  }
  send_fragment(request(operation, epoch, target), operation, 0, bytes);
  return true;
}

bool RemoteTargets::transmit(RecordedOperation& recorded) {
  Epoch& epoch = *recorded.epoch;
  Target& target = *recorded.target;
  if (recorded.state == RecordedOperation::State::notifying) {
    if (!reserve(epoch, target, Message::held_bytes)) return false;
    send_notification(recorded);
    return true;
  }
  switch (recorded.protocol) {
    case Protocol::direct:
      return prepare_transfer(epoch, target) && transmit_directly(recorded);
    case Protocol::rendezvous:
      // The target holds the request back like any message.
      if (!reserve(epoch, target, Message::held_bytes)) return false;
      send_rendezvous(recorded, request(recorded.operation, epoch, target));
      return true;
    case Protocol::network_atomic:
      return prepare_transfer(epoch, target) && atomics_.transmit(recorded);
    case Protocol::stored:
    case Protocol::system_call:
    case Protocol::message:
      break;
  }
  if (recorded.operation.kind == OperationKind::acknowledge) {
    if (!reserve(epoch, target, 0)) return false;
    send_question(recorded);
    return true;
  }
  return transmit_by_messages(recorded);
}

/// Returns whether the operation is an accumulate that must be one update, however many messages it
/// takes.
bool RemoteTargets::one_update(const Operation& operation) const {
  return reduces(operation.kind) && !operation.reduction.by_elements &&
         !region_.atomicity().by_elements(operation.reduction, fetches(operation.kind));
}

bool RemoteTargets::transmit_by_messages(RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  Epoch& epoch = *recorded.epoch;
  Target& target = *recorded.target;
  const std::uint64_t total = operation.bytes();
  const std::uint64_t piece = largest_fragment(operation, limits_.fragment);
  const bool fetching = fetches(operation.kind);
  const bool whole = total > piece && one_update(operation);
  // An operation that sends no data asks for all its results by its last message alone.
  if (whole && !sends(operation)) recorded.sent = total - piece;
  while (recorded.sent < total) {
    if (fetching && !whole && recorded.sent - recorded.received >= limits_.under_way) return false;
    const std::uint64_t bytes = std::min(piece, total - recorded.sent);
    if (!reserve(epoch, target, (sends(operation) ? bytes : 0) + Message::held_bytes)) return false;
    Message message = request(operation, epoch, target);
    message.word = Pool<RecordedOperation>::token(recorded);
    if (whole) {
      message.assembly = recorded.sent + bytes < total ? Assembly::more : Assembly::complete;
    }
    send_fragment(message, operation, recorded.sent, bytes);
    recorded.sent += bytes;
  }
  return true;
}

/// Returns whether a put or get of this length may be a direct transfer that need not wait for its
/// target. Requests the target's lock if it has not been requested. False for an operation whose
/// notification would be sent only when the transfer has ended: it would be late, and arrive behind
/// those of later operations. False for a short notified put (Limits::notified). False while a put
/// that is a message is unanswered: a transfer could overtake it.
bool RemoteTargets::transfers_now(const Operation& operation, Epoch& epoch, Target& target) {
  const bool puts = operation.kind == OperationKind::put;
  if (operation.bytes() < limits_.direct_from || (!puts && operation.kind != OperationKind::get) ||
      !epoch.active) {
    return false;
  }
  if (operation.notify_arg.wanted() &&
      (!notifies_at_once(operation) || operation.bytes() <= limits_.notified)) {
    return false;
  }
  if (target.last_put > target.finished) return false;
  return acquire(epoch, target);
}

Outcome RemoteTargets::issue(const Operation& operation, Epoch& epoch, Target& target) {
  const bool now = transfers_now(operation, epoch, target);
  Protocol protocol = select_protocol(operation, region_, limits_, now);
  if (protocol == Protocol::network_atomic) {
    state_.events.issued(operation, protocol);
    const Outcome outcome = atomics_.record(operation, epoch, target);
    if (outcome.ok() && epoch.active) advance(epoch, target);
    return outcome;
  }
  const bool empty = operation.bytes() == 0;
  if (empty && !operation.notify_arg.wanted()) return Outcome::finished();
  // A buffer that cannot be registered is sent in messages.
  const int registration = protocol == Protocol::rendezvous ? register_buffer(operation) : -1;
  if (protocol == Protocol::rendezvous && registration < 0) protocol = Protocol::message;
  state_.events.issued(operation, protocol);
  const bool fetching = fetches(operation.kind) && !empty;
  const bool by_messages = protocol == Protocol::message;
  if (protocol == Protocol::rendezvous) ++target.counted_apart;
  const bool counted = !completes_here(operation.kind, protocol) ||
                       (protocol == Protocol::direct && notifies_at_once(operation));
  if (counted) target.count_unanswered(operation.thread);
  if (by_messages && operation.kind == OperationKind::put) target.last_put = target.issued;
  if (fetching && by_messages) {
    target.last_fetch = target.issued;
    // The reply answers for all operations before it, but on a dynamic window it does not report
    // those that the target has refused.
    if (!region_.dynamic()) target.asked = target.issued;
  }
  const bool awaits_answer = operation.awaits_answer() && !empty;
  if (epoch.active && target.waiting.empty() && !fetching && by_messages && !empty &&
      !awaits_answer && transmit_now(operation, epoch, target)) {
    return Outcome::finished();
  }
  RecordedOperation& recorded = state_.pending.record(operation, protocol, epoch, target);
  recorded.registration = registration;
  recorded.counted = counted;
  if (empty) recorded.state = RecordedOperation::State::notifying;
  if (protocol == Protocol::direct) {
    target.transferred = true;
    if (asks_behind(operation)) ++target.unasked;
  }
  PendingOperations::append(target, recorded);
  if (!epoch.active) {
    return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
  }
  // The operation may be sent before this call returns, and is then complete for the caller.
  Flag flag;
  recorded.operation.completion = &flag;
  if (protocol == Protocol::direct && now && target.waiting.first() == &recorded &&
      !sender_.congested(target.rank)) {
    if (transmit_directly(recorded)) put_under_way(recorded);
  } else {
    advance(epoch, target);
  }
  if (flag.done()) return Outcome::finished();
  recorded.operation.completion = operation.completion;
  return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
}

}  // namespace oriel
