// SPDX-License-Identifier: BSD-3-Clause
// Operations on remote targets, at the origin: what is sent, when, and what comes back.
//
// The target is not asked whether it is available: it holds back what comes too early, and up to
// Limits::ahead bytes may. Everything that one process sends another arrives in order, so nothing
// is acknowledged but where MPI requires it: a flush or an unlock asks once, and the reply to a
// fetching operation answers for all before it (S4).
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "core/address.hpp"
#include "core/element_runs.hpp"
#include "core/process.hpp"
#include "core/window.hpp"

namespace oriel {
namespace {

std::uint64_t bytes_of(const Operation& operation) {
  return operation.target_count * operation.target_layout->size();
}

/// What a message that is held back takes at the target besides its bytes, about.
constexpr std::uint64_t held_bytes = 64;

bool sends(const Operation& operation) {
  return operation.kind != OperationKind::get && operation.kind != OperationKind::acknowledge &&
         operation.reduction.op != Op::no_op;
}

/// Pieces of accumulates are whole elements.
std::uint64_t largest_piece(const Operation& operation, std::uint64_t limit) {
  const std::uint64_t element = operation.reduction.element;
  if (element == 0) return limit;
  return std::max(limit / element, std::uint64_t{1}) * element;
}

}  // namespace

bool Window::open_for(Epoch& epoch, Target& target) {
  if (target.access == Target::Access::granted) return true;
  Peer& other = peer(target.rank);
  switch (epoch.kind) {
    case EpochKind::access:
      if (!exposed(target)) return false;
      break;
    case EpochKind::lock:
    case EpochKind::lock_all:
      if (epoch.no_check) {
        // What a weak unlock has left there may not have arrived, nor may the target have ended the
        // last fence: only a reply tells.
        if (weak_left(other) || other.fence_answered < last_fence_) return false;
        break;
      }
      if (target.access == Target::Access::idle) {
        if (other.locking != nullptr) return false;  // by an earlier epoch of ours
        settle_ahead(other);
        if (other.in->lock_granted.load(std::memory_order_acquire) < other.lock_requests &&
            other.ahead + 2 * held_bytes > process_.limits().ahead) {
          return false;
        }
        other.ahead += 2 * held_bytes;  // the unlock as well
        other.ahead_lock = other.lock_requests + 1;
        other.locking = &epoch;
        target.access = Target::Access::requested;
        target.id = ++other.lock_requests;
        send(other, of_lock(MessageKind::lock, epoch));
      }
      if (other.in->lock_granted.load(std::memory_order_acquire) < target.id) return false;
      break;
    case EpochKind::fence:  // only a reply tells
    case EpochKind::exposure:
      return false;
  }
  target.access = Target::Access::granted;
  return true;
}

/// Forgets what has been sent ahead if all of it was for epochs that the target has opened since.
void Window::settle_ahead(Peer& other) const {
  if (other.in->granted.load(std::memory_order_acquire) >= other.ahead_access &&
      other.in->lock_granted.load(std::memory_order_acquire) >= other.ahead_lock &&
      (other.ahead_fence == 0 || last_fence_ > other.ahead_fence) && !other.ahead_unchecked) {
    other.ahead = 0;
  }
}

bool Window::may_send(Epoch& epoch, Target& target, std::uint64_t bytes) {
  Peer& other = peer(target.rank);
  if (transport_.congested(other.member.process)) return false;
  if (open_for(epoch, target)) return true;
  if (epoch.passive() && !epoch.no_check && target.access == Target::Access::idle) return false;
  if (other.ahead + bytes > process_.limits().ahead) settle_ahead(other);
  if (other.ahead + bytes > process_.limits().ahead) {
    if ((epoch.kind == EpochKind::fence || epoch.no_check) &&
        target.access == Target::Access::idle) {
      // The answer comes as soon as the target has opened the epoch.
      target.access = Target::Access::requested;
      RecordedOperation& asked = question(epoch, target);
      asked.number = target.finished;
      send_question(asked);
    }
    return false;
  }
  other.ahead += bytes;
  if (epoch.passive() && epoch.no_check) {
    other.ahead_unchecked = true;
  } else if (epoch.passive()) {
    other.ahead_lock = target.id;
  } else if (epoch.kind == EpochKind::fence) {
    other.ahead_fence = epoch.call;
  } else {
    other.ahead_access = target.id;
  }
  return true;
}

/// Nobody holds a transfer back at the target: it waits here until the target is known to be
/// available.
bool Window::may_transfer(Epoch& epoch, Target& target) {
  return may_send(epoch, target, process_.limits().ahead + 1);
}

Message Window::request(const Operation& operation, const Epoch& epoch,
                        const Target& target) const {
  Message message;
  message.kind = MessageKind::operation;
  message.operation = operation.kind;
  message.op = operation.reduction.op;
  message.basic = operation.reduction.basic;
  message.element = operation.reduction.element;
  message.op_code = operation.reduction.op_code;
  message.type_code = operation.reduction.type_code;
  switch (epoch.kind) {
    case EpochKind::fence:
      message.gate = Gate::fence;
      message.stamp = epoch.call;
      break;
    case EpochKind::lock:
    case EpochKind::lock_all:
      message.gate = Gate::lock;
      message.stamp = last_fence_;
      break;
    case EpochKind::access:
    case EpochKind::exposure:
      message.gate = Gate::exposure;
      message.stamp = target.id;
      break;
  }
  return message;
}

void Window::describe(const Layout& layout, Peer& other) {
  LayoutCache& cache = process_.described_[other.member.process];
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
    send(other, message, std::as_bytes(piece));
  }
}

void Window::send_piece(Message message, const Operation& operation, std::uint64_t first,
                        std::uint64_t bytes) {
  Peer& other = peer(operation.target);
  message.first = first;
  message.offset = other.member.offset(operation.displacement);
  if (operation.target_layout->contiguous()) {
    message.offset += first;
  } else {
    message.layout = operation.target_layout->id();
    message.count = operation.target_count;
    describe(*operation.target_layout, other);
  }
  if (fetches(operation.kind)) message.fetched = static_cast<std::uint32_t>(bytes);
  if (!sends(operation)) return send(other, message);
  message.data = static_cast<std::uint32_t>(bytes);
  const auto* source = static_cast<const std::byte*>(operation.origin.address);
  if (operation.kind == OperationKind::compare_and_swap) {
    scratch_.resize(2 * bytes);
    std::memcpy(scratch_.data(), operation.compare, bytes);
    std::memcpy(scratch_.data() + bytes, source, bytes);
    return send(other, message, scratch_);
  }
  if (operation.origin.layout->contiguous()) {
    return send(other, message, {source + first, bytes});
  }
  scratch_.resize(bytes);
  BlockCursor from(*operation.origin.layout, operation.origin.count);
  from.skip(first);
  for (std::uint64_t packed = 0; packed < bytes;) {
    const std::uint64_t run = std::min(from.run(), bytes - packed);
    std::memcpy(scratch_.data() + packed, at(operation.origin.address, from.offset()), run);
    packed += run;
    from.advance(run);
  }
  send(other, message, scratch_);
}

bool Window::transmit_at_once(const Operation& operation, Epoch& epoch, Target& target) {
  const std::uint64_t bytes = bytes_of(operation);
  if (bytes > largest_piece(operation, process_.limits().piece) ||
      !may_send(epoch, target, bytes + held_bytes)) {
    return false;
  }
  send_piece(request(operation, epoch, target), operation, 0, bytes);
  return true;
}

bool Window::goes_directly(const Operation& operation) const {
  const Member& member = peers_[static_cast<std::size_t>(operation.target)].member;
  const bool put = operation.kind == OperationKind::put;
  if ((!put && operation.kind != OperationKind::get) || !member.direct ||
      bytes_of(operation) <= process_.limits().direct) {
    return false;
  }
  const auto has_long_runs = [&](const Layout& layout) {
    return layout.contiguous() ||
           layout.size() >= layout.blocks().size() * process_.limits().direct_run;
  };
  return has_long_runs(*operation.target_layout) &&
         has_long_runs(*(put ? operation.origin : operation.result).layout);
}

bool Window::transmit_directly(RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  Target& target = *recorded.target;
  const Member& member = peer(target.rank).member;
  const bool write = operation.kind == OperationKind::put;
  if (!may_transfer(*recorded.epoch, target)) return false;
  const std::uint64_t start = member.memory.address + member.offset(operation.displacement);
  const bool waits = recorded.epoch->closed;
  ElementRuns left(operation);
  left.skip(recorded.sent);
  while (left.bytes() != 0) {
    std::array<TransferRun, Transport::most_runs> runs;
    std::size_t used = 0;
    // A process that waits serves others between two pieces: they may need its answer to send.
    std::uint64_t room = waits ? process_.limits().direct_piece : bytes_of(operation);
    for (ElementRuns next = left; used < runs.size() && room != 0 && next.bytes() != 0;) {
      const std::uint64_t bytes = std::min(next.bytes(), room);
      runs[used++] = {write ? next.origin() : next.result(),
                      start + static_cast<std::uint64_t>(next.offset()), bytes};
      room -= bytes;
      next.skip(bytes);
    }
    const std::uint64_t taken = transport_.transfer(
        member.process, write, std::span(runs).first(used), member.memory.key, recorded.pool_index);
    if (taken == 0) return false;
    recorded.sent += taken;
    left.skip(taken);
    ++(write ? target.writes : target.reads);
    if (waits && left.bytes() != 0) return false;
  }
  return true;
}

void Window::transferred(RecordedOperation& recorded, const Transfer& transfer) {
  Target& target = *recorded.target;
  recorded.received += transfer.bytes;
  recorded.epoch->note(transfer.error);
  const bool over = recorded.received == bytes_of(recorded.operation);
  if (!recorded.atomic) {
    --(recorded.operation.kind == OperationKind::put ? target.writes : target.reads);
  } else if (over) {
    --target.atomics;
  }
  if (over) {
    target.moving.remove(recorded);
    conclude(recorded, transfer.error);
  }
  satisfy_flushes(target);
}

bool Window::transmit(RecordedOperation& recorded) {
  if (recorded.direct) return transmit_directly(recorded);
  if (recorded.atomic) return transmit_atomic(recorded);
  if (recorded.operation.kind == OperationKind::acknowledge) {
    if (!may_send(*recorded.epoch, *recorded.target, 0)) return false;
    send_question(recorded);
    return true;
  }
  return transmit_by_messages(recorded);
}

bool Window::transmit_by_messages(RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  Epoch& epoch = *recorded.epoch;
  Target& target = *recorded.target;
  const std::uint64_t total = bytes_of(operation);
  const bool fetching = fetches(operation.kind);
  while (recorded.sent < total) {
    if (fetching && recorded.sent - recorded.received >= process_.limits().under_way) return false;
    const std::uint64_t bytes =
        std::min(largest_piece(operation, process_.limits().piece), total - recorded.sent);
    if (!may_send(epoch, target, (sends(operation) ? bytes : 0) + held_bytes)) return false;
    Message message = request(operation, epoch, target);
    message.word = recorded.pool_index;
    send_piece(message, operation, recorded.sent, bytes);
    recorded.sent += bytes;
  }
  return true;
}

RecordedOperation& Window::question(Epoch& epoch, Target& target) {
  Operation nothing;
  nothing.kind = OperationKind::acknowledge;
  nothing.target = target.rank;
  return record(nothing, epoch, target);
}

void Window::note_asked(RecordedOperation& question, Peer& other) {
  question.asked = true;
  // Others have gates of their own, which say nothing of locks.
  if (question.epoch->passive()) question.sent = other.weak_asked = other.weak_sent;
}

void Window::send_question(RecordedOperation& question) {
  Peer& other = peer(question.target->rank);
  Message message = request(question.operation, *question.epoch, *question.target);
  message.word = question.pool_index;
  message.acknowledge = 1;
  note_asked(question, other);
  send(other, message);
}

void Window::ask(Epoch& epoch, Target& target) {
  target.asked = target.issued;
  append(target, question(epoch, target));
  if (epoch.active) advance_remote(epoch, target);
}

Outcome Window::issue_remote(const Operation& operation, Epoch& epoch, Target& target) {
  if (bytes_of(operation) == 0) return Outcome::finished();
  const bool fetching = fetches(operation.kind);
  ++target.issued;
  const bool directly = goes_directly(operation);
  if (fetching && !directly) target.last_fetch = target.asked = target.issued;
  if (epoch.active && target.waiting.empty() && !fetching && !directly &&
      transmit_at_once(operation, epoch, target)) {
    return Outcome::finished();
  }
  RecordedOperation& recorded = record(operation, epoch, target);
  recorded.direct = directly;
  append(target, recorded);
  if (!epoch.active) {
    return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
  }
  // It may be sent, and with that complete for the caller, before we return.
  Flag flag;
  recorded.operation.completion = &flag;
  advance_remote(epoch, target);
  if (flag.done()) return Outcome::finished();
  recorded.operation.completion = operation.completion;
  return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
}

bool Window::advance_remote(Epoch& epoch, Target& target) {
  // Asks for the lock. Only start's targets are told of an epoch that held nothing for them.
  open_for(epoch, target);
  bool moved = false;
  bool others_turn = false;
  while (!others_turn && !target.waiting.empty()) {
    RecordedOperation* recorded = target.waiting.head;
    const std::uint64_t sent = recorded->sent;
    if (!transmit(*recorded)) {
      moved |= recorded->sent != sent;
      break;
    }
    target.waiting.remove(*recorded);
    moved = true;
    others_turn = recorded->direct && epoch.closed;
    const OperationKind kind = recorded->operation.kind;
    if (recorded->direct || recorded->atomic) {
      target.moving.append(*recorded);
    } else if (kind != OperationKind::acknowledge && !fetches(kind)) {
      conclude(*recorded, Error::none);
    }
  }
  if (moved) satisfy_flushes(target);
  // Others must be over before the target goes on; but a write is if nothing may overtake it.
  if (epoch.closed && target.waiting.empty() && target.reads + target.atomics == 0 &&
      (target.writes == 0 || transport_.orders_writes())) {
    moved |= tell_remote(epoch, target);
  }
  return moved;
}

bool Window::tell_remote(Epoch& epoch, Target& target) {
  Peer& other = peer(target.rank);
  switch (epoch.kind) {
    case EpochKind::access:
      if (!other.done.add(target.id)) return false;
      announce(other, MessageKind::done, other.done.word());
      break;
    case EpochKind::fence:
      if (target.issued != 0) announce(other, MessageKind::mark, count_->call());
      break;
    case EpochKind::lock:
    case EpochKind::lock_all:
      if (!send_unlock(epoch, target)) return false;
      break;
    case EpochKind::exposure:
      break;
  }
  target.told = true;
  --epoch.untold;
  return true;
}

Message Window::of_lock(MessageKind kind, const Epoch& epoch) const {
  Message message;
  message.kind = kind;
  message.gate = Gate::lock;
  message.stamp = last_fence_;
  message.exclusive = epoch.exclusive ? 1 : 0;
  message.joins = epoch.kind == EpochKind::lock_all ? 1 : 0;
  return message;
}

/// False: not yet.
bool Window::send_unlock(Epoch& epoch, Target& target) {
  Peer& other = peer(target.rank);
  // The reply to a last fetching operation answers for all of them.
  const bool unanswered = target.asked < target.issued;
  const bool asks = !epoch.weak && (unanswered || weak_left(other));
  // Never asked for: an earlier epoch of ours has our place in the queue.
  if (!epoch.no_check && target.access == Target::Access::idle) return !asks;
  if (epoch.weak && unanswered) {
    if (!weak_left(other)) ++weak_peers_;
    ++other.weak_sent;
  }
  Message message = of_lock(MessageKind::unlock, epoch);
  if (asks) {
    target.asked = target.issued;
    RecordedOperation& recorded = question(epoch, target);
    if (epoch.no_check) {
      send_question(recorded);
      return true;
    }
    note_asked(recorded, other);
    message.word = recorded.pool_index;
    message.acknowledge = 1;
  }
  if (epoch.no_check) return true;
  other.locking = nullptr;
  send(other, message);
  return true;
}

bool Window::take_reply(const Message& message, std::span<const std::byte> payload) {
  RecordedOperation* recorded = process_.operations_.find(message.word);
  if (recorded == nullptr || recorded->window != this ||
      recorded->operation.target != message.origin || payload.size() != message.data) {
    return false;
  }
  Target& target = *recorded->target;
  if (recorded->operation.kind == OperationKind::acknowledge) {
    if (message.fetched != 0 || message.data != 0 || !recorded->asked) return false;
    Peer& other = peer(target.rank);
    if (recorded->epoch->passive()) {
      // No fence ends while an epoch of another kind awaits an answer.
      other.fence_answered = last_fence_;
      other.ahead_unchecked = false;
    }
    if (recorded->sent > other.weak_answered) {
      other.weak_answered = recorded->sent;
      if (!weak_left(other)) --weak_peers_;
    }
  } else {
    if (!fetches(recorded->operation.kind) || recorded->direct || recorded->atomic ||
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
      BlockCursor into(*result.layout, result.count);
      into.skip(message.first);
      for (std::size_t done = 0; done < payload.size();) {
        const std::uint64_t run = std::min<std::uint64_t>(into.run(), payload.size() - done);
        std::memcpy(at(result.address, into.offset()), payload.data() + done, run);
        done += run;
        into.advance(run);
      }
    }
    recorded->received += message.fetched;
  }
  recorded->epoch->note(message.error);
  // A question of this kind is answered when its gate is open.
  target.access = Target::Access::granted;
  if (recorded->epoch->kind == EpochKind::access) {
    // As a post without NOCHECK would have said.
    std::atomic<std::uint64_t>& granted = peer(target.rank).in->granted;
    if (granted.load(std::memory_order_relaxed) < target.id) {
      granted.store(target.id, std::memory_order_relaxed);
    }
  }
  if (recorded->operation.kind != OperationKind::acknowledge &&
      recorded->received < bytes_of(recorded->operation)) {
    return true;
  }
  target.finished = std::max(target.finished, recorded->number);
  conclude(*recorded, message.error);
  satisfy_flushes(target);
  return true;
}

}  // namespace oriel
