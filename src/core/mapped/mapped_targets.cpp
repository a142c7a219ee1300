// SPDX-License-Identifier: BSD-3-Clause
#include "core/mapped/mapped_targets.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/lock/lock_line.hpp"
#include "core/operation/operation.hpp"
#include "core/region/region.hpp"

namespace oriel {

void MappedTargets::expose(int origin, std::uint64_t id, bool /*no_check*/) {
  // NOCHECK saves remote ranks a message, not this store: the origin needs it if its epoch has been
  // deferred.
  // Release: our stores to our window come before it.
  region_.slot_at(origin).granted.store(id, std::memory_order_release);
  region_.wake(origin);
}

Outcome MappedTargets::issue(const Operation& operation, Epoch& epoch, Target& target) {
  const Protocol protocol = select_protocol(operation, region_, limits_, false);
  state_.events.issued(operation, protocol);
  if (protocol == Protocol::network_atomic) return issue_atomic(operation, epoch, target);
  if (epoch.active && target.access != Target::Access::granted) advance(epoch, target);
  if (epoch.active && target.access == Target::Access::granted) {
    if (inline_put(operation, target)) {
      ++target.issued;
      ++target.finished;
      return Outcome::finished();
    }
    if (const Error error = perform(operation); error != Error::none) {
      return Outcome::failed(error);
    }
    ++target.issued;
    if (!operation.notify_arg.wanted() || notify_now(operation)) {
      ++target.finished;
      return Outcome::finished();
    }
    RecordedOperation& recorded = state_.pending.record(operation, protocol, epoch, target);
    hold_notification(recorded);
    recorded.operation.completion = nullptr;  // its bytes have been moved
    PendingOperations::append(target, recorded);
    return Outcome::finished();
  }
  ++target.issued;
  if (fetches(operation.kind)) target.last_fetch = target.issued;
  PendingOperations::append(target, state_.pending.record(operation, protocol, epoch, target));
  return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
}

Outcome MappedTargets::issue_atomic(const Operation& operation, Epoch& epoch, Target& target) {
  // The other protocols keep the order when they carry out an operation.
  if (const Error error = keep_order(target.rank); error != Error::none) {
    return Outcome::failed(error);
  }
  const Outcome outcome = atomics_.record(operation, epoch, target);
  if (outcome.ok() && epoch.active) advance(epoch, target);
  return outcome;
}

void MappedTargets::transferred(RecordedOperation& recorded, const Transfer& transfer) {
  Target& target = *recorded.target;
  if (state_.pending.count_transfer(recorded, transfer)) {
    --target.counted_apart;
    target.moving.remove(recorded);
    if (recorded.operation.notify_arg.wanted() && recorded.error == Error::none) {
      target.insert_waiting(recorded);
      hold_notification(recorded);
      advance(*recorded.epoch, target);
    } else {
      state_.pending.conclude(recorded);
    }
  }
  state_.pending.satisfy_flushes(target);
}

bool MappedTargets::advance(Epoch& epoch, Target& target) {
  bool moved = false;
  // The end of an access epoch is also announced to targets without operations, and need not wait
  // for their exposures.
  const bool empty = epoch.closed && target.issued == 0 && target.counted_apart == 0 &&
                     epoch.kind == EpochKind::access;
  if (target.access != Target::Access::granted && !empty) {
    if (!acquire(epoch, target)) return false;
    state_.pending.mark_granted(epoch, target);
    target.in_pieces = epoch.closed && !epoch.no_check && !notifies(target);
    if (!target.in_pieces) begin_early(target);
    // Not before: operations of other threads would overtake the recorded ones (except network
    // atomics, which have no order with other operations). While an error is unreported, the hot
    // path stays closed, because only the general path of a flush checks for errors.
    if (!epoch.closed && target.error == Error::none) make_ready(target);
    moved = true;
  }
  while (RecordedOperation* recorded = target.waiting.first()) {
    const auto notifying = [&] { return recorded->state == RecordedOperation::State::notifying; };
    const std::uint64_t sent = recorded->sent;
    if (!notifying() && !carry_out(*recorded)) {
      moved |= recorded->sent != sent;
      break;
    }
    const bool notified = notifying();
    if (notified && !send_held_notification(*recorded)) break;
    target.waiting.remove(*recorded);
    moved = true;
    continue_with(target, *recorded, notified);
  }
  if (moved) state_.pending.satisfy_flushes(target);
  if (epoch.closed && target.all_finished()) moved |= end_access(epoch, target);
  return moved;
}

/// Carries out all operations recorded so far, even if there is no space for their notifications:
/// later operations are carried out at their call, and would overtake the recorded ones.
void MappedTargets::begin_early(Target& target) {
  RecordedQueue early = std::exchange(target.waiting, {});
  bool goes_on = true;
  while (RecordedOperation* recorded = early.first()) {
    early.remove(*recorded);
    goes_on = goes_on && carry_out(*recorded);
    if (!goes_on || recorded->state == RecordedOperation::State::notifying) {
      target.waiting.append(*recorded);
    } else {
      continue_with(target, *recorded, false);
    }
  }
}

/// Continues with an operation that has been carried out or begun, and has been removed from
/// `waiting`. `notified`: the target has been notified of it.
void MappedTargets::continue_with(Target& target, RecordedOperation& recorded, bool notified) {
  if (recorded.protocol != Protocol::network_atomic) {
    state_.pending.finish(recorded, Error::none);
  } else if (notified) {
    state_.pending.conclude(recorded);
  } else {
    target.moving.append(recorded);
  }
}

/// Carries out a recorded operation; a network atomic is begun only. False if that is not possible
/// now, or if a piece has been copied and it is other epochs' turn.
bool MappedTargets::carry_out(RecordedOperation& recorded) {
  if (recorded.protocol == Protocol::network_atomic) return atomics_.transmit(recorded);
  const bool in_pieces = copied_in_pieces(recorded);
  const Error error = in_pieces ? copy_piece(recorded) : perform(recorded.operation);
  if (in_pieces && error == Error::none && recorded.sent < recorded.operation.bytes()) return false;
  state_.pending.add_error(recorded, error);
  if (recorded.operation.notify_arg.wanted() && error == Error::none) hold_notification(recorded);
  return true;
}

/// Inlines a short put to private memory in its notification, which saves a system call. False if
/// this put is not inlined.
bool MappedTargets::inline_put(const Operation& operation, const Target& target) {
  // On a dynamic window displacements are addresses, not offsets.
  if (!operation.notify_arg.wanted() || operation.kind != OperationKind::put || region_.dynamic() ||
      !operation.target_layout->contiguous() || !operation.origin.layout->contiguous()) {
    return false;
  }
  const Member& member = region_.member(operation.target);
  return !member.loadable() &&
         put_notified(peers_[operation.target], target, member,
                      member.offset(operation.displacement), operation.origin.address,
                      operation.bytes(), operation.notify_arg);
}

/// Notifies the target now. False if the notification must wait, perhaps behind held ones. A
/// counter has no queue.
bool MappedTargets::notify_now(const Operation& operation) {
  const bool tag = operation.notify_arg.kind == NotifyKind::tag;
  if (tag && peers_[operation.target].holds_notifications()) return false;
  return notify(operation.target, operation.notify_arg);
}

/// False if the rank's queue has no space.
bool MappedTargets::notify(int rank, const NotifyArg& notify_arg) {
  const bool full = store_notification(rank, notify_arg) == NotifyOutcome::not_now;
  Peer& peer = peers_[rank];
  if (notify_arg.kind == NotifyKind::tag && full != peer.queue_full) {
    peer.queue_full = full;
    state_.events.report(
        {.rank = rank, .kind = full ? EventKind::queue_full : EventKind::queue_freed});
  }
  return !full;
}

void MappedTargets::hold_notification(RecordedOperation& recorded) {
  recorded.state = RecordedOperation::State::notifying;
  if (recorded.operation.notify_arg.kind != NotifyKind::tag) return;
  Peer& peer = peers_[recorded.target->rank];
  const bool others = peer.holds_notifications();
  recorded.held_number = ++peer.notifications_held;
  // Notifications of later operations may be held already. Each takes the number of the next one,
  // so this one comes before them.
  std::uint32_t* last = &recorded.held_number;
  for (RecordedOperation* one = RecordedQueue::after(recorded); others && one != nullptr;
       one = RecordedQueue::after(*one)) {
    if (one->state != RecordedOperation::State::notifying ||
        one->operation.notify_arg.kind != NotifyKind::tag) {
      continue;
    }
    std::swap(*last, one->held_number);
    last = &one->held_number;
  }
}

bool MappedTargets::send_held_notification(const RecordedOperation& recorded) {
  Peer& peer = peers_[recorded.target->rank];
  const bool tag = recorded.operation.notify_arg.kind == NotifyKind::tag;
  if (tag && recorded.held_number != peer.notifications_sent + 1) return false;
  if (!notify(recorded.target->rank, recorded.operation.notify_arg)) return false;
  if (tag) ++peer.notifications_sent;
  return true;
}

Error MappedTargets::keep_order(int rank) {
  Peer& peer = peers_[rank];
  if (peer.postponed.load() == 0) return Error::none;
  // A failure of aggregated operations is reported by the call that completes them, not by another
  // operation.
  if (peer.aggregation != nullptr) push(rank);
  return (peer.postponed.load() & Postponed::inlined_stores) != 0 ? recall(rank, RecallFor::order)
                                                                  : Error::none;
}

/// Returns whether a waiting operation is notified. The notifications keep the order of all
/// operations.
bool MappedTargets::notifies(const Target& target) {
  for (const RecordedOperation* one = target.waiting.first(); one != nullptr;
       one = RecordedQueue::after(*one)) {
    if (one->operation.notify_arg.wanted()) return true;
  }
  return false;
}

/// Returns whether a long copy is made in pieces, so that other epochs advance between them. Bytes
/// that overlap are copied as a whole, as if through a temporary buffer.
bool MappedTargets::copied_in_pieces(const RecordedOperation& recorded) const {
  const Operation& operation = recorded.operation;
  const bool put = operation.kind == OperationKind::put;
  const std::uint64_t bytes = operation.bytes();
  if (!recorded.target->in_pieces || (!put && operation.kind != OperationKind::get) ||
      bytes <= limits_.direct_fragment || region_.dynamic() || operation.handle.given()) {
    return false;
  }
  const Buffer& local = put ? operation.origin : operation.result;
  if (!operation.target_layout->contiguous() || !local.layout->contiguous()) return false;
  const Member& member = region_.member(operation.target);
  const std::uint64_t offset = member.offset(operation.displacement);
  if (!member.loadable()) return true;
  const auto here = reinterpret_cast<std::uintptr_t>(local.address);
  const auto there = reinterpret_cast<std::uintptr_t>(member.at_offset(offset));
  return here + bytes <= there || there + bytes <= here;
}

Error MappedTargets::copy_piece(RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  if (const Error error = before(operation); error != Error::none) return error;
  const std::uint64_t bytes = std::min(limits_.direct_fragment, operation.bytes() - recorded.sent);
  const Error error = region_.perform_piece(operation, recorded.sent, bytes);
  recorded.sent += bytes;
  return report(operation, error);
}

Error MappedTargets::perform(const Operation& operation) {
  if (const Error error = before(operation); error != Error::none) return error;
  const Error error = report(operation, region_.perform(operation));
  if (region_.clear_detached_found() && error == Error::none) [[unlikely]] {
    state_.events.report({.rank = operation.target,
                          .kind = EventKind::detached_accessed,
                          .detail = detail_of(operation.kind)});
  }
  return error;
}

Error MappedTargets::before(const Operation& operation) {
  const Error error = keep_order(operation.target);
  if (error == Error::none && operation.ordered) order_before(operation.kind);
  return error;
}

void MappedTargets::set_reason(Error error) {
  if (error == Error::peer_lost) state_.reason.fail(error, region_.whom_lost());
  if (error == Error::system) state_.reason.fail(error, "the target's memory cannot be reached");
}

Error MappedTargets::report(const Operation& operation, Error error) {
  set_reason(error);
  if (error == Error::range) {
    state_.reason.fail(error, operation.handle.given()
                                  ? "the memory handle has been released"
                                  : "the target has not attached all of this memory to the window");
  }
  return error;
}

/// Returns when all postponed operations to the rank have taken effect.
Error MappedTargets::recall(int rank, RecallFor reason) {
  Peer& peer = peers_[rank];
  if ((peer.postponed.load() & Postponed::inlined_stores) != 0 &&
      region_.begin_recall(rank, reason)) {
    region_.fence();
  }
  return finish_recall(rank);
}

/// Finishes the recall of inlined stores that has begun, and sends the aggregated operations.
Error MappedTargets::finish_recall(int rank) {
  Peer& peer = peers_[rank];
  Error error = Error::none;
  if ((peer.postponed.load() & Postponed::inlined_stores) != 0) error = region_.finish_recall(rank);
  if (peer.aggregation != nullptr) push(rank);
  if (peer.aggregation != nullptr) error = first_of(error, collect_error(rank));
  peer.short_moves.store(0);
  set_reason(error);
  // Release: operations of other threads come after these.
  peer.postponed.store(0, std::memory_order_release);
  return error;
}

void MappedTargets::recall_all(Epoch& epoch) {
  bool fence = false;
  bool any = false;
  for (const Target& target : epoch) {
    const std::uint8_t postponed = peers_[target.rank].postponed.load();
    any |= postponed != 0;
    if ((postponed & Postponed::inlined_stores) != 0)
      fence |= region_.begin_recall(target.rank, RecallFor::completion);
  }
  if (!any) return;
  if (fence) region_.fence();
  for (Target& target : epoch) {
    if (peers_[target.rank].postponed.load() == 0) continue;
    const Error error = finish_recall(target.rank);
    target.error = first_of(target.error, error);
    epoch.failed |= error != Error::none;
  }
}

bool MappedTargets::aggregate(int rank, bool write, std::uint64_t address, void* local,
                              std::uint64_t bytes) {
  // Operations that are not in a row take effect at their calls: the first `few` are not
  // aggregated.
  constexpr std::uint8_t few = 2;
  Peer& peer = peers_[rank];
  const std::uint8_t kind = write ? Postponed::aggregated_puts : Postponed::aggregated_gets;
  if (peer.postponed.load() == 0 && peer.short_moves.load() < few) {
    peer.short_moves.store(static_cast<std::uint8_t>(peer.short_moves.load() + 1));
    return false;
  }
  if (peer.aggregation != nullptr && !peer.aggregation->accepts(write, bytes)) push(rank);
  if (peer.aggregation == nullptr) {
    if (spare_.empty()) spare_.push_back(&aggregations_.emplace_back());
    peer.aggregation = spare_.back();
    spare_.pop_back();
  }
  Aggregation& aggregation = *peer.aggregation;
  if (aggregation.empty()) {
    aggregating_.push_back(rank);
    state_.work.add();
  }
  aggregation.add(write, address, local, bytes);
  if ((peer.postponed.load() & kind) == 0) {  // also if push() has just cleared the bit
    mark(peer.postponed, kind);
    state_.pending.mark_unflushed();
  }
  return true;
}

/// Sends the aggregated operations. The next recall() reports a failure.
void MappedTargets::push(int rank) {
  Peer& peer = peers_[rank];
  Aggregation& aggregation = *peer.aggregation;
  if (aggregation.empty()) return;
  std::erase(aggregating_, rank);
  state_.work.remove();
  region_.push(aggregation, rank);
  if (aggregation.failed()) return;
  release_aggregation(peer);
  // Release: operations of other threads come after these.
  peer.postponed.store(static_cast<std::uint8_t>(peer.postponed.load() & Postponed::inlined_stores),
                       std::memory_order_release);
}

void MappedTargets::release_aggregation(Peer& peer) {
  spare_.push_back(std::exchange(peer.aggregation, nullptr));
}

/// The error of an aggregation that was sent and has failed. Frees the aggregation.
Error MappedTargets::collect_error(int rank) {
  const Error error = peers_[rank].aggregation->collect_error();
  if (error == Error::peer_lost) region_.set_lost(rank);
  release_aggregation(peers_[rank]);
  return error;
}

bool MappedTargets::push_aggregations() {
  const bool any = !aggregating_.empty();
  while (!aggregating_.empty()) push(aggregating_.back());
  return any;
}

void MappedTargets::make_ready(Target& target) {
  const Member& member = region_.member(target.rank);
  const bool mapped = member.loadable();
  if (mapped && member.base == nullptr && member.pieces == nullptr) return;
  Peer& peer = peers_[target.rank];
  if (peer.member != &member) {  // a Member never changes
    peer.base = member.base;
    peer.size = mapped ? member.size : 0;
    peer.disp_unit = static_cast<std::uint32_t>(member.disp_unit);
    peer.member = &member;
  }
  // Release: a thread that finds it set reads the four members above without the lock.
  peer.ready.store(&target, std::memory_order_release);
}

bool MappedTargets::acquire(Epoch& epoch, Target& target) {
  switch (epoch.kind) {
    case EpochKind::access:
      return region_.exposed(target.rank, target.id);
    case EpochKind::fence:
      return fences_.watch_announced(target, epoch.call);
    case EpochKind::lock:
    case EpochKind::lock_all:
      return acquire_lock(epoch, target);
    case EpochKind::notified:
      return true;
    case EpochKind::exposure:
      break;
  }
  return false;
}

bool MappedTargets::acquire_lock(Epoch& epoch, Target& target) {
  if (target.access == Target::Access::idle) request_lock(epoch, target);
  if (target.access == Target::Access::requested) {
    if (!check_grant(target)) return false;
    --epoch.attention;
    state_.work.remove();
    return true;
  }
  return target.access == Target::Access::granted;
}

void MappedTargets::request_lock(Epoch& epoch, Target& target) {
  const bool fence_ended = fences_.watch_ended(target);
  if (epoch.no_check) {
    if (fence_ended) target.access = Target::Access::granted;
    return;
  }
  Peer& peer = peers_[target.rank];
  if (!state_.lock_order.may_request(epoch, target, peer) || !fence_ended) return;
  peer.locking = &epoch;
  if (region_.lock_line(target.rank)
          .acquire(region_.rank(), epoch.exclusive, epoch.kind == EpochKind::lock_all)) {
    target.access = Target::Access::granted;
    return;
  }
  target.access = Target::Access::requested;
  ++epoch.attention;
  state_.work.add();
}

bool MappedTargets::check_grant(Target& target) {
  const LockNode& node = region_.member(target.rank).control->nodes()[region_.rank()];
  const std::uint32_t state = node.state.load(std::memory_order_acquire);
  const bool failed = state == LockNode::failed;
  if ((state == LockNode::piggyback_done || failed) && !target.waiting.empty()) {
    // The only recorded operation was sent with the lock request, and was carried out when the lock
    // was granted. The lock has been released after it.
    RecordedOperation& recorded = *target.waiting.first();
    target.waiting = {};
    target.piggyback_done = true;
    state_.pending.finish(recorded, failed ? Error::peer_lost : Error::none);
  }
  return state != LockNode::waiting;
}

void MappedTargets::attach_piggyback(Epoch& epoch) {
  Target& target = epoch.one;
  if (target.access != Target::Access::requested || target.issued != 1 ||
      target.counted_apart != 0) {
    return;
  }
  if (peers_[target.rank].postponed.load() != 0) return;  // perform() then keeps the order
  Piggyback piggyback;
  if (region_.pack_piggyback(target.waiting.first()->operation, piggyback)) {
    region_.lock_line(target.rank).add_piggyback(region_.rank(), piggyback);
  }
}

bool MappedTargets::end_access(Epoch& epoch, Target& target) {
  Peer& peer = peers_[target.rank];
  if (epoch.kind == EpochKind::access && !peer.done.add(target.id)) return false;
  if (epoch.passive() && peer.postponed.load() != 0) recall_all(epoch);
  state_.pending.mark_signaled(epoch, target);
  if (epoch.kind == EpochKind::access) {
    // Release: our stores to the target's window come before the word that announces them.
    region_.slot_at(target.rank).done.store(peer.done.word(), std::memory_order_release);
    region_.wake(target.rank);
  } else if (epoch.passive() && !epoch.no_check) {
    peer.locking = nullptr;
    if (!target.piggyback_done) region_.release_lock(target.rank, region_.rank(), epoch.exclusive);
  }
  return true;
}

}  // namespace oriel
