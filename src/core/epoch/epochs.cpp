// SPDX-License-Identifier: BSD-3-Clause
// The life of an epoch: opening, activation, closing, completion.
#include "core/epoch/epochs.hpp"

#include <utility>

namespace oriel {
namespace {

// The most epochs that one sweep advances: with the reorder keys any number may be active, and
// calls that do not wait sweep, too.
constexpr int sweep_length = 256;

}  // namespace

Epochs::Epochs(const EpochsSpec& spec, EpochState& state, Fence& fence, EpochPools& pools)
    : rank_(spec.rank),
      slots_(spec.slots),
      alive_(spec.alive),
      check_(spec.check),
      peers_(state.peers),
      reason_(state.reason),
      work_(state.work),
      pending_(state.pending),
      lock_order_(state.lock_order),
      events_(state.events),
      fence_(fence),
      pools_(pools),
      no_locks_(spec.no_locks),
      all_locks_(state.events.all_locks()),
      shared_(spec.shared),
      reorder_(spec.reorder) {
  hot_lock_.kind = EpochKind::lock;
  hot_lock_.active = true;
  hot_lock_.one.access = Target::Access::granted;
  hot_lock_.one.passive = true;
  hot_lock_.targets = &hot_lock_.one;
  hot_lock_all_.kind = EpochKind::lock_all;
  hot_lock_all_.active = true;
  notified_.kind = EpochKind::notified;
  notified_.active = true;
}

Epochs::~Epochs() {
  // After the loss of a rank, epochs may remain.
  for (Epoch* epoch = all_.first(); epoch != nullptr; epoch = EpochsByOpening::after(*epoch)) {
    lock_order_.remove_epoch(*epoch);
  }
  for (Target* target : hot_targets_) pools_.targets.release(*target);
  release_targets(notified_);
}

Epoch& Epochs::create(EpochKind kind) {
  Epoch& epoch = pools_.epochs.acquire();
  epoch.kind = kind;
  epoch.opened_at = ++steps_;
  all_.append(epoch);
  return epoch;
}

void Epochs::open(Epoch& epoch) {
  events_.step(EventKind::epoch_opened, epoch);
  EpochQueue* queue = queue_for(epoch);
  if (queue == nullptr) return activate(epoch);
  events_.step(EventKind::epoch_deferred, epoch);
  queue->append(epoch);
  ++deferred_;
  work_.add();
}

/// True if an earlier epoch that is not completed defers this one (E5, E7). A later epoch of the
/// same kind must wait for at least the same epochs, except for the questions of weak unlocks. So
/// epochs of one kind keep their order.
bool Epochs::must_wait(const Epoch& epoch) const {
  if (closed_ == 0) return false;
  for (std::size_t kind = 0; kind < closed_of_.size(); ++kind) {
    const Epoch* earliest = closed_of_[kind].first();
    if (earliest != nullptr && earliest->closed_at < epoch.opened_at &&
        !may_overlap(static_cast<EpochKind>(kind), epoch.kind, reorder_)) {
      return true;
    }
  }
  const auto before = [&](const Epoch& earlier) { return earlier.closed_at < epoch.opened_at; };
  if (epoch.asks_for_weak) return weak_closed(before);
  // For the program a weak epoch is over, so no key permits that its operations are overtaken at
  // their targets.
  if (epoch.kind != EpochKind::access || asking_ == 0) return false;
  const Epoch* asking = closed_of_[at(EpochKind::lock)].first();
  while (asking != nullptr &&
         !(asking->asks_for_weak && before(*asking) && epoch.has(asking->one.rank))) {
    asking = EpochsByClosing::after(*asking);
  }
  return asking != nullptr;
}

/// The queue in which an epoch that has just been opened waits; null: it may be activated. A lock
/// epoch that has others before it at its target waits in the queue of that target, and delays only
/// later epochs that need the lock of that target.
EpochQueue* Epochs::queue_for(const Epoch& epoch) {
  EpochQueue& deferred = deferred_of_[at(epoch.kind)];
  if (!deferred.empty() || must_wait(epoch)) return &deferred;
  if (epoch.kind != EpochKind::lock) return nullptr;
  EpochPeer& other = peer(epoch.one.rank);
  return waits_at(other, epoch) ? &other.locks : nullptr;
}

/// True if a lock epoch has others before it at its target.
bool Epochs::waits_at(const EpochPeer& other, const Epoch& epoch) const {
  return other.entry_wanted() || lock_all_before(epoch);
}

/// True if a lock_all epoch, closed before the lock epoch was opened, has not yet requested the
/// lock of its target.
bool Epochs::lock_all_before(const Epoch& lock) const {
  const Epoch* all = closed_of_[at(EpochKind::lock_all)].first();
  for (; all != nullptr && all->closed_at < lock.opened_at; all = EpochsByClosing::after(*all)) {
    for (const Target& target : *all) {
      if (all->active && target.rank == lock.one.rank && !target.signaled &&
          target.access == Target::Access::idle) {
        return true;
      }
    }
  }
  return false;
}

/// Activates the deferred epochs that need not wait any more; true if there were any. An epoch that
/// completes at once may let others be activated.
bool Epochs::activate_deferred() {
  bool moved = false;
  for (bool again = deferred_ != 0; again;) {
    again = false;
    for (EpochQueue& deferred : deferred_of_) {
      while (Epoch* epoch = deferred.first()) {
        const bool lock = epoch->kind == EpochKind::lock;
        // An epoch that entitle_next() has chosen has already waited for the others; the keys may
        // have been changed since.
        const bool chosen = lock && peer(epoch->one.rank).entitled == epoch;
        if (!chosen && must_wait(*epoch)) break;
        deferred.remove(*epoch);
        if (EpochPeer& other = peer(lock ? epoch->one.rank : rank_);
            lock && !chosen && waits_at(other, *epoch)) {
          other.locks.append(*epoch);
          continue;
        }
        --deferred_;
        work_.remove();
        activate(*epoch);
        progress(*epoch);
        moved = again = true;
      }
    }
  }
  return moved;
}

/// If our entry in the rank's lock queue is free, and no epoch is entitled to it, entitles the
/// oldest lock epoch that waits for it: activate_deferred() activates that epoch next. An older
/// lock_all epoch comes first: it requests the lock when it is advanced, and none is entitled now.
void Epochs::entitle_next(EpochPeer& other) {
  if (other.entitled != nullptr || other.locking != nullptr || other.locks.empty()) return;
  Epoch& epoch = *other.locks.first();
  if (lock_all_before(epoch)) return;
  other.entitled = &epoch;
  other.locks.remove(epoch);
  deferred_of_[at(EpochKind::lock)].prepend(epoch);
}

/// Called when the rank has been told that the epoch is over.
void Epochs::release_entry(const Epoch& epoch, EpochPeer& other) {
  if (other.entitled == &epoch) other.entitled = nullptr;
  entitle_next(other);
}

void Epochs::activate(Epoch& epoch) {
  events_.step(EventKind::epoch_activated, epoch);
  epoch.active = true;
  active_.append(epoch);
  switch (epoch.kind) {
    case EpochKind::access:
      for (Target& target : epoch) target.id = ++peer(target.rank).accesses;
      break;
    case EpochKind::exposure:
      for (Target& target : epoch) {
        EpochPeer& origin = peer(target.rank);
        target.id = ++origin.exposures;
        link(target.rank).expose(target.rank, target.id, epoch.no_check);
      }
      return;
    case EpochKind::fence:
      fence_.open(epoch.call, epoch.announce);
      break;
    case EpochKind::lock_all:
      // The operations of an earlier weak epoch may have been sent after this epoch was closed; its
      // questions cover them, too.
      if (epoch.closed && !epoch.weak) touch_weak(epoch);
      if (!epoch.closed) hold_loaded(epoch);
      break;
    case EpochKind::lock:
      peer(epoch.one.rank).entitled = &epoch;
      break;
    case EpochKind::notified:  // active from the beginning
      break;
  }
  for (Target& target : epoch) advance(epoch, target);
  if (epoch.kind == EpochKind::lock && epoch.closed && epoch.unsignaled != 0)
    link(epoch.one.rank).attach_piggyback(epoch);
}

Outcome Epochs::close(Epoch& epoch, Completion* completion) {
  pending_.mark_unflushed();
  events_.step(EventKind::epoch_closed, epoch);
  epoch.closed = true;
  epoch.closed_at = ++steps_;
  epoch.completion = completion;
  closed_of_[at(epoch.kind)].append(epoch);
  lock_order_.mark_closed(epoch);
  ++closed_;
  if (epoch.weak) ++weak_closed_;
  if (epoch.asks_for_weak) ++asking_;
  work_.add();
  if (epoch.kind != EpochKind::exposure) {
    for (Target& target : epoch) {
      EpochPeer& other = peer(target.rank);
      other.ready.store(nullptr);
      other.short_moves.store(0);
      if (other.touched == &epoch) other.touched = nullptr;
    }
  }
  if (epoch.active) {
    if (epoch.kind != EpochKind::exposure) peers_.recall_all(epoch);
    for (Target& target : epoch) advance(epoch, target);
    if (epoch.kind == EpochKind::lock && epoch.unsignaled != 0)
      link(epoch.one.rank).attach_piggyback(epoch);
    if (try_complete(epoch)) {
      const Error error = epoch.unreported();
      epoch.completion = nullptr;
      // No call waits for messages of a weak unlock: they may wait to be sent with others.
      peers_.push(!epoch.weak);
      if (over(epoch)) retire(epoch);
      if (error != Error::none) fail(error, "an operation of the epoch failed");
      return {error, true};
    }
  }
  const bool behind_another =
      epoch.kind == EpochKind::lock && link(epoch.one.rank).behind_another(epoch.one);
  peers_.push(!behind_another);
  return Outcome::posted();
}

bool Epochs::try_complete(Epoch& epoch) {
  if (!epoch.closed) return false;
  const bool fence = epoch.kind == EpochKind::fence && epoch.closing_call != 0;
  const bool over = fence ? fence_.end(epoch) : epoch.unsignaled == 0 && epoch.attention == 0;
  if (over) events_.step(EventKind::epoch_completed, epoch);
  return epoch.completed = over;
}

bool Epochs::over(Epoch& epoch) {
  if (!epoch.completed) return false;
  // With NOCHECK the target sends no grant; it carries out what arrives in the right order by
  // itself.
  if (epoch.kind != EpochKind::access || epoch.no_check) return true;
  for (Target& target : epoch) {
    if (target.issued != 0 && !link(target.rank).try_acquire(epoch, target)) return false;
  }
  return true;
}

void Epochs::retire(Epoch& epoch) {
  if (next_swept_ == &epoch) next_swept_ = EpochQueue::after(epoch);
  active_.remove(epoch);
  lock_order_.remove_epoch(epoch);
  closed_of_[at(epoch.kind)].remove(epoch);
  --closed_;
  if (epoch.weak) --weak_closed_;
  if (epoch.asks_for_weak) --asking_;
  // The error goes to the epoch that waits for the answer.
  if (Epoch* next = EpochsByOpening::after(epoch); epoch.asks_for_weak && next != nullptr) {
    next->error = first_of(next->error, epoch.unreported());
  }
  all_.remove(epoch);
  work_.remove();
  release_targets(epoch);
  pools_.epochs.release(epoch);
}

void Epochs::release_targets(Epoch& epoch) {
  for (Target* target = epoch.targets; target != nullptr;) {
    Target* next = target->next;
    if (target != &epoch.one) pools_.targets.release(*target);
    target = next;
  }
}

bool Epochs::progress(Epoch& epoch) {
  if (epoch.closing_call != 0 && !epoch.closed) {
    if (!try_renew(epoch)) return false;
    work_.remove();
    epoch.completion->complete(Error::none);
    return true;
  }
  bool moved = false;
  if (epoch.kind == EpochKind::lock_all && !epoch.closed) {
    const int before = epoch.awaited;
    hold_loaded(epoch);
    moved = epoch.awaited != before;
  }
  if (epoch.closed || epoch.attention != 0) {
    for (Target& target : epoch) moved |= advance(epoch, target);
  }
  if (!epoch.completed && try_complete(epoch)) {
    moved = true;
    Completion* completion = std::exchange(epoch.completion, nullptr);
    const Error error = epoch.unreported();
    if (over(epoch)) retire(epoch);
    if (completion != nullptr) completion->complete(error);
  } else if (over(epoch)) {
    moved = true;
    retire(epoch);
  }
  return moved;
}

/// Advances part of the active epochs; a round of sweeps advances all of them. False: a round has
/// ended and nothing has moved.
bool Epochs::sweep() {
  bool moved = notified_.attention != 0 && progress(notified_);
  if (next_swept_ == nullptr) {
    next_swept_ = active_.first();
    round_moved_ = false;
  }
  for (int swept = 0; next_swept_ != nullptr && swept < sweep_length; ++swept) {
    Epoch& epoch = *next_swept_;
    next_swept_ = EpochQueue::after(epoch);
    round_moved_ |= progress(epoch);
  }
  moved |= activate_deferred();
  return moved || round_moved_ || next_swept_ != nullptr;
}

bool Epochs::open_epoch() const {
  if (exposure_ != nullptr || open_locks_ != 0) return true;
  return access_ != nullptr && (access_->kind != EpochKind::fence || access_->used());
}

/// Targets on other nodes come first in every step: their messages travel while the copies on the
/// node are made.
Target& Epochs::add_target(Epoch& epoch, int rank) {
  Target* target = &epoch.one;
  if (epoch.targets == nullptr) {
    target->reset();
  } else {
    target = &pools_.targets.acquire();
  }
  const bool remote = link(rank).remote();
  Target*& before = remote ? epoch.last_remote : epoch.last_target;
  Target*& next = before != nullptr ? before->next : epoch.targets;
  target->next = next;
  next = target;
  if (target->next == nullptr) epoch.last_target = target;
  before = target;
  target->rank = rank;
  target->passive = epoch.passive();
  target->lasting = epoch.lasting();
  ++epoch.unsignaled;
  return *target;
}

Target& Epochs::touch(Epoch& epoch, int rank) {
  EpochPeer& touched = peer(rank);
  touched.touched = &epoch;
  touched.target = &add_target(epoch, rank);
  return *touched.target;
}

Target& Epochs::notified_target(int rank) {
  EpochPeer& other = peer(rank);
  if (other.notified == nullptr) {
    other.notified = &add_target(notified_, rank);
    // The notified epoch needs no exposure, fence or lock.
    other.notified->access = Target::Access::granted;
  }
  return *other.notified;
}

bool Epochs::advance(Epoch& epoch, Target& target) {
  if (epoch.kind == EpochKind::exposure) {
    if (target.signaled || !completed_by(target.rank, target.id)) return false;
    pending_.mark_signaled(epoch, target);
    return true;
  }
  const bool moved = !target.signaled && link(target.rank).advance(epoch, target);
  // The target may have been told by the end of a transfer since the last look.
  if (target.signaled && epoch.passive()) release_entry(epoch, peer(target.rank));
  return moved;
}

bool Epochs::request_locks(Epoch& epoch) {
  bool moved = false;
  for (Target& target : epoch) {
    if (target.lock_due) moved |= advance(epoch, target);
  }
  return moved;
}

bool Epochs::hold_lock(int target) {
  return peer(target).lock != nullptr && try_acquire(target);
}

bool Epochs::try_acquire(int target) {
  EpochPeer& other = peer(target);
  Epoch* epoch = other.lock != nullptr ? other.lock : access_;
  // The target's lock was not granted at once.
  if (epoch == &hot_lock_all_ && other.touched != epoch) epoch = &list_hot_lock_all();
  if (epoch == nullptr || !epoch->active) return false;
  Target& acquired = epoch->kind == EpochKind::lock ? epoch->one
                     : other.touched == epoch       ? *other.target
                                                    : touch(*epoch, target);
  if (acquired.access != Target::Access::granted) advance(*epoch, acquired);
  return acquired.access == Target::Access::granted;
}

bool Epochs::accesses(int target) {
  return peer(target).lock != nullptr || access_ != nullptr;
}

bool Epochs::awaits_lock(int target) {
  if (!peers_.valid(target)) return false;
  const Epoch* epoch = peer(target).lock;
  return epoch != nullptr && !epoch->nonblocking && mapped(target) &&
         epoch->one.access != Target::Access::granted && !behind_pending(*epoch) &&
         !lock_order_.behind_nonblocking(*epoch);
}

bool Epochs::behind_pending(const Epoch& epoch) const {
  for (const Epoch* earlier = all_.first(); earlier != nullptr;
       earlier = EpochsByOpening::after(*earlier)) {
    if (earlier->left_pending() && earlier->closed_at < epoch.opened_at) return true;
  }
  return false;
}

Outcome Epochs::issue(const Operation& operation) {
  if (const Error error = check_rank(operation.target); error != Error::none) {
    return Outcome::failed(error);
  }
  EpochPeer& other = peer(operation.target);
  Epoch* epoch = other.lock != nullptr ? other.lock : access_;
  if (operation.notify_arg.wanted()) {
    // The notification may have to be held, which hot epochs cannot do.
    if (epoch == &hot_lock_) epoch = &list_hot_lock();
    if (epoch == &hot_lock_all_) epoch = &list_hot_lock_all();
    if (!covered(operation.target)) epoch = &notified_;
  }
  // The target's lock was not granted at once.
  if (epoch == &hot_lock_all_ && other.touched != epoch) epoch = &list_hot_lock_all();
  if (epoch == nullptr) {
    return Outcome::failed(
        refuse("no epoch is open; open one by a fence, start, lock or lock_all"));
  }
  Target* target = nullptr;
  if (epoch->kind == EpochKind::lock) {
    target = &epoch->one;
  } else if (epoch->kind == EpochKind::notified) {
    target = other.notified;
  } else if (other.touched == epoch) {
    target = other.target;
  } else if (epoch->kind == EpochKind::access) {
    return Outcome::failed(refuse("the target is not in the group given to start"));
  }
  if (const Error error = check_(operation, reason_); error != Error::none) {
    return Outcome::failed(error);
  }
  if (target == nullptr) {
    target = epoch->kind == EpochKind::notified ? &notified_target(operation.target)
                                                : &touch(*epoch, operation.target);
  }
  mark(target->used);
  mark(other.outstanding, operation.thread);
  pending_.mark_unflushed();
  const Outcome outcome = link(operation.target).issue(operation, *epoch, *target);
  // The caller will wait for an answer, perhaps after some computation.
  if (operation.completes_there && !outcome.done) peers_.push(true);
  return outcome;
}

}  // namespace oriel
