// SPDX-License-Identifier: BSD-3-Clause
// The peers that pending epochs wait for, and checks whether one of them has ended.
#include "core/epoch/epochs.hpp"

namespace oriel {

/// True if any rank may be the one that the epoch waits for.
bool Epochs::awaits_any_rank(const Epoch& epoch) {
  // All ranks must enter a fence, and the holder of a lock is not known.
  if (epoch.kind == EpochKind::fence) return epoch.closing_call != 0;
  if (!epoch.passive()) return false;
  for (const Target& target : epoch) {
    const EpochPeer& other = peer(target.rank);
    // An answer, and a request that has not been sent, may wait for a lock as well.
    const bool waits = epoch.closed ? !target.signaled : !target.waiting.empty();
    if (target.access == Target::Access::requested || other.weak_answered < other.weak_asked ||
        (target.access == Target::Access::idle && waits)) {
      return true;
    }
  }
  return false;
}

bool Epochs::awaits(const Epoch& epoch, const Target& target) {
  if (epoch.closed && !target.signaled) return true;
  if (!target.waiting.empty() || !target.moving.empty() || !target.copied.empty() ||
      !target.flushes.empty() || target.finished < target.asked || target.asked_alone != 0) {
    return true;
  }
  // The next epoch waits until the target is exposed: see over().
  return epoch.completed && target.issued != 0 && target.access != Target::Access::granted;
}

int Epochs::lost_peer() {
  bool anybody = true;
  for (const Target& target : notified_) {
    if (!awaits(notified_, target)) continue;
    anybody = false;
    if (!alive_(target.rank)) return target.rank;
  }
  // Deferred epochs wait for active ones.
  for (const Epoch* epoch = active_.first(); epoch != nullptr; epoch = EpochQueue::after(*epoch)) {
    if (awaits_any_rank(*epoch)) {
      anybody = true;
      break;
    }
    for (const Target& target : *epoch) {
      if (!awaits(*epoch, target)) continue;
      anybody = false;
      if (!alive_(target.rank)) return target.rank;
    }
  }
  // If no epoch waits for a known rank, packets in flight may be all that is pending.
  return anybody ? lost_source(-1) : -1;
}

std::vector<Awaited> Epochs::awaited() {
  using enum Awaited::Condition;
  std::vector<Awaited> found;
  for (const Target& target : notified_) {
    if (awaits(notified_, target)) found.push_back({operations, target.rank});
  }
  // Deferred epochs wait for active ones.
  for (const Epoch* epoch = active_.first(); epoch != nullptr; epoch = EpochQueue::after(*epoch)) {
    const std::size_t others = found.size();
    if (epoch->kind == EpochKind::fence && epoch->closing_call != 0) {
      std::vector<int> late;
      fence_.find_late(epoch->closing_call, late);
      for (const int rank : late) found.push_back({fence, rank});
    }
    for (const Target& target : *epoch) {
      const bool granted = target.access == Target::Access::granted;
      if (epoch->kind == EpochKind::exposure) {
        if (epoch->closed && !target.signaled) found.push_back({completion, target.rank});
      } else if (target.lock_due && target.access == Target::Access::idle &&
                 !lock_order_.permits(*epoch)) {
        found.push_back({lock_order, -1, target.rank});
      } else if (epoch->passive() && target.access == Target::Access::requested) {
        found.push_back({lock, link(target.rank).lock_holder(target.rank), target.rank});
      } else if (epoch->kind == EpochKind::access && !granted && awaits(*epoch, target)) {
        found.push_back({exposure, target.rank});
      } else if (granted && awaits(*epoch, target)) {
        found.push_back({operations, target.rank});
      }
    }
    for (std::size_t i = others; i < found.size(); ++i) found[i].epoch = epoch->opened_at;
  }
  return found;
}

std::uint32_t Epochs::window_of_earlier_lock() const {
  for (const Epoch* epoch = all_.first(); epoch != nullptr;
       epoch = EpochsByOpening::after(*epoch)) {
    if (epoch->locks_due == 0) continue;
    const Epoch* earlier = lock_order_.first_before(*epoch);
    if (earlier != nullptr) return earlier->owner->events_.window();
  }
  return 0;
}

int Epochs::lost_source(int rank) {
  if (rank >= 0) return alive_(rank) ? -1 : rank;
  // Each rank starts with rank + 1: a rank has few questions at a time, so different ranks ask
  // different peers first.
  for (int i = 1; i <= ranks(); ++i) {
    const int any = (rank_ + i) % ranks();
    if (!alive_(any)) return any;
  }
  return -1;
}

}  // namespace oriel
