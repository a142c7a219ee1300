// SPDX-License-Identifier: BSD-3-Clause
// What a flush covers, and when it is satisfied (E9).
#include "core/epoch/epochs.hpp"

namespace oriel {

Outcome Epochs::finish_flush(const Coverage& coverage, Completion* completion) {
  const Outcome outcome = pending_.finish_flush(coverage, completion);
  if (!outcome.ok()) fail(outcome.error, "an operation that the flush covers failed");
  return outcome;
}

Outcome Epochs::flush(int target, bool local, Completion* completion) {
  if (!peers_.valid(target)) {
    return Outcome::failed(fail(Error::rank, "the rank is not in the window's group"));
  }
  EpochPeer& other = peer(target);
  Coverage coverage;
  if (other.lock != nullptr) {
    pending_.cover(*other.lock, other.lock->one, local, coverage);
  } else if (access_ != nullptr && access_->kind == EpochKind::lock_all) {
    if (other.touched == access_ || (!local && other.weak_left())) {
      if (other.touched != access_) touch(*access_, target);
      pending_.cover(*access_, *other.target, local, coverage);
    }
  } else if (other.notified == nullptr) {
    return Outcome::failed(fail(Error::sync, "no lock or lock_all epoch is open for this target"));
  }
  if (other.notified != nullptr) pending_.cover(notified_, *other.notified, local, coverage);
  return finish_flush(coverage, completion);
}

Outcome Epochs::flush_of(ThreadSet threads, int target, Completion* completion) {
  if (threads == all_threads || !peers_.valid(target) || !passive(target)) {
    return flush(target, false, completion);
  }
  EpochPeer& other = peer(target);
  // The notified epoch's operations and weak unlocks are not told apart.
  if (other.notified != nullptr || other.inlined.load() || other.weak_left()) {
    return flush(target, false, completion);
  }
  if ((other.outstanding.load() & threads) == 0) {
    order_behind_flush();
    return Outcome::finished();
  }
  Epoch& epoch = other.lock != nullptr ? *other.lock : *access_;
  Target* asked = other.lock != nullptr ? &epoch.one : other.target;
  if ((other.lock == nullptr && other.touched != access_) || asked->under_way_of(threads) ||
      asked->error != Error::none || !peer_interface_.ask_alone(epoch, *asked, completion)) {
    return flush(target, false, completion);
  }
  peer_interface_.push(true);
  return Outcome::posted();
}

void Epochs::cover_notified(bool local, Coverage& coverage) {
  if (!local) peer_interface_.recall_all(notified_);
  for (Target& target : notified_) pending_.cover(notified_, target, local, coverage);
}

Outcome Epochs::flush_notified(Completion* completion) {
  Coverage coverage;
  cover_notified(false, coverage);
  return finish_flush(coverage, completion);
}

Outcome Epochs::flush_all(bool local, Completion* completion) {
  Coverage coverage;
  if (access_ != nullptr && access_->kind == EpochKind::lock_all) {
    if (!local) touch_weak(*access_);
    if (!local) peer_interface_.recall_all(*access_);
    for (Target& target : *access_) pending_.cover(*access_, target, local, coverage);
  } else if (open_locks_ != 0) {
    // Nothing of targets that are not locked: whoever holds one of those may wait for a lock of
    // ours.
    for (Epoch* epoch = all_.first(); epoch != nullptr; epoch = EpochsByOpening::after(*epoch)) {
      if (epoch->kind == EpochKind::lock && !epoch->closed) {
        pending_.cover(*epoch, epoch->one, local, coverage);
      }
    }
  } else if (notified_.targets == nullptr) {
    return Outcome::failed(fail(Error::sync, "no lock or lock_all epoch is open"));
  }
  cover_notified(local, coverage);
  pending_.note_all_flushed(coverage);
  return finish_flush(coverage, completion);
}

}  // namespace oriel
