// SPDX-License-Identifier: BSD-3-Clause
// The life of an epoch: opening, activation, closing, completion.
#include <atomic>
#include <utility>

#include "core/lock_queue.hpp"
#include "core/process.hpp"
#include "core/window.hpp"

namespace oriel {
namespace {

// Epochs that the reorder keys let run beside one another at most. The keys are a permission, not a
// duty; the bound keeps a sweep short however many epochs are pending.
constexpr unsigned overlap_limit = 256;

bool is_fence(const Epoch* epoch) {
  return epoch != nullptr && epoch->kind == EpochKind::fence;
}

}  // namespace

void Window::add_work(std::uint64_t amount) {
  work_ += amount;
  process_.pending_ += amount;
}

void Window::remove_work(std::uint64_t amount) {
  work_ -= amount;
  process_.pending_ -= amount;
}

Epoch& Window::create(EpochKind kind) {
  Epoch& epoch = process_.epochs_.acquire();
  epoch.kind = kind;
  epoch.opened_at = ++events_;
  epoch.previous = last_;
  (last_ != nullptr ? last_->next : first_) = &epoch;
  last_ = &epoch;
  return epoch;
}

void Window::open(Epoch& epoch) {
  if (deferred_ == 0 && may_activate(epoch)) {
    activate(epoch);
  } else {
    ++deferred_;
    add_work();
  }
}

bool Window::may_activate(const Epoch& epoch) const {
  // Our one place in the target's lock queue is taken by an earlier epoch of ours.
  if (epoch.kind == EpochKind::lock &&
      peers_[static_cast<std::size_t>(epoch.one.rank)].locking != nullptr) {
    return false;
  }
  if (closed_ == 0) return true;
  unsigned overlaps = 0;
  for (const Epoch* earlier = first_; earlier != &epoch; earlier = earlier->next) {
    if (!earlier->closed || earlier->closed_at > epoch.opened_at) continue;
    if (epoch.settles && earlier->weak) return false;
    if (!may_overlap(earlier->kind, epoch.kind, reorder_) || ++overlaps > overlap_limit) {
      return false;
    }
  }
  return true;
}

void Window::activate(Epoch& epoch) {
  epoch.active = true;
  switch (epoch.kind) {
    case EpochKind::access:
      for (Target& target : epoch) target.id = ++peer(target.rank).accesses;
      break;
    case EpochKind::exposure:
      for (Target& target : epoch) {
        Peer& origin = peer(target.rank);
        target.id = ++origin.exposures;
        // NOCHECK saves a message, not a store: the epoch may have been deferred.
        if (!epoch.no_check || !remote(origin)) announce(origin, MessageKind::granted, target.id);
        if (held_ != 0) release_held(origin);
      }
      return;
    case EpochKind::fence:
      if (epoch.announce) announce_fence(epoch.call);
      open_fence_ = epoch.call;
      release_all_held();
      break;
    case EpochKind::lock_all:
      // A weak epoch may have been sent since it was closed.
      if (epoch.closed && !epoch.weak) touch_weak(epoch);
      break;
    case EpochKind::lock:
      break;
  }
  for (Target& target : epoch) advance(epoch, target);
  if (epoch.kind == EpochKind::lock && epoch.closed && epoch.untold != 0) send_errand(epoch);
}

Error Window::retire_unused_fence() {
  // A fence that no operation followed has opened nothing (MPI-4.1 section 12.5.1).
  if (!is_fence(access_)) return Error::none;
  for (const Target& target : *access_) {
    if (target.used) {
      return fail(Error::sync, "a fence epoch with operations in it is open; close it by a fence");
    }
  }
  Epoch& fence = *access_;
  access_ = nullptr;
  close(fence, nullptr);
  return Error::none;
}

Error Window::post(std::span<const int> origins, Assert assertion) {
  if (exposure_ != nullptr) {
    return fail(Error::sync, "an exposure epoch is open already; close it by MPI_Win_wait");
  }
  if (const Error error = retire_unused_fence(); error != Error::none) return error;
  Epoch& epoch = create(EpochKind::exposure);
  epoch.no_check = assertion.no_check;
  for (const int origin : origins) add_target(epoch, origin);
  exposure_ = &epoch;
  open(epoch);
  // Short operations do not wait for the grants, which may wait to travel with our own.
  if (!process_.swept_soon_) push();
  return Error::none;
}

Error Window::start(std::span<const int> targets, Assert assertion) {
  if (access_ != nullptr && !is_fence(access_)) {
    return fail(Error::sync, "an access epoch (start or lock_all) is open already");
  }
  if (open_locks_ != 0) return fail(Error::sync, "a lock epoch is open");
  if (const Error error = retire_unused_fence(); error != Error::none) return error;
  settle_weak();
  Epoch& epoch = create(EpochKind::access);
  epoch.no_check = assertion.no_check;
  for (const int target : targets) touch(epoch, target);
  access_ = &epoch;
  open(epoch);
  return Error::none;
}

bool Window::lock_lightly(bool exclusive, Peer& locked) {
  if (light_held_ || closed_ != 0 || deferred_ != 0 || access_ != nullptr || no_locks_ ||
      !atomics_.empty() || locked.lock != nullptr || locked.locking != nullptr ||
      locked.member.control == nullptr || !settled(locked) ||
      !lock_line(locked).try_acquire(rank_, exclusive)) {
    return false;
  }
  light_held_ = true;
  light_.exclusive = exclusive;
  light_.one.rank = static_cast<int>(&locked - peers_.data());
  locked.lock = &light_;
  if (locked.member.path == Path::mapped) locked.ready = &light_.one;
  ++open_locks_;
  return true;
}

Outcome Window::unlock_lightly(Peer& locked) {
  light_held_ = false;
  locked.lock = nullptr;
  locked.ready = nullptr;
  --open_locks_;
  give_back(locked, rank_, light_.exclusive);
  return Outcome::finished();
}

Error Window::lock(bool exclusive, int target, Assert assertion) {
  if (!valid_rank(target)) return fail(Error::rank, "the rank is not in the window's group");
  if (!assertion.no_check && lock_lightly(exclusive, peer(target))) return Error::none;
  if (no_locks_) {
    return fail(Error::sync, "the window was created with the info key no_locks");
  }
  Peer& locked = peer(target);
  if (locked.lock != nullptr) return fail(Error::sync, "this target is locked already");
  if (access_ != nullptr) {
    if (!is_fence(access_)) {
      return fail(Error::sync, "an access epoch (start or lock_all) is open already");
    }
    if (const Error error = retire_unused_fence(); error != Error::none) return error;
  }
  Epoch& epoch = create(EpochKind::lock);
  epoch.exclusive = exclusive;
  epoch.no_check = assertion.no_check;
  epoch.weak = assertion.weak_unlock;
  add_target(epoch, target);
  locked.lock = &epoch;
  ++open_locks_;
  open(epoch);
  return Error::none;
}

Error Window::lock_all(Assert assertion) {
  if (no_locks_) {
    return fail(Error::sync, "the window was created with the info key no_locks");
  }
  if (access_ != nullptr && !is_fence(access_)) {
    return fail(Error::sync, "an access epoch (start or lock_all) is open already");
  }
  if (open_locks_ != 0) return fail(Error::sync, "a lock epoch is open");
  if (const Error error = retire_unused_fence(); error != Error::none) return error;
  Epoch& epoch = create(EpochKind::lock_all);
  epoch.no_check = assertion.no_check;
  epoch.weak = assertion.weak_unlock;
  access_ = &epoch;
  open(epoch);
  return Error::none;
}

bool Window::may_renew_fence(Assert assertion) const {
  // Nothing else is under way on this window, nothing of the epoch is outstanding, and the call
  // both closes and opens.
  return is_fence(access_) && access_ == first_ && access_ == last_ && access_->active &&
         access_->attention == 0 && access_->error == Error::none && open_locks_ == 0 && !count_ &&
         !assertion.no_precede && !assertion.no_succeed;
}

Outcome Window::renew_fence(Completion* completion) {
  Epoch& epoch = *access_;
  epoch.call = epoch.closing_call = ++fence_calls_;
  epoch.opened_at = ++events_;
  for (Target& target : epoch) {
    target.used = false;
    target.issued = target.finished = target.last_fetch = 0;
  }
  if (renewed(epoch)) return Outcome::finished();
  epoch.completion = completion;
  add_work();
  return Outcome::posted();
}

bool Window::renewed(Epoch& epoch) {
  if (!fence_over(epoch)) return false;
  epoch.closing_call = 0;
  epoch.announced = false;
  epoch.awaited = 0;
  return true;
}

Outcome Window::fence(Assert assertion, bool barrier, Completion* completion) {
  if (barrier && may_renew_fence(assertion)) [[likely]]
    return renew_fence(completion);
  if (access_ != nullptr && !is_fence(access_)) {
    return Outcome::failed(fail(Error::sync, "an access epoch (start or lock_all) is open"));
  }
  if (open_locks_ != 0) return Outcome::failed(fail(Error::sync, "a lock epoch is open"));
  if (exposure_ != nullptr) {
    return Outcome::failed(fail(Error::sync, "an exposure epoch (post) is open"));
  }
  settle_weak();
  // Counting takes all ranks, so that it cannot depend on which form of the call each of them uses.
  const bool closing = (fence_possible_ || barrier || count_) && !assertion.no_precede;
  if (!closing && access_ != nullptr) {
    for (const Target& target : *access_) {
      if (target.used) {
        return Outcome::failed(
            fail(Error::sync, "MPI_MODE_NOPRECEDE was given, but operations precede this fence"));
      }
    }
  }
  const std::uint64_t call = ++fence_calls_;
  Epoch* ending = access_;
  access_ = nullptr;
  Outcome outcome;
  if (closing) {
    // The epoch may have been retired when another kind was opened; the barrier is still owed.
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
  if (fence_possible_) {
    Epoch& next = create(EpochKind::fence);
    next.call = call;
    next.announce = !closing;
    access_ = &next;
    open(next);
  }
  return outcome;
}

void Window::announce_fence(std::uint64_t call) {
  for (Peer& other : peers_) {
    if (!remote(other)) announce(other, MessageKind::fence, call);
  }
}

Outcome Window::complete(Completion* completion) {
  if (access_ == nullptr || access_->kind != EpochKind::access) {
    return Outcome::failed(fail(Error::sync, "no access epoch is open; open one by MPI_Win_start"));
  }
  Epoch& epoch = *access_;
  access_ = nullptr;
  return close(epoch, completion);
}

Outcome Window::wait(Completion* completion) {
  if (exposure_ == nullptr) {
    return Outcome::failed(
        fail(Error::sync, "no exposure epoch is open; open one by MPI_Win_post"));
  }
  Epoch& epoch = *exposure_;
  exposure_ = nullptr;
  return close(epoch, completion);
}

Error Window::test(bool& flag) {
  if (exposure_ == nullptr) {
    return fail(Error::sync, "no exposure epoch is open; open one by MPI_Win_post");
  }
  Epoch& epoch = *exposure_;
  flag = false;
  if (!epoch.active) return Error::none;
  for (Target& target : epoch) advance(epoch, target);
  if (epoch.untold != 0) return Error::none;
  exposure_ = nullptr;
  close(epoch, nullptr);
  flag = true;
  return Error::none;
}

Outcome Window::unlock(int target, Completion* completion) {
  if (!valid_rank(target)) {
    return Outcome::failed(fail(Error::rank, "the rank is not in the window's group"));
  }
  Peer& locked = peer(target);
  if (locked.lock == nullptr) {
    return Outcome::failed(fail(Error::sync, "this target is not locked; lock it by MPI_Win_lock"));
  }
  Epoch& epoch = *locked.lock;
  if (&epoch == &light_) return unlock_lightly(locked);
  locked.lock = nullptr;
  --open_locks_;
  return close(epoch, completion);
}

Outcome Window::unlock_all(Completion* completion) {
  if (access_ == nullptr || access_->kind != EpochKind::lock_all) {
    return Outcome::failed(
        fail(Error::sync, "no lock_all epoch is open; open one by MPI_Win_lock_all"));
  }
  Epoch& epoch = *access_;
  if (!epoch.weak) touch_weak(epoch);
  access_ = nullptr;
  return close(epoch, completion);
}

Outcome Window::close(Epoch& epoch, Completion* completion) {
  epoch.closed = true;
  epoch.closed_at = ++events_;
  epoch.completion = completion;
  ++closed_;
  if (epoch.weak) ++weak_closed_;
  add_work();
  if (epoch.kind != EpochKind::exposure) {
    for (Target& target : epoch) {
      Peer& other = peer(target.rank);
      other.ready = nullptr;
      if (other.touched == &epoch) other.touched = nullptr;
    }
  }
  if (epoch.active) {
    for (Target& target : epoch) advance(epoch, target);
    if (epoch.kind == EpochKind::lock && epoch.untold != 0) send_errand(epoch);
    if (completed(epoch)) {
      const Error error = epoch.error;
      epoch.completion = nullptr;
      // Nobody waits for what a weak unlock sends: it may wait for more to travel with.
      if (!epoch.weak || !process_.swept_soon_) push();
      if (over(epoch)) retire(epoch);
      if (error != Error::none) fail(error, "an operation of the epoch failed");
      return {error, true};
    }
  }
  push();
  return Outcome::posted();
}

bool Window::fence_over(Epoch& epoch) {
  if (epoch.closing_call == 0) return true;
  if (!epoch.announced) {
    epoch.announced = true;
    announce_fence(epoch.closing_call);
  }
  while (epoch.awaited < ranks() &&
         peer(epoch.awaited).in->fence.load(std::memory_order_acquire) >= epoch.closing_call) {
    ++epoch.awaited;
  }
  return epoch.awaited == ranks();
}

bool Window::begin_count(Epoch& epoch) {
  for (const Target& target : epoch) {
    // Others are told by our taking part in the count: it says that we are done.
    if (!marked(target) && !target.told) return false;
  }
  for (const Target& target : epoch) {
    if (marked(target)) count_->add(target.rank);
  }
  count_->enter();
  epoch.announced = true;
  return true;
}

bool Window::count_over(Epoch& epoch) {
  if (!epoch.announced && !begin_count(epoch)) return false;
  send_count();
  if (!count_->over() || epoch.untold != 0 || epoch.attention != 0) return false;
  count_->leave();
  last_fence_ = epoch.closing_call;
  announce_fence(epoch.closing_call);
  // Lock requests of origins that have ended this fence earlier.
  release_all_held();
  return true;
}

bool Window::completed(Epoch& epoch) {
  if (!epoch.closed) return false;
  const bool fence = epoch.kind == EpochKind::fence && epoch.closing_call != 0;
  if (fence && count_) return epoch.completed = count_over(epoch);
  if (epoch.untold != 0 || epoch.attention != 0) return false;
  return epoch.completed = !fence || fence_over(epoch);
}

bool Window::over(Epoch& epoch) {
  if (!epoch.completed) return false;
  // With NOCHECK the target says nothing; it keeps the order of what comes to it by itself.
  if (epoch.kind != EpochKind::access || epoch.no_check || !count_) return true;
  for (Target& target : epoch) {
    if (remote(peer(target.rank)) && target.issued != 0 && !open_for(epoch, target)) return false;
  }
  return true;
}

void Window::retire(Epoch& epoch) {
  (epoch.previous != nullptr ? epoch.previous->next : first_) = epoch.next;
  (epoch.next != nullptr ? epoch.next->previous : last_) = epoch.previous;
  --closed_;
  if (epoch.weak) --weak_closed_;
  // To the epoch that waits for the answer.
  if (epoch.settles && epoch.next != nullptr) epoch.next->note(epoch.error);
  remove_work();
  for (Target* target = epoch.targets; target != nullptr;) {
    Target* next = target->next;
    if (target != &epoch.one) process_.targets_.release(*target);
    target = next;
  }
  process_.epochs_.release(epoch);
}

bool Window::progress(Epoch& epoch) {
  if (epoch.closing_call != 0 && !epoch.closed) {
    if (!renewed(epoch)) return false;
    remove_work();
    epoch.completion->complete(Error::none);
    return true;
  }
  bool moved = false;
  if (epoch.closed || epoch.attention != 0) {
    for (Target& target : epoch) moved |= advance(epoch, target);
  }
  if (!epoch.completed && completed(epoch)) {
    moved = true;
    Completion* completion = std::exchange(epoch.completion, nullptr);
    const Error error = epoch.error;
    if (over(epoch)) retire(epoch);
    if (completion != nullptr) completion->complete(error);
  } else if (over(epoch)) {
    moved = true;
    retire(epoch);
  }
  return moved;
}

bool Window::sweep() {
  if (work_ == 0) return false;
  bool moved = false;
  for (std::size_t i = 0; i < standing_.size();) {
    const int origin = standing_[i];
    if (mine_->nodes()[origin].state.load(std::memory_order_acquire) == LockNode::waiting) {
      ++i;
      continue;
    }
    standing_[i] = standing_.back();
    standing_.pop_back();
    remove_work();
    Peer& granted = peer(origin);
    granted.standing = false;
    announce(granted, MessageKind::lock_granted, ++granted.lock_grants);
    release_held(granted);
    moved = true;
  }
  for (Epoch* epoch = first_; epoch != nullptr;) {
    if (!epoch->active) {
      if (!may_activate(*epoch)) break;
      --deferred_;
      remove_work();
      activate(*epoch);
      moved = true;
    }
    Epoch* next = epoch->next;
    moved |= progress(*epoch);
    epoch = next;
  }
  return moved;
}

bool Window::open_epoch() const {
  if (exposure_ != nullptr || open_locks_ != 0) return true;
  if (access_ == nullptr) return false;
  if (access_->kind != EpochKind::fence) return true;
  for (const Target& target : *access_) {
    if (target.used) return true;
  }
  return false;
}

}  // namespace oriel
