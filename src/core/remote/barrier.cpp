// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/barrier.hpp"

#include <atomic>

#include "core/lock/control.hpp"

namespace oriel {

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

bool Barrier::take(const Message& message) {
  if (message.stamp >= steps_) return false;
  const auto step = static_cast<unsigned>(message.stamp);
  if (target(message.origin, step) != region_.rank()) return false;
  const std::uint64_t bit = std::uint64_t{1} << step;
  return (region_.mine().barrier.fetch_or(bit, std::memory_order_acq_rel) & bit) == 0;
}

}  // namespace oriel
