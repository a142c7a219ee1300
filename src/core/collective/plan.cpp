// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/plan.hpp"

#include <algorithm>

#include "core/collective/packed.hpp"
#include "core/collective/plan_registry.hpp"
#include "core/epoch/events.hpp"

namespace oriel {
namespace {

/// The announcement of a rank in round 1. The first two of its words are the board's location; all
/// other members are packed into the last two.
struct Announced {
  bool faulty;
  bool bound;
  std::uint64_t signature;
  std::uint64_t longest;
  ArenaLocation board;
  std::uint64_t board_bytes;
};

constexpr unsigned longest_shift = 33;
constexpr unsigned bound_shift = 63;

Exchange::Words to_words(const Announced& announced) {
  return {announced.board.offset, announced.board.extent_bytes,
          announced.board_bytes / cache_line |
              std::min(announced.longest, PlanTerms::longest_announced) << longest_shift |
              std::uint64_t{announced.bound} << bound_shift,
          announced.signature << 1 | (announced.faulty ? 1 : 0)};
}

Announced to_announced(const Exchange::Words& words) {
  constexpr std::uint64_t lines = (std::uint64_t{1} << longest_shift) - 1;
  return {(words[3] & 1) != 0,  words[2] >> bound_shift != 0,
          words[3] >> 1,        words[2] >> longest_shift & PlanTerms::longest_announced,
          {words[0], words[1]}, (words[2] & lines) * cache_line};
}

/// A fault as the words of round 2, and back. The low byte of the first word is the kind, with 0
/// for `none`; the next byte is the choice of rank 0.
Exchange::Words to_words(const PlanFault& fault, std::uint8_t choice) {
  const auto high = static_cast<std::uint32_t>(fault.sender);
  const auto low = static_cast<std::uint32_t>(fault.receiver);
  return {static_cast<std::uint64_t>(fault.kind) | std::uint64_t{choice} << 8,
          std::uint64_t{high} << 32 | low, fault.sent, fault.space};
}

std::uint8_t to_choice(const Exchange::Words& words) {
  return static_cast<std::uint8_t>(words[0] >> 8);
}

PlanFault to_fault(const Exchange::Words& words) {
  PlanFault fault;
  fault.kind = static_cast<PlanFault::Kind>(words[0] & 0xff);
  fault.sender = static_cast<std::int32_t>(words[1] >> 32);
  fault.receiver = static_cast<std::int32_t>(words[1] & 0xffffffff);
  fault.sent = words[2];
  fault.space = words[3];
  return fault;
}

std::uint64_t longest_send(const Schedule& schedule) {
  std::uint64_t longest = 0;
  for (const auto& send : schedule.sends) longest = std::max(longest, Packed(send.from).bytes());
  return longest;
}

}  // namespace

Plan::Plan(PlanRegistry& registry, std::uint64_t number, const Schedule& schedule,
           const PlanTerms& terms)
    : registry_(registry),
      resources_(registry.resources()),
      number_(number),
      terms_(terms),
      progress_(resources_.events, number),
      mapped_(resources_.region, resources_.transport.node(), resources_.limits, schedule,
              progress_),
      remote_(resources_.region, resources_.transport.messages(), resources_.limits,
              resources_.sender, resources_.writes, schedule, progress_),
      combinations_(schedule.combinations),
      own_op_(schedule.own_op),
      needs_all_(schedule.needs_all),
      steps_(schedule.last_step() + 1) {
  for (const Schedule::Copy& copy : schedule.copies) {
    copies_.push_back({Packed(copy.from), Packed(copy.into), copy.step});
  }
  if (terms.bad_arguments != 0) {
    fault_ = {PlanFault::Kind::arguments, resources_.region.rank(), 0,
              static_cast<std::uint64_t>(terms.bad_arguments), 0};
  }
  announce(longest_send(schedule));
}

Plan::~Plan() {
  // A fault is known at the end of round 2, when no rank reads boards any more. So the board may
  // be reused at once, and this rank need not count itself in the boards of others.
  if (board_ != nullptr) registry_.release_board(board_, fault_ ? 0 : mapped_.senders());
  if (!fault_ && !registry_.ending()) mapped_.depart();
}

void Plan::announce(std::uint64_t longest) {
  ArenaLocation location;
  if (!fault_ && mapped_.senders() != 0) {
    board_ = registry_.allocate_board(mapped_.board_bytes(), location);
    if (board_ == nullptr) {
      mapped_.save_memory();
      board_ = registry_.allocate_board(mapped_.board_bytes(), location);
    }
    if (board_ == nullptr) {
      fault_ = {PlanFault::Kind::memory, resources_.region.rank(), 0, mapped_.board_bytes(), 0};
    } else {
      mapped_.lay_out(board_);
    }
  }
  if (!fault_) remote_.send_spaces();
  resources_.exchange.begin(to_words({static_cast<bool>(fault_), terms_.bound, terms_.signature,
                                      longest, location, mapped_.board_bytes()}));
  registry_.push();
}

bool Plan::advance_making() {
  if (stage_ != Stage::over && !resources_.exchange.over()) return false;
  if (stage_ == Stage::announced) {
    judge();
    return false;
  }
  if (stage_ == Stage::judged) agree();
  return true;
}

/// All ranks have announced: boards are laid out, and the spaces of remote receivers have arrived.
void Plan::judge() {
  stage_ = Stage::judged;
  Region& region = resources_.region;
  bool all_well = !fault_;
  bool bound = false;
  std::uint64_t longest = 0;
  // If signatures differ, spaces announced by remote receivers may not match either; such a fault
  // is replaced by the one of the signature.
  const bool own_fault =
      fault_.kind == PlanFault::Kind::arguments || fault_.kind == PlanFault::Kind::memory;
  for (int rank = 0; rank < region.ranks(); ++rank) {
    const Announced announced = to_announced(resources_.exchange.of(rank));
    all_well = all_well && !announced.faulty;
    bound = bound || announced.bound;
    longest = std::max(longest, announced.longest);
    if (announced.signature == terms_.signature || announced.faulty || own_fault) continue;
    if (fault_.kind == PlanFault::Kind::signature) continue;
    fault_ = {PlanFault::Kind::signature, region.rank(), rank, terms_.signature,
              announced.signature};
  }
  // If any rank has a fault, its board may not exist; that rank reports the fault.
  for (const int receiver : region.mapped_ranks()) {
    if (!all_well || fault_) break;
    if (receiver != region.rank()) fault_ = find_lanes_of(receiver);
  }
  if (all_well && !fault_) fault_ = remote_.check();
  if (all_well && !fault_) fault_ = check_copies();
  const bool asked = all_well && !fault_ && !bound && region.rank() == 0 && terms_.choose;
  resources_.exchange.begin(to_words(fault_, asked ? terms_.choose(longest) : 0));
  terms_.choose = nullptr;  // it may refer to objects that end when the plan has been made
  registry_.push();
}

/// Called for all mapped ranks, also those that this rank sends nothing to: they may expect a
/// message.
PlanFault Plan::find_lanes_of(int receiver) {
  const Announced announced = to_announced(resources_.exchange.of(receiver));
  std::byte* board = nullptr;
  if (announced.board.shared()) {
    board = resources_.transport.node().map(resources_.region.member(receiver).process,
                                            announced.board, announced.board_bytes);
    if (board == nullptr) {
      return {PlanFault::Kind::memory, receiver, resources_.region.rank(), announced.board_bytes,
              0};
    }
  }
  return mapped_.find_lanes(receiver, reinterpret_cast<Board*>(board));
}

/// Checks the bytes and types of what this rank copies to itself.
PlanFault Plan::check_copies() const {
  const int rank = resources_.region.rank();
  for (const auto& [from, into, step] : copies_) {
    if (from.bytes() > into.bytes()) {
      return {PlanFault::Kind::truncated, rank, rank, from.bytes(), into.bytes()};
    }
    if (from.bytes() != 0 && !match_types(from.basic(), into.basic())) {
      return {PlanFault::Kind::types, rank, rank, from.bytes(), into.bytes()};
    }
  }
  return {};
}

void Plan::agree() {
  stage_ = Stage::over;
  Region& region = resources_.region;
  for (int rank = 0; rank < region.ranks(); ++rank) {
    fault_ = to_fault(resources_.exchange.of(rank));
    if (fault_) return;
  }
  choice_ = to_choice(resources_.exchange.of(0));
  mapped_.finalize();
  remote_.finalize();
  receives_.assign(static_cast<std::size_t>(steps_), 0);
  mapped_.count_receives(receives_);
  remote_.count_receives(receives_);
  progress_.pending_receives = receives_;
}

void Plan::start(Completion& completion) {
  ++progress_.use;
  progress_.active = true;
  progress_.failure = {};
  progress_.stale = false;
  progress_.pending_sends = 0;
  std::ranges::copy(receives_, progress_.pending_receives.begin());
  completion_ = &completion;
  progress_.report_use(EventKind::use_begun);
  registry_.begin_work(*this);
  next_copy_ = next_combination_ = 0;
  carry_out(Schedule::before_all);
  remote_.start();
  mapped_.start();
  begin(0);
  advance();
}

/// Begins a step: sends to other nodes first, because they take longest. In step 0, whose sends
/// depend on no copy, the copies are made last.
void Plan::begin(int step) {
  step_ = step;
  if (step != 0) carry_out(step);
  remote_.begin_sends(step);
  mapped_.begin_sends(step);
  registry_.push();
  if (step == 0) carry_out(step);
}

void Plan::carry_out(int step) {
  for (; next_copy_ < copies_.size() && copies_[next_copy_].step == step; ++next_copy_) {
    oriel::copy(copies_[next_copy_].from, copies_[next_copy_].into);
  }
  for (; next_combination_ < combinations_.size(); ++next_combination_) {
    const Schedule::Combination& one = combinations_[next_combination_];
    if (one.step != step) break;
    if (own_op_ == nullptr) {
      reduce_plain(one.reduction, one.into, one.from, nullptr, one.count);
    } else if (!progress_.stale) {  // an own op's function might follow pointers in invalid data
      own_op_->combine(one.from, one.into, one.count);
    }
  }
}

bool Plan::step_over() const {
  return progress_.pending_receives[static_cast<std::size_t>(step_)] == 0;
}

bool Plan::may_begin(int step) const {
  const bool combines =
      next_combination_ < combinations_.size() && combinations_[next_combination_].step == step;
  return own_op_ == nullptr || !combines || own_op_->callable();
}

bool Plan::advance() {
  bool moved = remote_.advance();
  moved |= mapped_.advance();
  while (step_ + 1 < steps_ && step_over() && may_begin(step_ + 1)) {
    begin(step_ + 1);
    moved = true;
  }
  const bool over = step_ + 1 == steps_ && step_over() && progress_.pending_sends == 0;
  if (!over) return moved;
  progress_.active = false;
  registry_.end_work(*this);
  progress_.report_use(EventKind::use_over);
  completion_->complete(progress_.failure.error);
  return true;
}

void Plan::abandon() {
  if (!progress_.active) return;
  progress_.active = false;
  registry_.end_work(*this);
  mapped_.abandon();
  remote_.abandon();
}

int Plan::lost_peer() const {
  int rank = mapped_.lost_peer();
  if (rank < 0) rank = remote_.lost_peer();
  if (rank >= 0 || !needs_all_ || !active()) return rank;
  for (rank = 0; rank < resources_.region.ranks(); ++rank) {
    if (rank != resources_.region.rank() && !resources_.region.alive(rank)) return rank;
  }
  return -1;
}

bool Plan::receive(const Message& message, std::span<const std::byte> payload) {
  switch (message.kind) {
    case MessageKind::plan_space:
      if (stage_ != Stage::announced) return false;
      if (const PlanFault fault = remote_.receive_space(message, payload); fault && !fault_) {
        fault_ = fault;
      }
      return true;
    case MessageKind::plan_started:
      return remote_.receive_started(message);
    default:
      return remote_.receive_bytes(message, payload);
  }
}

}  // namespace oriel
