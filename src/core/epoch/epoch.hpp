// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/published.hpp"
#include "core/epoch/activation.hpp"
#include "core/epoch/epoch_list.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/protocol.hpp"

namespace oriel {

struct Epoch;
struct Target;
class Epochs;
class PendingOperations;

/// An operation that could not be carried out at its call: waits for its epoch or target, is being
/// sent to a remote target, or awaits its reply.
struct RecordedOperation {
  /// What it has gone through. How far its bytes are `sent` and `received` say.
  enum class State : std::uint8_t {
    recorded,   // its bytes, or its question, have to be sent, or are on their way
    asked,      // a question (OperationKind::acknowledge) that has been sent
    notifying,  // its bytes are there; only its notification is left
  };

  Operation operation;
  PendingOperations* pending = nullptr;  // of its window
  Epoch* epoch = nullptr;
  Target* target = nullptr;
  RecordedOperation* next = nullptr;
  std::uint64_t number = 0;  // Target::issued when it was issued
  std::uint64_t age = 0;     // Target::recorded when it was recorded
  std::uint64_t sent =
      0;  // bytes sent, or asked for; of a question: EpochPeer::weak_sent before it
  std::uint64_t received = 0;  // bytes of the result that are here; others: bytes that are through
  Protocol protocol = Protocol::stored;
  State state = State::recorded;
  bool alone = false;     // a question: answers for no operation but those of its caller
  int registration = -1;  // a rendezvous: the number of its buffer (BufferRegistrations)
  std::uint32_t held_number =
      0;  // its notification to a mapped target: see EpochPeer::notifications_held
  Error error = Error::none;  // of any part of it
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    operation = {};
    next = nullptr;
    sent = received = 0;
    protocol = Protocol::stored;
    state = State::recorded;
    alone = false;
    registration = -1;
    error = Error::none;
  }
};

/// Recorded operations of one target by age.
struct RecordedQueue {
  RecordedOperation* head = nullptr;
  RecordedOperation* tail = nullptr;

  bool empty() const { return head == nullptr; }
  void append(RecordedOperation& recorded) {
    recorded.next = nullptr;
    (tail != nullptr ? tail->next : head) = &recorded;
    tail = &recorded;
  }
  /// Back to its place by age.
  void insert(RecordedOperation& recorded) {
    RecordedOperation* before = nullptr;
    for (RecordedOperation* one = head; one != nullptr && one->age < recorded.age;) {
      before = one;
      one = one->next;
    }
    RecordedOperation*& place = before != nullptr ? before->next : head;
    recorded.next = place;
    place = &recorded;
    if (recorded.next == nullptr) tail = &recorded;
  }
  void remove(RecordedOperation& recorded) {
    RecordedOperation* before = nullptr;
    for (RecordedOperation* one = head; one != &recorded; one = one->next) before = one;
    (before != nullptr ? before->next : head) = recorded.next;
    if (tail == &recorded) tail = before;
    recorded.next = nullptr;
  }
};

/// One iflush, pending: counts the targets that still have operations older than it. Also what each
/// answer for one thread alone is told to.
struct FlushRequest final : Completion {
  PendingOperations* pending = nullptr;  // of its window
  Completion* completion = nullptr;
  std::uint32_t remaining = 0;
  Error error = Error::none;
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  /// One of the targets is covered.
  void complete(Error of_target) override;

  void reset() {
    remaining = 0;
    error = Error::none;
  }
};

/// A FlushRequest's place at one target, in order of age: satisfied when none of the first so many
/// recorded operations waits to be started or is being transferred, so many operations are finished
/// (E9: ages decide what a flush covers), and so many weak unlocks before are answered for.
struct FlushWaiter {
  FlushRequest* request = nullptr;
  std::uint64_t recorded = 0;
  std::uint64_t finished = 0;
  std::uint64_t weak = 0;
  FlushWaiter* next = nullptr;
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() { next = nullptr; }
};

/// One peer of an epoch: a target of an access epoch, an origin of an exposure epoch.
struct Target {
  enum class Access : std::uint8_t { idle, requested, granted };

  int rank = 0;
  Access access = Access::idle;
  bool piggyback_done =
      false;                  // lock: its operation was piggybacked, the lock is given back already
  bool passive = false;       // of a lock or lock_all epoch: may be flushed
  bool lasting = false;       // of a lock_all epoch or the notified one: stores may be inlined
  bool told = false;          // access: the peer knows it is over; exposure: the origin said so
  Published<bool> used;       // the program has issued operations to it; asked of a fence's alone
  bool watching = false;      // fence: counted in ControlBlock::watchers
  bool lock_due = false;      // lock, lock_all: counted in Epoch::locks_due
  bool in_pieces = false;     // mapped: what is recorded was closed before it was carried out
  Error error = Error::none;  // of its operations: what no flush has reported yet
  std::uint64_t id = 0;       // number of this access (or exposure) between the two ranks
  std::uint64_t issued = 0;   // of these operations, those that did not go straight to memory
  std::uint64_t asked = 0;    // remote: a reply is on its way that says so many are finished
  std::uint64_t finished = 0;  // of these, complete at both sides; they finish in issue order
  std::uint32_t writes = 0;    // direct transfers under way
  std::uint32_t reads = 0;
  /// Atomics of the transport, and rendezvous: issued and not over; `issued` has none of them.
  std::uint32_t counted_apart = 0;
  std::uint32_t asked_alone = 0;   // questions of threads that have not been answered
  std::uint32_t unasked = 0;       // direct writes not over, behind which a question is to be sent
  std::uint64_t last_fetch = 0;    // issue number of the last one that writes to origin memory
  std::uint64_t recorded = 0;      // operations that could not be carried out at their call
  RecordedQueue waiting;           // of these, not yet started
  RecordedQueue moving;            // direct transfers, atomics and rendezvous, wholly given away
  FlushWaiter* flushes = nullptr;  // by age
  FlushWaiter* last_flush = nullptr;
  Target* next = nullptr;  // of the same epoch
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  /// All operations issued to it are complete at both sides.
  bool all_finished() const {
    return finished == issued && waiting.empty() && moving.empty() && counted_apart == 0;
  }
  /// Of the first so many recorded operations, one waits or is on its way.
  bool under_way(std::uint64_t first) const {
    const auto among_them = [&](const RecordedQueue& queue) {
      return queue.head != nullptr && queue.head->age <= first;
    };
    return among_them(waiting) || among_them(moving);
  }
  /// One of these threads' waits or is on its way.
  bool under_way_of(ThreadSet threads) const {
    const auto theirs = [&](const RecordedQueue& queue) {
      for (const RecordedOperation* one = queue.head; one != nullptr; one = one->next) {
        if ((one->operation.thread & threads) != 0) return true;
      }
      return false;
    };
    return theirs(waiting) || theirs(moving);
  }

  void reset() {
    access = Access::idle;
    told = piggyback_done = watching = in_pieces = lock_due = false;
    used.store(false);
    error = Error::none;
    writes = reads = counted_apart = asked_alone = unasked = 0;
    id = issued = asked = finished = last_fetch = recorded = 0;
    waiting = moving = {};
    flushes = last_flush = nullptr;
    next = nullptr;
  }
};

class TargetIterator {
 public:
  explicit TargetIterator(Target* target) : target_(target) {}
  Target& operator*() const { return *target_; }
  TargetIterator& operator++() {
    target_ = target_->next;
    return *this;
  }
  bool operator==(const TargetIterator&) const = default;

 private:
  Target* target_;
};

/// An epoch with its application-level life (open, closed) and its internal one (deferred, active,
/// completed); paper section VI.
struct Epoch {
  EpochKind kind = EpochKind::fence;
  bool active = false;
  bool closed = false;
  bool completed = false;  // its Completion has been told
  bool exclusive = false;  // lock
  bool no_check = false;   // start, lock, lock_all, post
  bool weak = false;       // lock, lock_all: see Assert::weak_unlock
  bool asks_for_weak =
      false;               // lock: asks for what weak unlocks have left; see Epochs::ask_for_weak()
  bool announce = false;   // fence: activation tells the peers that the exposure is open
  bool announced = false;  // fence: the closing call has been told, or is being counted
  bool failed = false;     // an operation has: see Target::error
  Error error = Error::none;    // handed over by an epoch that only asked: see asks_for_weak
  std::uint32_t attention = 0;  // mapped targets requested, plus recorded operations unfinished
  std::uint32_t untold = 0;     // targets not yet told
  /// Ranks below: fence: have announced the closing call; lock_all: see hold_loaded().
  int awaited = 0;
  std::uint64_t opened_at = 0;  // Epochs::steps_: what was closed before what was opened
  std::uint64_t closed_at = 0;
  std::uint64_t call = 0;          // fence: number of the call that opened it
  std::uint64_t closing_call = 0;  // fence: number of the call that closes or renews it; 0: none
  // lock, lock_all: the epoch's place among all of the process, see LockOrder.
  static constexpr std::uint8_t no_lock_queue = 0xff;
  Epochs* owner = nullptr;
  std::uint64_t lock_number = 0;            // by opening
  std::uint8_t lock_queue = no_lock_queue;  // of the thread that opened it
  Epoch* opened_within = nullptr;           // the last one with due locks that was open then,
  std::uint64_t opened_within_number = 0;   // and its number
  bool locks_deferred = false;              // earlier ones had to come first
  std::uint32_t locks_due = 0;              // targets whose lock is due
  EpochLinks by_lock_order;                 // while any is
  Completion* completion = nullptr;
  EpochLinks by_opening;      // among all of the window, until it is over
  EpochLinks by_closing;      // among those of its kind, from closing until it is over
  EpochLinks by_state;        // among the active ones, or the deferred ones that wait for the same
  Target* targets = nullptr;  // those that the epoch has to do with: given, or touched so far
  Target* last_target = nullptr;
  Target* last_remote = nullptr;  // of these: remote ones come first
  Target one;                     // the first of them; the others come from the pool
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    active = closed = completed = exclusive = no_check = weak = asks_for_weak = false;
    announce = announced = failed = false;
    error = Error::none;
    attention = untold = locks_due = 0;
    awaited = 0;
    lock_queue = no_lock_queue;
    call = closing_call = 0;
    completion = nullptr;
    targets = last_target = last_remote = nullptr;
  }

  /// Of one origin alone: the targets take no part.
  bool passive() const { return kind == EpochKind::lock || kind == EpochKind::lock_all; }
  /// Programs have such epochs open for long, and only flushes tell them of completion meanwhile.
  bool lasting() const { return kind == EpochKind::lock_all || kind == EpochKind::notified; }

  /// What the closing call reports.
  Error unreported() const {
    Error first = error;
    for (const Target* target = targets; failed && target != nullptr; target = target->next) {
      first = first_of(first, target->error);
    }
    return first;
  }

  bool has(int rank) const {
    for (const Target* target = targets; target != nullptr; target = target->next) {
      if (target->rank == rank) return true;
    }
    return false;
  }
  TargetIterator begin() const { return TargetIterator(targets); }
  TargetIterator end() const { return TargetIterator(nullptr); }
};

using EpochsByOpening = EpochList<&Epoch::by_opening>;
using EpochsByClosing = EpochList<&Epoch::by_closing>;
using EpochsByLockOrder = EpochList<&Epoch::by_lock_order>;
/// First in, first out: deferred epochs that wait for the same; or those that are active.
using EpochQueue = EpochList<&Epoch::by_state>;

}  // namespace oriel
