// SPDX-License-Identifier: BSD-3-Clause
// Operations on remote targets as messages and as direct transfers.
#include <algorithm>
#include <array>
#include <cstring>

#include "core/operation/address.hpp"
#include "core/operation/element_runs.hpp"
#include "core/remote/remote_targets.hpp"

namespace oriel {
namespace {

bool sends(const Operation& operation) {
  return operation.kind != OperationKind::get && operation.kind != OperationKind::acknowledge &&
         operation.reduction.op != Op::no_op;
}

void add_notice(Message& message, const Notice& notice) {
  if (!notice.wanted()) return;
  message.notifies = notice.kind;
  message.notice = notice.number;
  message.notified_bytes = notice.bytes;
}

/// Pieces of accumulates are whole elements.
std::uint64_t largest_piece(const Operation& operation, std::uint64_t limit) {
  const std::uint64_t element = operation.reduction.element;
  if (element == 0) return limit;
  return std::max(limit / element, std::uint64_t{1}) * element;
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

void RemoteTargets::send_piece(Message message, const Operation& operation, std::uint64_t first,
                               std::uint64_t bytes) {
  const int rank = operation.target;
  message.first = first;
  message.offset = region_.member(rank).offset(operation.displacement);
  message.handle_token = operation.handle.token;
  message.handle_slot = operation.handle.slot;
  if (operation.target_layout->contiguous()) {
    message.offset += first;
    // What is attached is asked of the whole.
    if (region_.dynamic() || message.assembly != Assembly::none) message.count = operation.bytes();
  } else {
    message.layout = operation.target_layout->id();
    message.count = operation.target_count;
    describe(*operation.target_layout, rank);
  }
  if (first + bytes == operation.bytes()) add_notice(message, operation.notice);
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
  BlockCursor from(*operation.origin.layout, operation.origin.count);
  from.skip(first);
  for (std::uint64_t packed = 0; packed < bytes;) {
    const std::uint64_t run = std::min(from.run(), bytes - packed);
    std::memcpy(scratch_.data() + packed, at(operation.origin.address, from.offset()), run);
    packed += run;
    from.advance(run);
  }
  sender_.send(rank, message, scratch_);
}

/// Behind the last bytes of a direct write. The target is available, or nothing would be written:
/// there is no gate, so that the messages of a program that notifies with the same tag and length
/// again are the same, and a transport may know a short name for them.
Message RemoteTargets::notice_behind(const Operation& operation) {
  Message message;
  message.kind = MessageKind::notify;
  message.gate = Gate::open;
  add_notice(message, operation.notice);
  sender_.address(operation.target, message);
  return message;
}

/// Of an operation whose bytes are there.
void RemoteTargets::send_notice(RecordedOperation& recorded) {
  if (!recorded.operation.notice.wanted()) return;
  Message message = request(recorded.operation, *recorded.epoch, *recorded.target);
  message.kind = MessageKind::notify;
  add_notice(message, recorded.operation.notice);
  sender_.send(recorded.target->rank, message);
  recorded.operation.notice = {};
}

bool RemoteTargets::transmit_at_once(const Operation& operation, Epoch& epoch, Target& target) {
  const std::uint64_t bytes = operation.bytes();
  if (bytes > largest_piece(operation, limits_.piece) ||
      !may_send(epoch, target, bytes + Message::held_bytes)) {
    return false;
  }
  send_piece(request(operation, epoch, target), operation, 0, bytes);
  return true;
}

/// Long enough for the network's transfers, whoever begins them.
bool RemoteTargets::transferable(const Operation& operation) {
  // Of what is ordered, messages arrive in order and are carried out in order.
  return (operation.kind == OperationKind::put || operation.kind == OperationKind::get) &&
         region_.member(operation.target).direct && !operation.ordered &&
         operation.bytes() > limits_.direct;
}

bool RemoteTargets::goes_directly(const Operation& operation) {
  // What is attached to a dynamic window its owner alone knows.
  if (region_.dynamic() || !transferable(operation)) return false;
  const bool put = operation.kind == OperationKind::put;
  const auto has_long_runs = [&](const Layout& layout) {
    return layout.contiguous() || layout.size() >= layout.blocks().size() * limits_.direct_run;
  };
  return has_long_runs(*operation.target_layout) &&
         has_long_runs(*(put ? operation.origin : operation.result).layout);
}

bool RemoteTargets::transmit_directly(RecordedOperation& recorded) {
  Operation& operation = recorded.operation;
  Target& target = *recorded.target;
  const Member& member = region_.member(target.rank);
  const bool write = operation.kind == OperationKind::put;
  if (!may_transfer(*recorded.epoch, target)) return false;
  const std::uint64_t start = member.memory.address + member.offset(operation.displacement);
  const bool waits = recorded.epoch->closed;
  const bool tells = write && operation.notice.wanted() && transport_.orders_writes();
  ElementRuns left(operation);
  left.skip(recorded.sent);
  while (left.bytes() != 0) {
    std::array<TransferRun, Transport::most_runs> runs;
    std::size_t used = 0;
    // A process that waits serves others between two pieces: they may need its answer to send.
    std::uint64_t room = waits ? limits_.direct_piece : operation.bytes();
    ElementRuns next = left;
    while (used < runs.size() && room != 0 && next.bytes() != 0) {
      const std::uint64_t bytes = std::min(next.bytes(), room);
      runs[used++] = {write ? next.origin() : next.result(),
                      start + static_cast<std::uint64_t>(next.offset()), bytes};
      room -= bytes;
      next.skip(bytes);
    }
    Message notice;
    Behind behind;
    const bool last = tells && next.bytes() == 0;
    if (last) {
      notice = notice_behind(operation);
      behind.message = notice.trim();
    }
    const std::uint64_t taken =
        transport_.transfer(member.process, write, std::span(runs).first(used), member.memory.key,
                            Pool<RecordedOperation>::token(recorded), last ? &behind : nullptr);
    if (taken == 0) return false;
    recorded.sent += taken;
    left.skip(taken);
    if (tells && left.bytes() == 0) {
      if (!behind.went) transport_.send(member.process, behind.message, {});
      operation.notice = {};
    }
    ++(write ? target.writes : target.reads);
    if (waits && left.bytes() != 0) return false;
  }
  return true;
}

/// Lends the buffer of an operation that its target then carries out by itself. -1: it goes another
/// way.
int RemoteTargets::lend(const Operation& operation) {
  if (!region_.dynamic() || !transferable(operation)) return -1;
  const bool put = operation.kind == OperationKind::put;
  // One message is a journey less, and a get's request is one anyway.
  if (put && operation.bytes() <= limits_.piece) return -1;
  const Buffer& buffer = put ? operation.origin : operation.result;
  if (!operation.target_layout->contiguous() || !buffer.layout->contiguous()) return -1;
  return loans_.lend(region_.member(operation.target).process, !put, buffer.address,
                     operation.bytes());
}

/// The target holds it back as any message.
bool RemoteTargets::transmit_rendezvous(RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  Target& target = *recorded.target;
  if (!may_send(*recorded.epoch, target, Message::held_bytes)) return false;
  const RemoteMemory& lent = loans_.memory(recorded.loan);
  Message message = request(operation, *recorded.epoch, target);
  message.kind = MessageKind::rendezvous;
  message.word = Pool<RecordedOperation>::token(recorded);
  message.offset = region_.member(target.rank).offset(operation.displacement);
  message.handle_token = operation.handle.token;
  message.handle_slot = operation.handle.slot;
  message.count = operation.bytes();
  message.data = sizeof lent;
  add_notice(message, operation.notice);
  sender_.send(target.rank, message, std::as_bytes(std::span(&lent, 1)));
  recorded.sent = operation.bytes();
  return true;
}

bool RemoteTargets::transmit(RecordedOperation& recorded) {
  if (recorded.carried) {
    if (!may_send(*recorded.epoch, *recorded.target, Message::held_bytes)) return false;
    send_notice(recorded);
    return true;
  }
  if (recorded.direct) return transmit_directly(recorded);
  if (recorded.loan >= 0) return transmit_rendezvous(recorded);
  if (recorded.atomic) {
    return may_transfer(*recorded.epoch, *recorded.target) && atomics_.transmit(recorded);
  }
  if (recorded.operation.kind == OperationKind::acknowledge) {
    if (!may_send(*recorded.epoch, *recorded.target, 0)) return false;
    send_question(recorded);
    return true;
  }
  return transmit_by_messages(recorded);
}

/// Whether others must see all of the accumulate or nothing, however many messages it takes.
bool RemoteTargets::one_update(const Operation& operation) const {
  return reduces(operation.kind) &&
         !region_.atomicity().by_elements(operation.reduction, fetches(operation.kind));
}

bool RemoteTargets::transmit_by_messages(RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  Epoch& epoch = *recorded.epoch;
  Target& target = *recorded.target;
  const std::uint64_t total = operation.bytes();
  const std::uint64_t piece = largest_piece(operation, limits_.piece);
  const bool fetching = fetches(operation.kind);
  const bool whole = total > piece && one_update(operation);
  // The last message alone asks for all that is fetched.
  if (whole && !sends(operation)) recorded.sent = total - piece;
  while (recorded.sent < total) {
    if (fetching && !whole && recorded.sent - recorded.received >= limits_.under_way) return false;
    const std::uint64_t bytes = std::min(piece, total - recorded.sent);
    if (!may_send(epoch, target, (sends(operation) ? bytes : 0) + Message::held_bytes))
      return false;
    Message message = request(operation, epoch, target);
    message.word = Pool<RecordedOperation>::token(recorded);
    if (whole) {
      message.assembly = recorded.sent + bytes < total ? Assembly::more : Assembly::complete;
    }
    send_piece(message, operation, recorded.sent, bytes);
    recorded.sent += bytes;
  }
  return true;
}

Outcome RemoteTargets::issue(const Operation& operation, Epoch& epoch, Target& target) {
  const bool empty = operation.bytes() == 0;
  if (empty && !operation.notice.wanted()) return Outcome::finished();
  const bool fetching = fetches(operation.kind) && !empty;
  const bool directly = goes_directly(operation);
  const int loan = directly ? -1 : lend(operation);
  // Of a rendezvous its own end tells, and no other answer.
  loan < 0 ? void(++target.issued) : void(++target.counted_apart);
  const bool by_messages = !directly && loan < 0;
  if (fetching && by_messages) {
    target.last_fetch = target.issued;
    // Its reply answers for all before it; but not for what the target may have refused of these.
    if (!region_.dynamic()) target.asked = target.issued;
  }
  const bool awaits_answer = operation.awaits_answer() && !empty;
  if (epoch.active && target.waiting.empty() && !fetching && by_messages && !empty &&
      !awaits_answer && transmit_at_once(operation, epoch, target)) {
    return Outcome::finished();
  }
  RecordedOperation& recorded = epochs_.record(operation, epoch, target);
  recorded.direct = directly;
  recorded.loan = loan;
  recorded.carried = empty;
  if (directly && awaits_answer) ++target.unasked;
  Epochs::append(target, recorded);
  if (!epoch.active) {
    return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
  }
  // It may be sent, and with that complete for the caller, before we return.
  Flag flag;
  recorded.operation.completion = &flag;
  advance(epoch, target);
  if (flag.done()) return Outcome::finished();
  recorded.operation.completion = operation.completion;
  return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
}

}  // namespace oriel
