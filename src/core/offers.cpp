// SPDX-License-Identifier: BSD-3-Clause
// Operations on private memory that its owner carries out because it happens to be looking.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "core/board.hpp"
#include "core/process.hpp"
#include "core/window.hpp"

namespace oriel {
namespace {

using Clock = std::chrono::steady_clock;

// Ten times what an owner takes that does nothing but look.
constexpr auto patience = std::chrono::microseconds(3);
constexpr unsigned looks_per_clock = 64;

bool sends(const Offer& offer) {
  return offer.kind != OperationKind::get && offer.op != Op::no_op;
}

bool fetches(const Offer& offer) {
  return offer.kind != OperationKind::put && offer.kind != OperationKind::accumulate;
}

bool contiguous(const Buffer& buffer) {
  return !buffer.layout || buffer.layout->contiguous();
}

}  // namespace

bool Window::post_offer(const Operation& operation, Peer& other, std::uint64_t skip) {
  Board* board = other.member.board;
  const std::uint64_t bytes = operation.target_count * operation.target_layout->size();
  if (board == nullptr || board->attentive.load(std::memory_order_relaxed) == 0 || bytes == 0 ||
      !operation.target_layout->contiguous() || !contiguous(operation.origin) ||
      !contiguous(operation.result) ||
      (bytes - skip > Offer::capacity &&
       (other.refuses_long_offers || operation.kind == OperationKind::get_accumulate))) {
    return false;
  }
  std::uint32_t state = Board::idle;
  if (!board->state.compare_exchange_strong(state, Board::claimed, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
    return false;
  }
  Offer& offer = board->offer;
  offer.window = id_;
  offer.origin = rank_;
  offer.kind = operation.kind;
  offer.op = operation.reduction.op;
  offer.basic = operation.reduction.basic;
  offer.element = operation.reduction.element;
  offer.offset = static_cast<std::uint64_t>(operation.displacement) * other.member.disp_unit + skip;
  offer.bytes = bytes - skip;
  if (offer.basic == Basic::other || offer.op == Op::generic) {
    offer.op_code = operation.reduction.op_code;
    offer.type_code = operation.reduction.type_code;
  }
  const auto* origin = static_cast<const std::byte*>(operation.origin.address) + skip;
  if (offer.bytes > Offer::capacity) {
    offer.origin_address = reinterpret_cast<std::uintptr_t>(origin);
    offer.result_address = reinterpret_cast<std::uintptr_t>(operation.result.address) + skip;
  } else if (sends(offer)) {
    std::memcpy(offer.data, origin, offer.bytes);
  }
  if (offer.kind == OperationKind::compare_and_swap) {
    std::memcpy(offer.data + offer.element, operation.compare, offer.element);
  }
  board->state.store(Board::offered, std::memory_order_release);
  return true;
}

bool Window::await_offer(const Operation& operation, Peer& other) {
  Board& board = *other.member.board;
  Clock::time_point deadline{};
  std::uint32_t state = board.state.load(std::memory_order_acquire);
  for (unsigned looks = 1; state < Board::done; ++looks) {
    // The target may be waiting for us in the same way.
    process_.attend();
    if (state == Board::taken && looks % looks_per_clock == 0) transport_.relax();
    if (state == Board::offered && looks % looks_per_clock == 0) {
      const Clock::time_point now = Clock::now();
      if (deadline == Clock::time_point{}) {
        deadline = now + patience;
      } else if (now > deadline && take_back_offer(other)) {
        board.attentive.store(0, std::memory_order_relaxed);
        return false;
      }
    }
    state = board.state.load(std::memory_order_acquire);
  }
  const Offer& offer = board.offer;
  const bool is_long = offer.bytes > Offer::capacity;
  if (state == Board::done && fetches(offer) && !is_long) {
    std::memcpy(operation.result.address, offer.data, offer.bytes);
  }
  other.refuses_long_offers |= state == Board::refused && is_long;
  board.state.store(Board::idle, std::memory_order_release);
  return state == Board::done;
}

bool Window::take_back_offer(Peer& other) {
  Board& board = *other.member.board;
  std::uint32_t state = Board::offered;
  if (!board.state.compare_exchange_strong(state, Board::claimed, std::memory_order_relaxed)) {
    return false;
  }
  board.state.store(Board::idle, std::memory_order_release);
  return true;
}

bool Process::attend() {
  if (attending_ == 0) return false;
  if (board_->attentive.load(std::memory_order_relaxed) == 0) {
    board_->attentive.store(1, std::memory_order_relaxed);
  }
  std::uint32_t state = Board::offered;
  if (board_->state.load(std::memory_order_relaxed) != Board::offered ||
      !board_->state.compare_exchange_strong(state, Board::taken, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
    return false;
  }
  Offer& offer = board_->offer;
  Window* window = find_window(offer.window);
  const bool carried_out = window != nullptr && window->carry_out(offer);
  board_->state.store(carried_out ? Board::done : Board::refused, std::memory_order_release);
  return true;
}

bool Window::carry_out(Offer& offer) {
  Peer& self = peer(rank_);
  if (!valid_rank(offer.origin) || offer.offset > self.member.size ||
      offer.bytes > self.member.size - offer.offset) {
    return false;
  }
  std::byte* where = self.member.base + offer.offset;
  if (offer.bytes > Offer::capacity) return carry_out_long(offer, where);
  const Reduction reduction{offer.op,      offer.basic,     offer.element,
                            offer.op_code, offer.type_code, process_.generic_};
  std::array<std::byte, Offer::capacity> result;
  switch (offer.kind) {
    case OperationKind::put:
      std::memcpy(where, offer.data, offer.bytes);
      return true;
    case OperationKind::get:
      std::memcpy(offer.data, where, offer.bytes);
      return true;
    case OperationKind::accumulate:
      reduce(reduction, self, where, offer.data, nullptr, offer.bytes / offer.element);
      return true;
    case OperationKind::get_accumulate:
      reduce(reduction, self, where, offer.data, result.data(), offer.bytes / offer.element);
      break;
    case OperationKind::compare_and_swap:
      compare_swap(offer.element, self, where, offer.data, offer.data + offer.element,
                   result.data());
      break;
  }
  std::memcpy(offer.data, result.data(), offer.bytes);
  return true;
}

bool Window::carry_out_long(const Offer& offer, std::byte* where) {
  const int process = peer(offer.origin).member.process;
  const auto transfer = [&](bool write, void* local, std::uint64_t remote, std::uint64_t bytes) {
    const Run run{local, remote, bytes};
    return transport_.copy(process, write, {&run, 1}) == Error::none;
  };
  if (offer.kind == OperationKind::put) {
    return transfer(false, where, offer.origin_address, offer.bytes);
  }
  if (offer.kind == OperationKind::get) {
    return transfer(true, where, offer.result_address, offer.bytes);
  }
  // As a whole: nothing may be refused once a part is in.
  const Reduction reduction{offer.op,      offer.basic,     offer.element,
                            offer.op_code, offer.type_code, process_.generic_};
  scratch_.resize(std::max<std::size_t>(scratch_.size(), offer.bytes));
  if (!transfer(false, scratch_.data(), offer.origin_address, offer.bytes)) {
    return false;
  }
  reduce(reduction, peer(rank_), where, scratch_.data(), nullptr, offer.bytes / offer.element);
  return true;
}

}  // namespace oriel
