// SPDX-License-Identifier: BSD-3-Clause
// When messages may be sent to a remote target, and how its answers are handled.
#include "core/remote/remote_targets.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace oriel {

RemoteTargets::RemoteTargets(EpochState& state, Peers& peers, Region& region, Messages& messages,
                             const Limits& limits, LayoutCaches& layouts, Sender& sender,
                             Server& server, CountedFence& fence, NetworkAtomics& atomics)
    : Link(true),
      state_(state),
      peers_(peers),
      region_(region),
      messages_(messages),
      limits_(limits),
      layouts_(layouts),
      sender_(sender),
      server_(server),
      fence_(fence),
      atomics_(atomics),
      registrations_(messages) {}

void RemoteTargets::expose(int origin, std::uint64_t id, bool no_check) {
  if (!no_check) sender_.send_word(origin, MessageKind::granted, id);
  server_.release(origin);
}

bool RemoteTargets::lock_granted(int rank, std::uint64_t request) {
  return region_.slot_from(rank).lock_granted.load(std::memory_order_acquire) >= request;
}

bool RemoteTargets::acquire(Epoch& epoch, Target& target) {
  if (target.access == Target::Access::granted) return true;
  Peer& peer = peers_[target.rank];
  switch (epoch.kind) {
    case EpochKind::access:
      if (!region_.exposed(target.rank, target.id)) return false;
      break;
    case EpochKind::lock:
    case EpochKind::lock_all:
      if (epoch.no_check) {
        // Operations of a weak unlock may not have arrived there, and the target may not have ended
        // the last fence. Only a reply shows that.
        if (peer.weak_unanswered() || peer.fence_answered < fence_.ended()) return false;
        break;
      }
      if (target.access == Target::Access::idle) {
        if (!state_.lock_order.may_request(epoch, target, peer)) return false;
        release_ahead(target.rank);
        if (!lock_granted(target.rank, peer.lock_requests) &&
            peer.ahead + 2 * Message::held_bytes > limits_.ahead) {
          return false;
        }
        peer.ahead += 2 * Message::held_bytes;  // the lock and the unlock
        peer.ahead_lock = peer.lock_requests + 1;
        peer.locking = &epoch;
        target.access = Target::Access::requested;
        target.id = ++peer.lock_requests;
        sender_.send(target.rank, of_lock(MessageKind::lock, epoch));
        if (epoch.closed && !epoch.weak) move_get_last(target);
      }
      if (!lock_granted(target.rank, target.id)) return false;
      break;
    case EpochKind::fence:  // only a reply shows that the target is available
    case EpochKind::exposure:
    case EpochKind::notified:  // granted when the target is added
      return false;
  }
  state_.pending.mark_granted(epoch, target);
  return true;
}

/// For an epoch that was closed before its operations were sent: moves a get to the end. Its reply
/// then answers for all operations, and the unlock asks for no other answer (S4). The get does not
/// move past an operation whose position matters, nor past an operation on the same memory,
/// although MPI promises no order there.
void RemoteTargets::move_get_last(Target& target) {
  if (target.asked == target.issued || !target.flushes.empty() || region_.dynamic()) return;
  const Member& member = region_.member(target.rank);
  const auto bounds = [&](const Operation& operation) {
    const auto [low, high] = operation.target_layout->bounds(operation.target_count);
    const auto start = static_cast<std::int64_t>(member.offset(operation.displacement));
    return std::pair(start + low, start + high);
  };
  const auto meet = [&](const Operation& one, const Operation& other) {
    const auto [low, high] = bounds(one);
    const auto [others_low, others_high] = bounds(other);
    return low < others_high && others_low < high;
  };
  RecordedOperation* get = nullptr;
  for (RecordedOperation* one = target.waiting.first(); one != nullptr;
       one = RecordedQueue::after(*one)) {
    const Operation& operation = one->operation;
    const bool keeps_position = one->protocol != Protocol::message || operation.ordered ||
                                operation.kind == OperationKind::acknowledge ||
                                operation.notify_arg.wanted();
    if (keeps_position || (get != nullptr && meet(get->operation, operation))) get = nullptr;
    if (!keeps_position && operation.kind == OperationKind::get) get = one;
  }
  if (get == nullptr || target.waiting.last()->number != target.issued) return;
  target.waiting.remove(*get);
  PendingOperations::append(target, *get);
  get->number = target.last_fetch = target.asked = target.issued;
}

/// Resets the bytes sent ahead if the target has opened all epochs that they were for.
void RemoteTargets::release_ahead(int rank) {
  Peer& peer = peers_[rank];
  if (region_.exposed(rank, peer.ahead_access) && lock_granted(rank, peer.ahead_lock) &&
      (peer.ahead_fence == 0 || fence_.ended() > peer.ahead_fence) && !peer.ahead_unchecked) {
    peer.ahead = 0;
  }
}

bool RemoteTargets::reserve(Epoch& epoch, Target& target, std::uint64_t bytes) {
  Peer& peer = peers_[target.rank];
  if (sender_.congested(target.rank)) return false;
  if (acquire(epoch, target)) return true;
  if (epoch.passive() && !epoch.no_check && target.access == Target::Access::idle) return false;
  if (peer.ahead + bytes > limits_.ahead) release_ahead(target.rank);
  if (peer.ahead + bytes > limits_.ahead) {
    if ((epoch.kind == EpochKind::fence || epoch.no_check) &&
        target.access == Target::Access::idle) {
      // The answer is sent as soon as the target has opened the epoch.
      target.access = Target::Access::requested;
      RecordedOperation& asked = question(epoch, target);
      asked.number = target.finished;
      send_question(asked);
    }
    return false;
  }
  peer.ahead += static_cast<std::uint32_t>(bytes);  // at most Limits::ahead in all
  if (epoch.passive() && epoch.no_check) {
    peer.ahead_unchecked = true;
  } else if (epoch.passive()) {
    peer.ahead_lock = target.id;
  } else if (epoch.kind == EpochKind::fence) {
    peer.ahead_fence = epoch.call;
  } else {
    peer.ahead_access = target.id;
  }
  return true;
}

/// The target does not hold back a direct transfer. So the transfer waits here until the target is
/// known to be available: it reserves more than may be sent ahead.
bool RemoteTargets::prepare_transfer(Epoch& epoch, Target& target) {
  return reserve(epoch, target, limits_.ahead + 1);
}

RecordedOperation& RemoteTargets::question(Epoch& epoch, Target& target) {
  Operation nothing;
  nothing.kind = OperationKind::acknowledge;
  nothing.target = target.rank;
  RecordedOperation& recorded = state_.pending.record(nothing, Protocol::message, epoch, target);
  // The answer may bring errors of operations that have been sent before this question. A pending
  // flush that covers the oldest waiting operation covers these, too, as its own question comes
  // later.
  recorded.age = target.waiting.empty() ? ++target.recorded : target.waiting.first()->age;
  return recorded;
}

void RemoteTargets::mark_asked(RecordedOperation& question, EpochPeer& peer) {
  question.state = RecordedOperation::State::asked;
  // Questions of other epochs have gates that do not depend on locks.
  if (question.epoch->passive()) question.sent = peer.weak_asked = peer.weak_sent;
}

void RemoteTargets::send_question(RecordedOperation& question) {
  const int rank = question.target->rank;
  Message message = request(question.operation, *question.epoch, *question.target);
  message.word = Pool<RecordedOperation>::token(question);
  message.acknowledge = 1;
  mark_asked(question, peers_[rank]);
  sender_.send(rank, message);
}

void RemoteTargets::ask(Epoch& epoch, Target& target) {
  target.asked = target.issued;
  PendingOperations::append(target, question(epoch, target));
  if (epoch.active) advance(epoch, target);
}

bool RemoteTargets::ask_alone(Epoch& epoch, Target& target, Completion* completion) {
  // On a dynamic window the first answer reports all operations that the target has refused, also
  // those of other threads.
  if (region_.dynamic() || !reserve(epoch, target, 0)) return false;
  RecordedOperation& asked = question(epoch, target);
  asked.operation.completion = completion;
  asked.number = target.finished;
  asked.alone = true;
  ++target.asked_alone;
  send_question(asked);
  return true;
}

bool RemoteTargets::completes_here(OperationKind kind, Protocol protocol) const {
  if (protocol != Protocol::direct) return awaits_network(protocol);
  return kind == OperationKind::get || messages_.delivers_writes();
}

bool RemoteTargets::ask_behind(RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  Target& target = *recorded.target;
  // The reply to a later operation may have answered for this one.
  if (!operation.awaits_answer() || completes_here(operation.kind, recorded.protocol) ||
      target.finished >= recorded.number) {
    return false;
  }
  Operation nothing;
  nothing.kind = OperationKind::acknowledge;
  nothing.target = operation.target;
  nothing.completion = operation.completion;
  recorded.operation = nothing;
  recorded.protocol = Protocol::message;
  recorded.sent = recorded.received = 0;
  target.asked = std::max(target.asked, recorded.number);
  return true;
}

void RemoteTargets::transferred(RecordedOperation& recorded, const Transfer& transfer) {
  Target& target = *recorded.target;
  const bool over = state_.pending.count_transfer(recorded, transfer);
  if (recorded.protocol == Protocol::direct) {
    --(recorded.operation.kind == OperationKind::put ? target.writes : target.reads);
    if (over && asks_behind(recorded.operation)) --target.unasked;
  } else if (over) {
    --target.counted_apart;
  }
  if (over) {
    Epoch& epoch = *recorded.epoch;
    (recorded.copied ? target.copied : target.moving).remove(recorded);
    const bool notifies = recorded.operation.notify_arg.wanted() && recorded.error == Error::none;
    if (notifies) {
      recorded.state = RecordedOperation::State::notifying;
      state_.pending.count_notification(recorded);
    }
    const bool waits = notifies || ask_behind(recorded);
    waits ? target.insert_waiting(recorded) : state_.pending.conclude(recorded);
    if (state_.pending.flush_unasked(target)) {
      ask(epoch, target);
    } else if (waits) {
      advance(epoch, target);
    }
  }
  state_.pending.satisfy_flushes(target);
}

bool RemoteTargets::advance(Epoch& epoch, Target& target) {
  // Requests the lock, in lock epochs.
  acquire(epoch, target);
  bool moved = false;
  bool others_turn = false;
  while (!others_turn && !target.waiting.empty()) {
    RecordedOperation* recorded = target.waiting.first();
    const std::uint64_t sent = recorded->sent;
    if (!transmit(*recorded)) {
      moved |= recorded->sent != sent;
      break;
    }
    moved = true;
    const bool direct = recorded->protocol == Protocol::direct;
    if (!direct && ask_behind(*recorded)) continue;
    const OperationKind kind = recorded->operation.kind;
    const bool notified = recorded->state == RecordedOperation::State::notifying;
    if (!notified && awaits_network(recorded->protocol)) {
      others_turn = direct && epoch.closed;
      put_under_way(*recorded);
      continue;
    }
    target.waiting.remove(*recorded);
    if (notified || (kind != OperationKind::acknowledge && !fetches(kind))) {
      state_.pending.conclude(*recorded);
    }
  }
  if (moved) state_.pending.satisfy_flushes(target);
  // Before the target is notified of the epoch's end:
  // - Reads, network atomics and rendezvous are complete. So are writes, unless no message can
  //   overtake them.
  // - Questions behind direct writes (`unasked`) have been sent: after the unlock they would find
  //   no lock.
  if (epoch.closed && target.waiting.empty() &&
      target.reads + target.counted_apart + target.unasked == 0 &&
      (target.writes == 0 || messages_.orders_writes())) {
    moved |= end_access(epoch, target);
  }
  return moved;
}

bool RemoteTargets::end_access(Epoch& epoch, Target& target) {
  EpochPeer& peer = peers_[target.rank];
  // Only the target knows which memory it has attached. The unlock of a lock epoch is answered
  // anyway.
  if (region_.dynamic() && !epoch.passive() && target.asked < target.issued) {
    target.asked = target.issued;
    send_question(question(epoch, target));
  }
  if (epoch.kind == EpochKind::access && !peer.done.add(target.id)) return false;
  // The lock may not have been requested, for instance because an earlier epoch of this rank has
  // its place in the target's queue.
  const bool in_queue = epoch.no_check || target.access != Target::Access::idle;
  if (epoch.passive() && !in_queue && asks_at_end(epoch, target)) return false;
  state_.pending.mark_signaled(epoch, target);
  if (epoch.kind == EpochKind::access) {
    sender_.send_word(target.rank, MessageKind::done, peer.done.word());
  } else if (epoch.kind == EpochKind::fence) {
    if (fence_.marked(target)) sender_.send_word(target.rank, MessageKind::mark, fence_.call());
  } else if (epoch.passive() && in_queue) {
    send_unlock(epoch, target);
  }
  return true;
}

Message RemoteTargets::of_lock(MessageKind kind, const Epoch& epoch) const {
  Message message;
  message.kind = kind;
  message.gate = Gate::lock;
  message.stamp = fence_.ended();
  message.exclusive = epoch.exclusive ? 1 : 0;
  message.joins = epoch.kind == EpochKind::lock_all ? 1 : 0;
  return message;
}

/// True if the end of the epoch asks the target for an answer. If the last operation fetches, its
/// reply answers for all of them.
bool RemoteTargets::asks_at_end(const Epoch& epoch, const Target& target) const {
  return !epoch.weak && (target.asked < target.issued || peers_[target.rank].weak_unanswered());
}

void RemoteTargets::send_unlock(Epoch& epoch, Target& target) {
  EpochPeer& peer = peers_[target.rank];
  if (epoch.weak && target.asked < target.issued) {
    if (!peer.weak_unanswered()) state_.pending.count_weak_peer(true);
    ++peer.weak_sent;
  }
  Message message = of_lock(MessageKind::unlock, epoch);
  if (asks_at_end(epoch, target)) {
    target.asked = target.issued;
    RecordedOperation& recorded = question(epoch, target);
    if (epoch.no_check) {
      send_question(recorded);
      return;
    }
    mark_asked(recorded, peer);
    message.word = Pool<RecordedOperation>::token(recorded);
    message.acknowledge = 1;
  }
  if (epoch.no_check) return;
  peer.locking = nullptr;
  sender_.send(target.rank, message);
}

bool RemoteTargets::receive_word(const Message& message) {
  Slot& slot = region_.slot_from(message.origin);
  if (message.kind == MessageKind::done) {
    slot.done.store(message.word, std::memory_order_release);
    return true;
  }
  // These words are counters, which only grow.
  std::atomic<std::uint64_t>& word =
      message.kind == MessageKind::granted ? slot.granted : slot.lock_granted;
  if (message.word <= word.load(std::memory_order_relaxed)) return false;
  word.store(message.word, std::memory_order_release);
  return true;
}

/// A message that waits for its gate is answered after the gate has opened, so an answer shows that
/// the target is available.
void RemoteTargets::mark_open(const RecordedOperation& answered) {
  Target& target = *answered.target;
  if (target.access != Target::Access::granted)
    state_.pending.mark_granted(*answered.epoch, target);
  if (answered.epoch->kind != EpochKind::access) return;
  // As the message of a post without NOCHECK does.
  std::atomic<std::uint64_t>& granted = region_.slot_from(target.rank).granted;
  if (granted.load(std::memory_order_relaxed) < target.id) {
    granted.store(target.id, std::memory_order_relaxed);
  }
}

/// Receives the end message of a rendezvous: the target no longer uses this rank's buffer.
bool RemoteTargets::receive_end(RecordedOperation& recorded, const Message& message) {
  if (message.fetched != 0 || message.data != 0 || recorded.sent == 0) return false;
  Target& target = *recorded.target;
  state_.pending.add_error(recorded, message.error);
  mark_open(recorded);
  registrations_.deregister_buffer(recorded.registration);
  target.moving.remove(recorded);
  --target.counted_apart;
  state_.pending.conclude(recorded);
  state_.pending.satisfy_flushes(target);
  return true;
}

bool RemoteTargets::receive_reply(const Message& message, std::span<const std::byte> payload) {
  RecordedOperation* recorded = state_.pending.find(message.word);
  if (recorded == nullptr || recorded->operation.target != message.origin ||
      payload.size() != message.data) {
    return false;
  }
  if (recorded->protocol == Protocol::rendezvous) return receive_end(*recorded, message);
  Target& target = *recorded->target;
  if (recorded->operation.kind == OperationKind::acknowledge) {
    if (message.fetched != 0 || message.data != 0 ||
        recorded->state != RecordedOperation::State::asked) {
      return false;
    }
    Peer& peer = peers_[target.rank];
    if (recorded->epoch->passive()) {
      // No fence ends while a lock epoch awaits an answer.
      peer.fence_answered = fence_.ended();
      peer.ahead_unchecked = false;
    }
    if (recorded->sent > peer.weak_answered) {
      peer.weak_answered = recorded->sent;
      if (!peer.weak_unanswered()) state_.pending.count_weak_peer(false);
    }
  } else {
    if (!fetches(recorded->operation.kind) || recorded->protocol != Protocol::message ||
        message.first != recorded->received || message.fetched == 0 ||
        message.fetched > recorded->sent - recorded->received ||
        (message.error == Error::none && message.data != message.fetched) ||
        message.data > message.fetched) {
      return false;
    }
    const Buffer& result = recorded->operation.result;
    if (recorded->operation.kind == OperationKind::compare_and_swap) {
      std::memcpy(result.address, payload.data(), payload.size());
    } else if (!payload.empty()) {
      result.unpack(message.first, payload.size(), payload.data());
    }
    recorded->received += message.fetched;
  }
  state_.pending.add_error(*recorded, message.error);
  mark_open(*recorded);
  if (recorded->operation.kind != OperationKind::acknowledge &&
      recorded->received < recorded->operation.bytes()) {
    return true;
  }
  // On a dynamic window only the answer to a question shows whether all earlier operations have
  // been carried out.
  if (recorded->operation.kind == OperationKind::acknowledge || !region_.dynamic()) {
    target.finished = std::max(target.finished, recorded->number);
    if (target.finished == target.issued) target.unasked_threads = 0;
  }
  if (recorded->alone) --target.asked_alone;
  state_.pending.conclude(*recorded);
  state_.pending.satisfy_flushes(target);
  return true;
}

}  // namespace oriel
