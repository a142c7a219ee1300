// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/sleeper.hpp"

#include <algorithm>

#include "core/base/steps.hpp"
#include "transport/shm/clock.hpp"
#include "transport/shm/futex.hpp"

namespace oriel {
namespace {

// The first sleep; and all sleeps during which messages from other nodes may arrive, because these
// do not ring: it is about the time that a message takes.
constexpr std::uint64_t shortest_timeout = steps::host_interval_time;
constexpr std::uint64_t longest_timeout = peer_check_interval / 10;
// Without the fence a wake-up can be lost, and space in a mailbox does not ring.
constexpr std::uint64_t longest_unsure_timeout = longest_timeout / 10;

}  // namespace

void Sleeper::lie_down() {
  Doorbell& bell = transport_->doorbell(transport_->self());
  if (!lying_) {
    lying_ = true;
    timeout_ = shortest_timeout;
    // A count: several threads of the process may sleep.
    bell.lie_down();
    // Once until rise(), not once per sleep: `sleeping` stays set in between.
    if (transport_->fences_peers()) transport_->fence_peers();
  }
  rings_ = bell.read_rings();
}

void Sleeper::wait_for_ring() {
  futex_wait(transport_->doorbell(transport_->self()).rings, rings_, timeout_);
  const bool sure = transport_->fences_peers() && !transport_->backlogged();
  timeout_ = std::min(2 * timeout_, networked_ ? shortest_timeout
                                    : sure     ? longest_timeout
                                               : longest_unsure_timeout);
}

void Sleeper::rise() {
  if (!lying_) return;
  lying_ = false;
  transport_->doorbell(transport_->self()).rise();
}

}  // namespace oriel
