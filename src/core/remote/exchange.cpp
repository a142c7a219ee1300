// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/exchange.hpp"

#include <atomic>
#include <cstring>

namespace oriel {

void Exchange::begin(const Words& own) {
  ++round_;
  next_ = 0;
  ControlBlock& mine = region_.mine();
  mine.said[round_ % 2] = own;
  // Release: memory that peers access because of these words has been set up before.
  mine.round.store(round_, std::memory_order_release);
  Message message;
  message.kind = MessageKind::exchange;
  message.stamp = round_;
  message.data = sizeof own;
  for (int rank = 0; rank < region_.ranks(); ++rank) {
    if (region_.mapped(rank)) {
      region_.wake(rank);
    } else {
      sender_->send(rank, message, std::as_bytes(std::span(own)));
    }
  }
}

bool Exchange::over() {
  while (next_ < region_.ranks() && here(next_)) ++next_;
  return next_ == region_.ranks();
}

bool Exchange::here(int rank) {
  if (!region_.mapped(rank)) return received_from(rank).round >= round_;
  return region_.member(rank).control->round.load(std::memory_order_acquire) >= round_;
}

const Exchange::Words& Exchange::of(int rank) {
  return (region_.mapped(rank) ? region_.member(rank).control->said
                               : received_from(rank).words)[round_ % 2];
}

Exchange::Received& Exchange::received_from(int rank) {
  received_.resize(static_cast<std::size_t>(region_.ranks()));
  return received_[static_cast<std::size_t>(rank)];
}

bool Exchange::receive(const Message& message, std::span<const std::byte> payload) {
  // No rank is more than one round ahead of this rank.
  Received& received = received_from(message.origin);
  if (payload.size() != sizeof(Words) || message.data != payload.size() ||
      message.stamp != received.round + 1 || message.stamp > round_ + 1) {
    return false;
  }
  std::memcpy(received.words[message.stamp % 2].data(), payload.data(), payload.size());
  received.round = message.stamp;
  return true;
}

bool Barrier::over() {
  // Acquire: the ranks' accesses before they entered.
  const std::uint64_t arrived = region_.mine().barrier.load(std::memory_order_acquire);
  while (entered_ && sent_ < steps_ && (sent_ == 0 || (arrived >> (sent_ - 1) & 1) != 0)) {
    send(sent_++);
  }
  return entered_ && arrived == (std::uint64_t{1} << steps_) - 1;
}

void Barrier::send(unsigned step) {
  const int to = target(region_.rank(), step);
  if (region_.mapped(to)) {
    region_.member(to).control->barrier.fetch_or(std::uint64_t{1} << step,
                                                 std::memory_order_acq_rel);
    region_.wake(to);
    return;
  }
  Message message;
  message.kind = MessageKind::barrier;
  message.stamp = step;
  sender_->send(to, message);
}

bool Barrier::receive(const Message& message) {
  if (message.stamp >= steps_) return false;
  const auto step = static_cast<unsigned>(message.stamp);
  if (target(message.origin, step) != region_.rank()) return false;
  const std::uint64_t bit = std::uint64_t{1} << step;
  return (region_.mine().barrier.fetch_or(bit, std::memory_order_acq_rel) & bit) == 0;
}

}  // namespace oriel
