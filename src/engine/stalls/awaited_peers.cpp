// SPDX-License-Identifier: BSD-3-Clause
#include "engine/stalls/awaited_peers.hpp"

#include <algorithm>
#include <memory>

#include "engine/engine.hpp"

namespace oriel {
namespace {

using Condition = Awaited::Condition;

/// True if a wait for `reason` can depend on such a condition.
bool concerns(WaitReason reason, Condition condition) {
  switch (reason) {
    case WaitReason::complete:
      return condition == Condition::exposure || condition == Condition::operations;
    case WaitReason::exposure:
      return condition == Condition::completion;
    case WaitReason::fence:
    case WaitReason::window:
      return condition == Condition::fence || condition == Condition::operations;
    case WaitReason::lock:
      return condition == Condition::lock || condition == Condition::lock_order;
    case WaitReason::unlock:
    case WaitReason::flush:
      return condition == Condition::lock || condition == Condition::lock_order ||
             condition == Condition::operations;
    default:
      return false;
  }
}

/// True if the call waits for this condition, which may also be pending for another reason.
bool is_for(const Wait& wait, const Awaited& awaited) {
  const bool of_lock =
      awaited.condition == Condition::lock || awaited.condition == Condition::lock_order;
  const int rank = of_lock ? awaited.target : awaited.rank;
  return concerns(wait.reason, awaited.condition) && (wait.rank < 0 || wait.rank == rank);
}

/// All conditions pending on the window of that number; 0: on any window.
std::vector<AwaitedPeer> pending_on(Process& process, std::uint32_t number) {
  std::vector<AwaitedPeer> peers;
  for (const std::unique_ptr<Window>& window : process.windows()) {
    if (number != 0 && window->id() != number) continue;
    for (const Awaited& awaited : window->epochs().awaited()) {
      peers.push_back({window.get(), awaited});
    }
  }
  return peers;
}

/// If a lock waits for an earlier one, perhaps of another window, adds the holder of the earlier
/// lock.
void add_earlier_locks(Process& process, AwaitedPeers& own) {
  const auto in_order = [](const AwaitedPeer& peer) {
    return peer.awaited.condition == Condition::lock_order;
  };
  const auto behind = std::ranges::find_if(own.peers, in_order);
  if (behind == own.peers.end()) return;
  const std::uint32_t number = behind->window->epochs().window_of_earlier_lock();
  for (const AwaitedPeer& peer :
       number != 0 ? pending_on(process, number) : std::vector<AwaitedPeer>()) {
    if (peer.awaited.condition == Condition::lock) own.peers.push_back(peer);
  }
}

}  // namespace

int AwaitedPeer::process() const {
  if (awaited.rank < 0) return -1;
  const int process = window->read_member(awaited.rank).process;
  return process < CompositeTransport::first_elsewhere ? process : -1;
}

AwaitedPeers awaited_peers(const LongWait& long_wait) {
  Process& process = long_wait.engine().running()->process;
  const Wait& wait = long_wait.wait();
  if (wait.reason == WaitReason::notification) {
    const Window* window = process.find_window(long_wait.window());
    if (window == nullptr || wait.rank < 0) return {};
    return {{{window, {Condition::notification, wait.rank}}}, true};
  }
  AwaitedPeers pending{pending_on(process, long_wait.window()), false};
  AwaitedPeers own{{}, true};
  for (const AwaitedPeer& peer : pending.peers) {
    if (is_for(wait, peer.awaited)) own.peers.push_back(peer);
  }
  if (own.peers.empty()) return pending;
  add_earlier_locks(process, own);
  const bool pairwise = wait.reason == WaitReason::complete || wait.reason == WaitReason::exposure;
  for (const AwaitedPeer& peer : own.peers) {
    // With a reorder key, an epoch that the call does not wait for may be pending, too.
    const bool others = pairwise && peer.awaited.epoch != own.peers.front().awaited.epoch;
    // A rank that waits in a call also carries out the operations of others.
    const bool served = peer.awaited.condition == Condition::operations;
    if (others || served) own.exact = false;
  }
  return own;
}

}  // namespace oriel
