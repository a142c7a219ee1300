// SPDX-License-Identifier: BSD-3-Clause
// Flushes: the operations that they cover, and when they are satisfied (E9). Questions for
// operations of weak unlocks (S7).
#include "core/epoch/epochs.hpp"

namespace oriel {

Outcome Epochs::finish_flush(const Coverage& coverage, Completion* completion) {
  const Outcome outcome = pending_.finish_flush(coverage, completion);
  if (!outcome.ok()) fail(outcome.error, "an operation that the flush covers failed");
  return outcome;
}

/// Adds to a flush the operations that the threads have issued to the target. If the target has
/// operations of the notified epoch, postponed ones, unanswered weak unlocks or an error, those of
/// all threads are covered, because none of these is known by thread. A local flush waits for the
/// fetches of all threads.
void Epochs::cover(Epoch& epoch, Target& target, bool local, ThreadSet threads,
                   Coverage& coverage) {
  const EpochPeer& other = peer(target.rank);
  if (threads != all_threads && other.notified == nullptr && other.postponed.load() == 0 &&
      !other.weak_unanswered() && !target.failed()) {
    coverage.whole = false;  // other threads may have some outstanding
    if ((other.outstanding.load() & threads) == 0) return;
    if (!target.under_way_of(threads, local) &&
        (local ? target.finished >= target.last_fetch
               : pending_.cover_threads(epoch, target, threads, coverage))) {
      return;
    }
  }
  pending_.cover(epoch, target, local, coverage);
}

Outcome Epochs::flush(int target, bool local, Completion* completion, ThreadSet threads) {
  if (const Error error = check_rank(target); error != Error::none) return Outcome::failed(error);
  EpochPeer& other = peer(target);
  Coverage coverage;
  if (other.lock != nullptr) {
    cover(*other.lock, other.lock->one, local, threads, coverage);
  } else if (in_lock_all()) {
    if (other.touched == access_ || (!local && other.weak_unanswered())) {
      if (other.touched != access_) touch(*access_, target);
      cover(*access_, *other.target, local, threads, coverage);
    }
  } else if (other.notified == nullptr) {
    return Outcome::failed(refuse("no lock or lock_all epoch is open for this target"));
  }
  if (other.notified != nullptr) pending_.cover(notified_, *other.notified, local, coverage);
  return finish_flush(coverage, completion);
}

void Epochs::cover_notified(bool local, Coverage& coverage) {
  if (!local) peers_.recall_all(notified_);
  for (Target& target : notified_) pending_.cover(notified_, target, local, coverage);
}

Outcome Epochs::flush_notified(Completion* completion) {
  Coverage coverage;
  cover_notified(false, coverage);
  return finish_flush(coverage, completion);
}

Outcome Epochs::flush_all(bool local, Completion* completion, ThreadSet threads) {
  Coverage coverage;
  if (in_lock_all()) {
    if (!local) touch_weak(*access_);
    if (!local) peers_.recall_all(*access_);
    for (Target& target : *access_) cover(*access_, target, local, threads, coverage);
  } else if (open_locks_ != 0) {
    // Weak unlocks of targets without an open lock epoch are not covered: such a target answers
    // when it has granted the lock of the weak epoch, and the holder of that lock may wait for one
    // of ours.
    for_each_open_lock([&](Epoch& epoch) { cover(epoch, epoch.one, local, threads, coverage); });
  } else if (notified_.targets == nullptr) {
    return Outcome::failed(refuse("no lock or lock_all epoch is open"));
  }
  cover_notified(local, coverage);
  pending_.mark_all_flushed(coverage);
  return finish_flush(coverage, completion);
}

void Epochs::mark_flushed(ThreadSet threads) {
  if (in_lock_all()) {
    for (const Target& target : *access_) pending_.mark_flushed(threads, target.rank);
  }
  for_each_open_lock([&](Epoch& epoch) { pending_.mark_flushed(threads, epoch.one.rank); });
}

void Epochs::touch_weak(Epoch& epoch) {
  for (int rank = 0; pending_.weak_peers() != 0 && rank < ranks(); ++rank) {
    if (!peer(rank).weak_unanswered()) continue;
    if (!epoch.closed) {
      if (peer(rank).touched != &epoch) touch(epoch, rank);
    } else if (!epoch.has(rank)) {
      add_target(epoch, rank);
    }
  }
}

void Epochs::ask_for_weak() {
  for (int rank = 0; pending_.weak_peers() + weak_closed_ != 0 && rank < ranks(); ++rank) {
    if (!weak_unasked(rank)) continue;
    // An epoch that takes no lock and sends the question only.
    Epoch& epoch = create(EpochKind::lock);
    epoch.no_check = epoch.asks_for_weak = true;
    add_target(epoch, rank);
    open(epoch);
    close(epoch, nullptr);
  }
}

bool Epochs::weak_unasked(int rank) {
  const EpochPeer& other = peers_[rank];
  const bool left = other.weak_asked != other.weak_sent ||
                    weak_closed([&](const Epoch& epoch) { return epoch.has(rank); });
  return left && link(rank).remote();
}

}  // namespace oriel
