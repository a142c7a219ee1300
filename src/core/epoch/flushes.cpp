// SPDX-License-Identifier: BSD-3-Clause
// What a flush covers, and when it is satisfied (E9).
#include <atomic>
#include <utility>

#include "core/epoch/epochs.hpp"

namespace oriel {

void Epochs::satisfy_flushes(Target& target) {
  while (FlushWaiter* waiter = target.flushes) {
    if (target.under_way(waiter->recorded) || target.finished < waiter->finished ||
        peer(target.rank).weak_answered < waiter->weak) {
      return;
    }
    target.flushes = waiter->next;
    if (target.flushes == nullptr) target.last_flush = nullptr;
    FlushRequest& request = *waiter->request;
    request.error = first_of(request.error, std::exchange(target.error, Error::none));
    pools_.flush_waiters.release(*waiter);
    if (--request.remaining != 0) continue;
    Completion* completion = request.completion;
    const Error error = request.error;
    pools_.flush_requests.release(request);
    --flushes_;
    if (completion != nullptr) completion->complete(error);
  }
}

void Epochs::cover(Epoch& epoch, Target& target, bool local, Coverage& coverage) {
  if (epoch.active) advance(epoch, target);
  const EpochPeer& other = peer(target.rank);
  if (!local && other.inlined.load()) {
    coverage.error = first_of(coverage.error, peer_interface_.recall(target.rank));
  }
  coverage.whole &= target.finished == target.issued && !other.inlined.load();
  const std::uint64_t finished = local ? target.last_fetch : target.issued;
  // A question of another kind of epoch does not wait for locks, so its answer says nothing of
  // them.
  const std::uint64_t weak = local || !target.passive ? 0 : other.weak_sent;
  if (finished > target.asked || weak > other.weak_answered) peer_interface_.ask(epoch, target);
  if (!target.under_way(target.recorded) && target.finished >= finished &&
      weak <= other.weak_answered) {
    coverage.error = first_of(coverage.error, std::exchange(target.error, Error::none));
    return;
  }
  FlushRequest*& request = coverage.request;
  if (request == nullptr) {
    request = &pools_.flush_requests.acquire();
    ++flushes_;
  }
  FlushWaiter& waiter = pools_.flush_waiters.acquire();
  waiter.request = request;
  waiter.recorded = target.recorded;
  waiter.finished = finished;
  waiter.weak = weak;
  ++request->remaining;
  (target.last_flush != nullptr ? target.last_flush->next : target.flushes) = &waiter;
  target.last_flush = &waiter;
}

Outcome Epochs::covered(const Coverage& coverage, Completion* completion) {
  peer_interface_.push(true);
  if (FlushRequest* request = coverage.request) {
    request->completion = completion;
    request->error = first_of(request->error, coverage.error);
    return Outcome::posted();
  }
  if (coverage.error != Error::none) {
    return Outcome::failed(fail(coverage.error, "an operation that the flush covers failed"));
  }
  order_behind_flush();
  return Outcome::finished();
}

Outcome Epochs::flush(int target, bool local, Completion* completion) {
  if (!valid_rank(target)) {
    return Outcome::failed(fail(Error::rank, "the rank is not in the window's group"));
  }
  EpochPeer& other = peer(target);
  Coverage coverage;
  if (other.lock != nullptr) {
    cover(*other.lock, other.lock->one, local, coverage);
  } else if (access_ != nullptr && access_->kind == EpochKind::lock_all) {
    if (other.touched == access_ || (!local && other.weak_left())) {
      if (other.touched != access_) touch(*access_, target);
      cover(*access_, *other.target, local, coverage);
    }
  } else if (other.notified == nullptr) {
    return Outcome::failed(fail(Error::sync, "no lock or lock_all epoch is open for this target"));
  }
  if (other.notified != nullptr) cover(notified_, *other.notified, local, coverage);
  return covered(coverage, completion);
}

Outcome Epochs::flush_of(ThreadSet threads, int target, Completion* completion) {
  if (threads == all_threads || !valid_rank(target) || !passive(target)) {
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
  for (Target& target : notified_) cover(notified_, target, local, coverage);
}

Outcome Epochs::flush_notified(Completion* completion) {
  Coverage coverage;
  cover_notified(false, coverage);
  return covered(coverage, completion);
}

Outcome Epochs::flush_all(bool local, Completion* completion) {
  Coverage coverage;
  if (access_ != nullptr && access_->kind == EpochKind::lock_all) {
    if (!local) touch_weak(*access_);
    if (!local) peer_interface_.recall_all(*access_);
    for (Target& target : *access_) cover(*access_, target, local, coverage);
  } else if (open_locks_ != 0) {
    // Nothing of targets that are not locked: whoever holds one of those may wait for a lock of
    // ours.
    for (Epoch* epoch = first_; epoch != nullptr; epoch = epoch->next) {
      if (epoch->kind == EpochKind::lock && !epoch->closed) {
        cover(*epoch, epoch->one, local, coverage);
      }
    }
  } else if (notified_.targets == nullptr) {
    return Outcome::failed(fail(Error::sync, "no lock or lock_all epoch is open"));
  }
  cover_notified(local, coverage);
  if (coverage.request == nullptr && coverage.error == Error::none && coverage.whole &&
      weak_peers_ == 0) {
    // Release: who finds it set has not waited for the operations that are over.
    all_flushed_.store(true, std::memory_order_release);
  }
  return covered(coverage, completion);
}

}  // namespace oriel
