// SPDX-License-Identifier: BSD-3-Clause
// Operations on private memory that its owner carries out because it happens to be looking.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>

#include "core/board.hpp"
#include "core/process.hpp"
#include "core/window.hpp"

namespace oriel {
namespace {

using Clock = std::chrono::steady_clock;

// Ten times what an owner takes that does nothing but look.
constexpr auto patience = std::chrono::microseconds(3);
constexpr unsigned looks_per_clock = 64;
constexpr unsigned looks_per_relax = 64;
// Whether the other one lives is asked about once in some milliseconds.
constexpr unsigned looks_per_question = 1 << 16;
// So much is copied before the other one is told: large beside a cache line's journey, small beside
// the whole.
constexpr std::uint64_t stage = 4096;

bool sends(const Offer& offer) {
  return offer.kind != OperationKind::get && offer.op != Op::no_op;
}

bool contiguous(const Buffer& buffer) {
  return !buffer.layout || buffer.layout->contiguous();
}

/// The most of `bytes` that is whole elements; `element` is 0 for puts and gets.
std::uint64_t whole_elements(std::uint64_t bytes, std::uint32_t element) {
  return element == 0 ? bytes : bytes / element * element;
}

/// A board's staging, as the one in front and the one behind see it.
class Staging {
 public:
  explicit Staging(Board& board) : board_(board) {}

  void fill(const std::byte* from, std::uint64_t bytes, std::uint32_t element) {
    const std::uint64_t step = whole_elements(stage, element);
    for (std::uint64_t filled = 0; filled < bytes;) {
      const std::uint64_t next = std::min(step, bytes - filled);
      std::memcpy(board_.staging + filled, from + filled, next);
      filled += next;
      board_.staged.store(filled, std::memory_order_release);
    }
  }
  std::span<const std::byte> behind(std::uint64_t emptied) const {
    const std::uint64_t staged = board_.staged.load(std::memory_order_acquire);
    return {board_.staging + emptied, staged - emptied};
  }

 private:
  Board& board_;
};

}  // namespace

std::uint64_t Window::offer(const Operation& operation, Peer& other) {
  const Board* board = other.member.board;
  const std::uint64_t total = operation.target_count * operation.target_layout->size();
  if (board == nullptr || board->attentive.load(std::memory_order_relaxed) == 0 || total == 0 ||
      !operation.target_layout->contiguous() || !contiguous(operation.origin) ||
      !contiguous(operation.result)) {
    return 0;
  }
  std::uint64_t most = total;
  if (total > Offer::capacity) {
    // What fetches and changes at once would need the staging in both directions.
    if (operation.kind == OperationKind::get_accumulate) return 0;
    most = whole_elements(Board::staging_bytes, operation.reduction.element);
  }
  std::uint64_t done = 0;
  while (done < total) {
    const std::uint64_t bytes = std::min(most, total - done);
    if (!post_offer(operation, other, done, bytes) || !await_offer(operation, other, done)) break;
    done += bytes;
  }
  return done;
}

bool Window::post_offer(const Operation& operation, Peer& other, std::uint64_t from,
                        std::uint64_t bytes) {
  Board& board = *other.member.board;
  std::uint32_t state = Board::idle;
  if (!board.state.compare_exchange_strong(state, Board::claimed, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
    return false;
  }
  Offer& offer = board.offer;
  offer.window = other.member.window;
  offer.origin = rank_;
  offer.kind = operation.kind;
  offer.op = operation.reduction.op;
  offer.basic = operation.reduction.basic;
  offer.element = operation.reduction.element;
  offer.offset = other.member.offset(operation.displacement) + from;
  offer.bytes = bytes;
  if (offer.basic == Basic::other || offer.op == Op::generic) {
    offer.op_code = operation.reduction.op_code;
    offer.type_code = operation.reduction.type_code;
  }
  const auto* origin = static_cast<const std::byte*>(operation.origin.address) + from;
  if (offer.bytes <= Offer::capacity && sends(offer)) std::memcpy(offer.data, origin, offer.bytes);
  if (offer.kind == OperationKind::compare_and_swap) {
    std::memcpy(offer.data + offer.element, operation.compare, offer.element);
  }
  if (offer.bytes <= Offer::capacity) {
    board.state.store(Board::offered, std::memory_order_release);
    return true;
  }
  board.staged.store(0, std::memory_order_relaxed);
  board.state.store(Board::offered, std::memory_order_release);
  if (sends(offer)) {
    // The owner may have taken the offer and be emptying the staging behind us.
    Staging(board).fill(origin, offer.bytes, offer.element);
  }
  return true;
}

bool Window::await_offer(const Operation& operation, Peer& other, std::uint64_t from) {
  Board& board = *other.member.board;
  const Offer& offer = board.offer;
  const bool is_long = offer.bytes > Offer::capacity;
  auto* result = static_cast<std::byte*>(operation.result.address) + from;
  std::uint64_t emptied = 0;
  const auto collect = [&] {
    if (!is_long || !fetches(offer.kind)) return;
    const std::span<const std::byte> ready = Staging(board).behind(emptied);
    std::memcpy(result + emptied, ready.data(), ready.size());
    emptied += ready.size();
  };
  Clock::time_point deadline{};
  std::uint32_t state = board.state.load(std::memory_order_acquire);
  for (unsigned looks = 1; state < Board::done; ++looks) {
    // The target may be waiting for us in the same way.
    process_.attend();
    if (state == Board::taken) {
      collect();
      if (!still_copying(looks, other)) return false;
    } else if (looks % looks_per_clock == 0) {
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
  if (state == Board::done) {
    collect();
    if (!is_long && fetches(offer.kind)) std::memcpy(result, offer.data, offer.bytes);
  }
  board.state.store(Board::idle, std::memory_order_release);
  return state == Board::done;
}

bool Window::still_copying(unsigned looks, const Peer& other) {
  if (looks % looks_per_relax == 0) transport_.relax();
  return looks % looks_per_question != 0 || transport_.alive(other.member.process);
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
  const Reduction reduction{offer.op,      offer.basic,     offer.element,
                            offer.op_code, offer.type_code, process_.generic_};
  if (offer.bytes > Offer::capacity) return carry_out_long(offer, reduction, where);
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
    case OperationKind::acknowledge:
      return false;
  }
  std::memcpy(offer.data, result.data(), offer.bytes);
  return true;
}

bool Window::carry_out_long(const Offer& offer, const Reduction& reduction, std::byte* where) {
  Staging staging(*process_.board_);
  if (offer.kind == OperationKind::get) {
    staging.fill(where, offer.bytes, offer.element);
    return true;
  }
  Peer& self = peer(rank_);
  unsigned looks = 0;
  for (std::uint64_t emptied = 0; emptied < offer.bytes;) {
    const std::span<const std::byte> ready = staging.behind(emptied);
    if (ready.empty()) {
      if (!still_copying(++looks, peer(offer.origin))) return false;
      continue;
    }
    if (offer.kind == OperationKind::put) {
      std::memcpy(where + emptied, ready.data(), ready.size());
    } else {
      reduce(reduction, self, where + emptied, ready.data(), nullptr, ready.size() / offer.element);
    }
    emptied += ready.size();
  }
  return true;
}

}  // namespace oriel
