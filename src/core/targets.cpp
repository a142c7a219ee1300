// SPDX-License-Identifier: BSD-3-Clause
// One target of an epoch: from asking for access to telling it that we are through.
#include <atomic>

#include "core/lock_queue.hpp"
#include "core/process.hpp"
#include "core/window.hpp"

namespace oriel {

Target& Window::add_target(Epoch& epoch, int rank) {
  Target* target = &epoch.one;
  if (epoch.targets == nullptr) {
    target->reset();
    epoch.targets = target;
  } else {
    target = &process_.targets_.acquire();
    epoch.last_target->next = target;
  }
  epoch.last_target = target;
  target->rank = rank;
  target->passive = epoch.passive();
  ++epoch.untold;
  return *target;
}

Target& Window::touch(Epoch& epoch, int rank) {
  Peer& touched = peer(rank);
  touched.touched = &epoch;
  touched.target = &add_target(epoch, rank);
  return *touched.target;
}

bool Window::advance(Epoch& epoch, Target& target) {
  if (target.told) return false;
  Peer& other = peer(target.rank);
  if (epoch.kind == EpochKind::exposure) {
    // Acquire pairs with the origin's release in announce(): its stores into our window are seen.
    if (!DoneWord(other.in->done.load(std::memory_order_acquire)).covers(target.id)) return false;
    target.told = true;
    --epoch.untold;
    return true;
  }
  if (remote(other)) return advance_remote(epoch, target);
  bool moved = false;
  // Only start's targets are told of an epoch that held nothing for them; nothing to wait for then.
  const bool empty =
      epoch.closed && target.issued == 0 && target.atomics == 0 && epoch.kind == EpochKind::access;
  if (target.access != Target::Access::granted && !empty) {
    if (!obtain(epoch, target)) return false;
    moved = true;
  }
  while (RecordedOperation* recorded = target.waiting.head) {
    if (recorded->atomic && !transmit_atomic(*recorded)) break;
    target.waiting.remove(*recorded);
    moved = true;
    if (recorded->atomic) {
      target.moving.append(*recorded);
    } else {
      finish(*recorded, perform(recorded->operation, other));
    }
  }
  if (moved) satisfy_flushes(target);
  if (epoch.closed && target.finished == target.issued && target.atomics == 0) {
    moved |= tell(epoch, target);
  }
  return moved;
}

bool Window::exposed(const Target& target) {
  return peer(target.rank).in->granted.load(std::memory_order_acquire) >= target.id;
}

bool Window::obtain(Epoch& epoch, Target& target) {
  Peer& other = peer(target.rank);
  switch (epoch.kind) {
    case EpochKind::access:
      if (!exposed(target)) return false;
      break;
    case EpochKind::fence:
      if (other.in->fence.load(std::memory_order_acquire) < epoch.call) return false;
      break;
    case EpochKind::lock:
    case EpochKind::lock_all:
      if (target.access == Target::Access::idle) request_lock(epoch, target, other);
      if (target.access == Target::Access::requested) {
        if (!lock_granted(target, other)) return false;
        --epoch.attention;
        remove_work();
      }
      if (target.access == Target::Access::idle) return false;
      break;
    case EpochKind::exposure:
      return false;
  }
  target.access = Target::Access::granted;
  // Only the open epoch takes new operations, and only memory in our address space takes them
  // without the general path.
  if (!epoch.closed && other.member.base != nullptr && other.member.path == Path::mapped) {
    other.ready = &target;
  }
  return true;
}

bool Window::lock_granted(Target& target, Peer& other) {
  const std::uint32_t state =
      other.member.control->nodes()[rank_].state.load(std::memory_order_acquire);
  if (state == LockNode::carried_out && !target.waiting.empty()) {
    // The one recorded operation travelled as an errand; the lock has been given back with it.
    RecordedOperation& recorded = *target.waiting.head;
    target.waiting = {};
    target.carried_out = true;
    finish(recorded, Error::none);
  }
  return state != LockNode::waiting;
}

void Window::send_errand(Epoch& epoch) {
  Target& target = epoch.one;
  Peer& other = peer(target.rank);
  if (target.access != Target::Access::requested || target.issued != 1 || target.atomics != 0 ||
      remote(other) || other.member.path != Path::mapped || other.member.private_memory) {
    return;
  }
  Errand errand;
  if (make_errand(target.waiting.head->operation, other, errand)) {
    lock_line(other).leave(rank_, errand);
  }
}

void Window::request_lock(Epoch& epoch, Target& target, Peer& other) {
  if (!settled(other)) return;
  if (epoch.no_check) {
    target.access = Target::Access::granted;
    return;
  }
  if (other.locking != nullptr)
    return;  // an earlier epoch of ours still has our place in the queue
  other.locking = &epoch;
  if (lock_line(other).acquire(rank_, epoch.exclusive, epoch.kind == EpochKind::lock_all)) {
    target.access = Target::Access::granted;
    return;
  }
  target.access = Target::Access::requested;
  ++epoch.attention;
  add_work();
}

bool Window::lock_held(int target) {
  Peer& locked = peer(target);
  Epoch* epoch = locked.lock;
  if (epoch == nullptr || !epoch->active) return false;
  advance(*epoch, epoch->one);
  return epoch->one.access == Target::Access::granted;
}

bool Window::tell(Epoch& epoch, Target& target) {
  Peer& other = peer(target.rank);
  switch (epoch.kind) {
    case EpochKind::access:
      if (!other.done.add(target.id)) return false;
      announce(other, MessageKind::done, other.done.word());
      break;
    case EpochKind::lock:
    case EpochKind::lock_all:
      if (!epoch.no_check) {
        other.locking = nullptr;
        if (!target.carried_out) give_back(other, rank_, epoch.exclusive);
      }
      break;
    case EpochKind::fence:
    case EpochKind::exposure:
      break;
  }
  target.told = true;
  --epoch.untold;
  return true;
}

void Window::give_back(Peer& locked, int origin, bool exclusive) {
  if (lock_line(locked).release(origin, exclusive)) return;
  told_.clear();
  lock_line(locked).hand_on(told_, [&](const Errand& errand) { run_errand(errand, locked); });
  for (const int rank : told_) {
    // A remote origin is represented in the queue by the target's engine.
    Peer& next = peer(rank);
    wake(remote(next) ? locked : next);
  }
}

Outcome Window::issue(const Operation& operation) {
  if (!valid_rank(operation.target)) {
    return Outcome::failed(fail(Error::rank, "the rank is not in the window's group"));
  }
  Peer& other = peer(operation.target);
  Epoch* epoch = other.lock != nullptr ? other.lock : access_;
  if (epoch == nullptr) {
    return Outcome::failed(
        fail(Error::sync, "no epoch is open; open one by a fence, start, lock or lock_all"));
  }
  Target* target = nullptr;
  if (epoch->kind == EpochKind::lock) {
    target = &epoch->one;
  } else if (other.touched == epoch) {
    target = other.target;
  } else if (epoch->kind == EpochKind::access) {
    return Outcome::failed(fail(Error::sync, "the target is not in the group given to start"));
  }
  if (const Error error = check(operation, other); error != Error::none) {
    return Outcome::failed(error);
  }
  if (target == nullptr) target = &touch(*epoch, operation.target);
  target->used = true;
  if (atomics_.has(operation)) return issue_atomic(operation, *epoch, *target);
  if (remote(other)) return issue_remote(operation, *epoch, *target);
  if (epoch->active && target->access != Target::Access::granted) advance(*epoch, *target);
  if (epoch->active && target->access == Target::Access::granted) {
    const Error error = perform(operation, other);
    if (error != Error::none) return Outcome::failed(error);
    ++target->issued;
    ++target->finished;
    return Outcome::finished();
  }
  ++target->issued;
  if (fetches(operation.kind)) target->last_fetch = target->issued;
  append(*target, record(operation, *epoch, *target));
  return operation.completion != nullptr ? Outcome::posted() : Outcome::finished();
}

RecordedOperation& Window::record(const Operation& operation, Epoch& epoch, Target& target) {
  RecordedOperation& recorded = process_.operations_.acquire();
  recorded.operation = operation;
  recorded.window = this;
  recorded.epoch = &epoch;
  recorded.target = &target;
  recorded.number = target.issued;
  ++epoch.attention;
  add_work();
  return recorded;
}

void Window::append(Target& target, RecordedOperation& recorded) {
  recorded.age = ++target.recorded;
  target.waiting.append(recorded);
}

void Window::finish(RecordedOperation& recorded, Error error) {
  ++recorded.target->finished;
  conclude(recorded, error);
}

void Window::conclude(RecordedOperation& recorded, Error error) {
  Epoch& epoch = *recorded.epoch;
  Completion* completion = recorded.operation.completion;
  epoch.note(error);
  --epoch.attention;
  remove_work();
  process_.operations_.release(recorded);
  if (completion != nullptr) completion->complete(error);
}

void Window::satisfy_flushes(Target& target) {
  while (FlushWaiter* waiter = target.flushes) {
    if (target.under_way(waiter->recorded) || target.finished < waiter->finished ||
        peer(target.rank).weak_answered < waiter->weak) {
      return;
    }
    target.flushes = waiter->next;
    if (target.flushes == nullptr) target.last_flush = nullptr;
    FlushRequest& request = *waiter->request;
    process_.flush_waiters_.release(*waiter);
    if (--request.remaining != 0) continue;
    Completion* completion = request.completion;
    process_.flush_requests_.release(request);
    --flushes_;
    if (completion != nullptr) completion->complete(Error::none);
  }
}

void Window::cover(Epoch& epoch, Target& target, bool local, FlushRequest*& request) {
  if (epoch.active) advance(epoch, target);
  const Peer& other = peer(target.rank);
  const std::uint64_t finished = local ? target.last_fetch : target.issued;
  const std::uint64_t weak = local ? 0 : other.weak_sent;
  if (remote(other) && (finished > target.asked || weak > other.weak_answered)) ask(epoch, target);
  if (!target.under_way(target.recorded) && target.finished >= finished &&
      weak <= other.weak_answered) {
    return;
  }
  if (request == nullptr) {
    request = &process_.flush_requests_.acquire();
    ++flushes_;
  }
  FlushWaiter& waiter = process_.flush_waiters_.acquire();
  waiter.request = request;
  waiter.recorded = target.recorded;
  waiter.finished = finished;
  waiter.weak = weak;
  ++request->remaining;
  (target.last_flush != nullptr ? target.last_flush->next : target.flushes) = &waiter;
  target.last_flush = &waiter;
}

void Window::touch_weak(Epoch& epoch) {
  for (int rank = 0; weak_peers_ != 0 && rank < ranks(); ++rank) {
    if (!weak_left(peer(rank))) continue;
    if (!epoch.closed) {
      if (peer(rank).touched != &epoch) touch(epoch, rank);
    } else if (!epoch.has(rank)) {
      add_target(epoch, rank);
    }
  }
}

void Window::settle_weak() {
  for (int rank = 0; weak_peers_ + weak_closed_ != 0 && rank < ranks(); ++rank) {
    if (!weak_unasked(rank)) continue;
    // An epoch that takes no lock and has nothing but the question.
    Epoch& epoch = create(EpochKind::lock);
    epoch.no_check = epoch.settles = true;
    add_target(epoch, rank);
    open(epoch);
    close(epoch, nullptr);
  }
}

bool Window::weak_unasked(int rank) const {
  const Peer& other = peers_[static_cast<std::size_t>(rank)];
  if (!remote(other)) return false;
  if (other.weak_asked != other.weak_sent) return true;
  for (const Epoch* epoch = first_; weak_closed_ != 0 && epoch != nullptr; epoch = epoch->next) {
    if (epoch->weak && epoch->closed && epoch->has(rank)) return true;
  }
  return false;
}

Outcome Window::covered(FlushRequest* request, Completion* completion) {
  push();
  if (request != nullptr) {
    request->completion = completion;
    return Outcome::posted();
  }
  // What the next release of this process publishes must include the stores made so far.
  std::atomic_thread_fence(std::memory_order_release);
  return Outcome::finished();
}

Outcome Window::flush(int target, bool local, Completion* completion) {
  if (!valid_rank(target)) {
    return Outcome::failed(fail(Error::rank, "the rank is not in the window's group"));
  }
  Peer& other = peer(target);
  FlushRequest* request = nullptr;
  if (other.lock != nullptr) {
    cover(*other.lock, other.lock->one, local, request);
  } else if (access_ == nullptr || access_->kind != EpochKind::lock_all) {
    return Outcome::failed(fail(Error::sync, "no lock or lock_all epoch is open for this target"));
  } else if (other.touched == access_ || (!local && weak_left(other))) {
    if (other.touched != access_) touch(*access_, target);
    cover(*access_, *other.target, local, request);
  }
  return covered(request, completion);
}

Outcome Window::flush_all(bool local, Completion* completion) {
  FlushRequest* request = nullptr;
  if (access_ != nullptr && access_->kind == EpochKind::lock_all) {
    if (!local) touch_weak(*access_);
    for (Target& target : *access_) cover(*access_, target, local, request);
  } else if (open_locks_ != 0) {
    // Nothing of targets that are not locked: whoever holds one of those may wait for a lock of
    // ours.
    for (Epoch* epoch = first_; epoch != nullptr; epoch = epoch->next) {
      if (epoch->kind == EpochKind::lock && !epoch->closed) {
        cover(*epoch, epoch->one, local, request);
      }
    }
  } else {
    return Outcome::failed(fail(Error::sync, "no lock or lock_all epoch is open"));
  }
  return covered(request, completion);
}

Error Window::sync() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return Error::none;
}

}  // namespace oriel
