// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/barrier.hpp"

namespace oriel {

bool Barrier::over() {
  while (entered_ && sent_ < steps_ && (sent_ == 0 || arrived(sent_ - 1))) {
    Message message;
    message.kind = MessageKind::barrier;
    message.stamp = sent_;
    sender_.send(target(region_.rank(), sent_), message);
    ++sent_;
  }
  return entered_ && arrived_ == all_steps();
}

bool Barrier::take(const Message& message) {
  if (message.stamp >= steps_) return false;
  const auto step = static_cast<unsigned>(message.stamp);
  if (target(message.origin, step) != region_.rank() || arrived(step)) return false;
  arrived_ |= std::uint64_t{1} << step;
  return true;
}

}  // namespace oriel
