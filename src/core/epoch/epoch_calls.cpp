// SPDX-License-Identifier: BSD-3-Clause
// The calls that open and close epochs (G5, E1 to E6).
#include <atomic>
#include <utility>

#include "core/epoch/epochs.hpp"

namespace oriel {
namespace {

bool is_fence(const Epoch* epoch) {
  return epoch != nullptr && epoch->kind == EpochKind::fence;
}

}  // namespace

Error Epochs::retire_unused_fence() {
  // A fence without operations after it has opened no epoch (MPI-4.1 section 12.5.1).
  if (!is_fence(access_)) return Error::none;
  if (access_->used()) {
    return refuse("a fence epoch with operations in it is open; close it by a fence");
  }
  close(*std::exchange(access_, nullptr), nullptr);
  return Error::none;
}

/// Called before an access epoch is opened. Fails if an access epoch is open, except a fence epoch
/// without operations, which it closes.
Error Epochs::end_access_before() {
  if (access_ == nullptr || is_fence(access_)) return retire_unused_fence();
  return refuse("an access epoch (start or lock_all) is open already");
}

Error Epochs::post(std::span<const int> origins, Assert assertion) {
  if (exposure_ != nullptr) {
    return refuse("an exposure epoch is open already; close it by MPI_Win_wait");
  }
  if (const Error error = retire_unused_fence(); error != Error::none) return error;
  Epoch& epoch = create(EpochKind::exposure);
  epoch.no_check = assertion.no_check;
  for (const int origin : origins) add_target(epoch, origin);
  exposure_ = &epoch;
  open(epoch);
  // Short operations do not wait for grants, so these may wait to be sent with messages of our own.
  peers_.push(false);
  return Error::none;
}

Error Epochs::start(std::span<const int> targets, Assert assertion) {
  if (const Error error = end_access_before(); error != Error::none) return error;
  if (open_locks_ != 0) return refuse("a lock epoch is open");
  ask_for_weak();
  Epoch& epoch = create(EpochKind::access);
  epoch.no_check = assertion.no_check;
  for (const int target : targets) touch(epoch, target);
  access_ = &epoch;
  open(epoch);
  return Error::none;
}

Error Epochs::open_lock(bool exclusive, int target, Assert assertion, ThreadSet thread) {
  if (const Error error = check_rank(target); error != Error::none) return error;
  if (no_locks_) {
    return refuse("the window's info key no_locks promises that there are none");
  }
  EpochPeer& locked = peer(target);
  if (locked.lock != nullptr) return refuse("this target is locked already");
  if (const Error error = end_access_before(); error != Error::none) return error;
  Epoch& epoch = create(EpochKind::lock);
  epoch.exclusive = exclusive;
  epoch.no_check = assertion.no_check;
  epoch.nonblocking = assertion.nonblocking;
  epoch.weak = assertion.weak_unlock;
  add_target(epoch, target);
  locked.lock = &epoch;
  ++open_locks_;
  lock_order_.assign_position(epoch, *this, thread);
  // Also for a deferred epoch: later locks are requested after its own.
  if (!epoch.no_check) lock_order_.add_due_lock(epoch, epoch.one);
  open(epoch);
  return Error::none;
}

Error Epochs::open_lock_all(Assert assertion, ThreadSet thread) {
  if (no_locks_) {
    return refuse("the window's info key no_locks promises that there are none");
  }
  if (const Error error = end_access_before(); error != Error::none) return error;
  if (open_locks_ != 0) return refuse("a lock epoch is open");
  Epoch& epoch = create(EpochKind::lock_all);
  epoch.no_check = assertion.no_check;
  epoch.nonblocking = assertion.nonblocking;
  epoch.weak = assertion.weak_unlock;
  epoch.awaited = shared_ ? 0 : rank_;
  access_ = &epoch;
  lock_order_.assign_position(epoch, *this, thread);
  open(epoch);
  return Error::none;
}

void Epochs::set_shared() {
  if (shared_) return;
  shared_ = true;
  if (!in_lock_all()) return;
  if (access_ == &hot_lock_all_) list_hot_lock_all();
  access_->awaited = 0;
  if (access_->active) hold_loaded(*access_);
}

/// True if the program may load and store the rank's memory without a call that could request its
/// lock.
bool Epochs::loaded(int rank) {
  return (shared_ || rank == rank_) && link(rank).loadable(rank);
}

/// Acquires the locks of all loaded() ranks for a lock_all epoch; true if all are held. It acquires
/// them in the order of ranks, one at a time. A program that holds several single locks, taken in
/// that order, and waits for one of them, thus waits for no epoch that waits for another one of its
/// locks.
bool Epochs::hold_loaded(Epoch& epoch) {
  if (epoch.no_check) return true;
  for (const int end = shared_ ? ranks() : rank_ + 1; epoch.awaited < end; ++epoch.awaited) {
    if (!loaded(epoch.awaited)) continue;
    EpochPeer& other = peer(epoch.awaited);
    Target& target = other.touched == &epoch ? *other.target : touch(epoch, epoch.awaited);
    advance(epoch, target);
    if (target.access != Target::Access::granted) return false;
  }
  return true;
}

bool Epochs::try_hold_loaded(int rank) {
  if (peer(rank).lock != nullptr) return try_hold_lock(rank);
  return !in_lock_all() || try_hold_all();
}

bool Epochs::may_renew_fence(Assert assertion) const {
  // Nothing else is pending on this window, the epoch has nothing outstanding, and the call both
  // closes and opens.
  return is_fence(access_) && access_ == all_.first() && access_ == all_.last() &&
         access_->active && access_->attention == 0 && access_->unreported() == Error::none &&
         open_locks_ == 0 && fence_.renews() && !assertion.no_precede && !assertion.no_succeed;
}

Outcome Epochs::renew_fence(Completion* completion) {
  Epoch& epoch = *access_;
  epoch.call = epoch.closing_call = ++fence_calls_;
  events_.step(EventKind::epoch_renewing, epoch);
  epoch.opened_at = ++steps_;
  for (Target& target : epoch) {
    target.used.store(false);
    peer(target.rank).short_moves.store(0);
    target.issued = target.finished = target.last_fetch = 0;
  }
  if (try_renew(epoch)) return Outcome::finished();
  epoch.completion = completion;
  work_.add();
  return Outcome::posted();
}

bool Epochs::try_renew(Epoch& epoch) {
  if (!fence_.end(epoch)) return false;
  epoch.closing_call = 0;
  epoch.announced = false;
  epoch.awaited = 0;
  events_.step(EventKind::epoch_renewed, epoch);
  return true;
}

Outcome Epochs::fence(Assert assertion, bool barrier, Completion* completion) {
  if (is_fence(access_) && access_->active) peers_.recall_all(*access_);
  if (barrier && may_renew_fence(assertion)) [[likely]]
    return renew_fence(completion);
  if (access_ != nullptr && !is_fence(access_)) {
    return Outcome::failed(refuse("an access epoch (start or lock_all) is open"));
  }
  if (open_locks_ != 0) return Outcome::failed(refuse("a lock epoch is open"));
  if (exposure_ != nullptr) {
    return Outcome::failed(refuse("an exposure epoch (post) is open"));
  }
  ask_for_weak();
  const bool closing = (fence_possible_ || barrier || fence_.counted()) && !assertion.no_precede;
  if (!closing && access_ != nullptr && access_->used()) {
    return Outcome::failed(
        refuse("MPI_MODE_NOPRECEDE was given, but operations precede this fence"));
  }
  const std::uint64_t call = ++fence_calls_;
  Epoch* ending = std::exchange(access_, nullptr);
  Outcome outcome;
  if (closing) {
    // The epoch may have been retired when another kind was opened; the barrier must still take
    // place.
    if (ending == nullptr) {
      ending = &create(EpochKind::fence);
      open(*ending);
    }
    ending->closing_call = call;
    outcome = close(*ending, completion);
  } else if (ending != nullptr) {
    close(*ending, nullptr);
  }
  fence_possible_ = !assertion.no_succeed;
  if (fence_possible_ || !closing) {
    Epoch& next = create(EpochKind::fence);
    next.call = call;
    next.announce = !closing;
    if (fence_possible_) access_ = &next;
    open(next);
    // Not an epoch of the program: other ranks may close one by this call, and wait for us.
    if (!fence_possible_) close(next, nullptr);
  }
  return outcome;
}

Outcome Epochs::complete(Completion* completion) {
  if (access_ == nullptr || access_->kind != EpochKind::access) {
    return Outcome::failed(refuse("no access epoch is open; open one by MPI_Win_start"));
  }
  return close(*std::exchange(access_, nullptr), completion);
}

Outcome Epochs::wait(Completion* completion) {
  if (exposure_ == nullptr) {
    return Outcome::failed(refuse("no exposure epoch is open; open one by MPI_Win_post"));
  }
  return close(*std::exchange(exposure_, nullptr), completion);
}

Error Epochs::test(bool& flag) {
  if (exposure_ == nullptr) {
    return refuse("no exposure epoch is open; open one by MPI_Win_post");
  }
  flag = false;
  if (!exposure_->active) return Error::none;
  for (Target& target : *exposure_) advance(*exposure_, target);
  flag = exposure_->unsignaled == 0;
  if (flag) close(*std::exchange(exposure_, nullptr), nullptr);
  return Error::none;
}

Outcome Epochs::close_lock(int target, Completion* completion) {
  if (const Error error = check_rank(target); error != Error::none) return Outcome::failed(error);
  EpochPeer& locked = peer(target);
  if (locked.lock == nullptr) {
    return Outcome::failed(refuse("this target is not locked; lock it by MPI_Win_lock"));
  }
  --open_locks_;
  return close(*std::exchange(locked.lock, nullptr), completion);
}

Outcome Epochs::close_lock_all(Completion* completion) {
  if (!in_lock_all()) {
    return Outcome::failed(refuse("no lock_all epoch is open; open one by MPI_Win_lock_all"));
  }
  if (access_ == &hot_lock_all_) list_hot_lock_all();
  if (!access_->weak) touch_weak(*access_);
  return close(*std::exchange(access_, nullptr), completion);
}

Error Epochs::sync() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return Error::none;
}

}  // namespace oriel
