// SPDX-License-Identifier: BSD-3-Clause
// Whether what is pending still can be completed.
#include "core/epoch/epochs.hpp"

namespace oriel {

/// Any rank's absence may be what holds it up.
bool Epochs::awaits_anybody(const Epoch& epoch) {
  // All ranks have to enter the fence, and of a lock nobody tells us who holds it.
  if (epoch.kind == EpochKind::fence) return epoch.closing_call != 0;
  if (!epoch.passive()) return false;
  for (const Target& target : epoch) {
    const EpochPeer& other = peer(target.rank);
    // The answer, and a request that has not been sent, may wait for a lock as well.
    const bool waits = epoch.closed ? !target.told : !target.waiting.empty();
    if (target.access == Target::Access::requested || other.weak_answered < other.weak_asked ||
        (target.access == Target::Access::idle && waits)) {
      return true;
    }
  }
  return false;
}

bool Epochs::awaits(const Epoch& epoch, const Target& target) {
  if (epoch.closed && !target.told) return true;
  if (!target.waiting.empty() || !target.moving.empty() || target.flushes != nullptr ||
      target.finished < target.asked || target.asked_alone != 0) {
    return true;
  }
  // The next epoch waits until it is exposed: see over().
  return epoch.completed && target.issued != 0 && target.access != Target::Access::granted;
}

int Epochs::lost_peer() {
  bool anybody = true;
  for (const Target& target : notified_) {
    if (!awaits(notified_, target)) continue;
    anybody = false;
    if (!peer_interface_.alive(target.rank)) return target.rank;
  }
  // Deferred ones wait for these.
  for (const Epoch* epoch = active_.first(); epoch != nullptr; epoch = EpochQueue::after(*epoch)) {
    if (awaits_anybody(*epoch)) {
      anybody = true;
      break;
    }
    for (const Target& target : *epoch) {
      if (!awaits(*epoch, target)) continue;
      anybody = false;
      if (!peer_interface_.alive(target.rank)) return target.rank;
    }
  }
  // Where no epoch names whom it waits for, packets may be all that is on its way.
  return anybody ? lost_source(-1) : -1;
}

int Epochs::lost_source(int rank) {
  if (rank >= 0) return peer_interface_.alive(rank) ? -1 : rank;
  for (int any = 0; any < ranks(); ++any) {
    if (!peer_interface_.alive(any)) return any;
  }
  return -1;
}

}  // namespace oriel
