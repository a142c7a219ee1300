// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/sleeper.hpp"

#include <algorithm>

#include "transport/shm/clock.hpp"
#include "transport/shm/futex.hpp"

namespace oriel {
namespace {

constexpr std::uint64_t first_timeout = 50'000;
// Twice the time of all yields if no other thread wants the processor.
constexpr std::uint64_t longest_yielding = 20'000'000;
// Without the fence a wake-up can be lost, and space in a mailbox does not ring.
constexpr std::uint64_t longest_unsure_timeout = 1'000'000;
constexpr std::uint64_t longest_timeout = 10'000'000;
// Messages from other nodes do not ring: about the time that a message takes.
constexpr std::uint64_t network_timeout = 50'000;

}  // namespace

bool Sleeper::yielded_long() {
  const std::uint64_t now = nanoseconds_now();
  if (yielding_since_ == 0) yielding_since_ = now;
  return now - yielding_since_ > longest_yielding;
}

void Sleeper::lie_down() {
  Doorbell& bell = transport_->doorbell(transport_->self());
  if (!lying_) {
    lying_ = true;
    timeout_ = first_timeout;
    last_check_ = nanoseconds_now();
    // A count: several threads of the process may sleep.
    bell.lie_down();
    // Once until rise(), not once per sleep: `sleeping` stays set in between.
    if (transport_->fences_peers()) transport_->fence_peers();
  }
  rings_ = bell.read_rings();
}

/// True if the peers must be checked.
bool Sleeper::sleep() {
  futex_wait(transport_->doorbell(transport_->self()).rings, rings_, timeout_);
  const bool sure = transport_->fences_peers() && !transport_->backlogged();
  timeout_ = std::min(2 * timeout_, networked_ ? network_timeout
                                    : sure     ? longest_timeout
                                               : longest_unsure_timeout);
  const std::uint64_t now = nanoseconds_now();
  if (now - last_check_ < peer_check_interval) return false;
  last_check_ = now;
  return true;
}

void Sleeper::rise() {
  if (!lying_) return;
  lying_ = false;
  transport_->doorbell(transport_->self()).rise();
}

}  // namespace oriel
