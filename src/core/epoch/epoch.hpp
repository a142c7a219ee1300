// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/linked_list.hpp"
#include "core/base/pool.hpp"
#include "core/base/published.hpp"
#include "core/epoch/activation.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/protocol.hpp"

namespace oriel {

struct Epoch;
struct Target;
class Epochs;
class PendingOperations;

/// An operation that could not be carried out at its call: it waits for its epoch or target, is
/// being sent to a remote target, or awaits its reply.
struct RecordedOperation {
  /// The progress of an operation. That of its bytes is in `sent` and `received`.
  enum class State : std::uint8_t {
    recorded,   // its bytes, or its question, have to be sent or are in flight
    asked,      // a question (OperationKind::acknowledge), which has been sent
    notifying,  // its bytes have been moved; only its notification is left
  };

  Operation operation;
  PendingOperations* pending = nullptr;  // of its window
  Epoch* epoch = nullptr;
  Target* target = nullptr;
  Links<RecordedOperation> by_age;
  std::uint64_t number = 0;  // Target::issued when it was issued
  std::uint64_t age = 0;     // Target::recorded when it was recorded
  /// Bytes sent or requested; of a question: EpochPeer::weak_sent when it was sent.
  std::uint64_t sent = 0;
  std::uint64_t received = 0;  // bytes of the result that have arrived; else bytes transferred
  Protocol protocol = Protocol::stored;
  State state = State::recorded;
  bool alone = false;     // of a question: its answer is for its caller only
  bool counted = false;   // its notification, if it has one, is counted in Target::issued
  bool uncopied = false;  // of a direct write: the network uses some of its origin memory
  bool copied = false;    // of a direct write: the network has accepted all bytes and copied them
  int registration = -1;  // a rendezvous: the number of its buffer (BufferRegistrations)
  /// The number of its notification to a mapped target: see EpochPeer::notifications_held.
  std::uint32_t held_number = 0;
  Error error = Error::none;  // the first error of its parts
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    operation = {};
    by_age = {};
    sent = received = 0;
    protocol = Protocol::stored;
    state = State::recorded;
    alone = counted = uncopied = copied = false;
    registration = -1;
    error = Error::none;
  }
};

/// Recorded operations of one target, ordered by age.
using RecordedQueue = LinkedList<RecordedOperation, &RecordedOperation::by_age>;

/// A pending iflush: counts the targets that still have operations older than it. It is also the
/// completion of questions for one thread alone.
struct FlushRequest final : Completion {
  PendingOperations* pending = nullptr;  // of its window
  Completion* completion = nullptr;
  std::uint32_t remaining = 0;
  Error error = Error::none;  // the first one of the operations that it covers
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  /// Called when the flush is satisfied at one of its targets.
  void complete(Error of_target) override;

  void reset() {
    remaining = 0;
    error = Error::none;
  }
};

/// The entry of a FlushRequest at one target, in order of age. It is satisfied when none of the
/// first `recorded` recorded operations waits or is in flight (`local`: and uses origin memory),
/// `finished` operations have finished (E9: ages decide what a flush covers), and the first `weak`
/// weak unlocks have been answered for.
struct FlushWaiter {
  FlushRequest* request = nullptr;
  std::uint64_t recorded = 0;
  std::uint64_t finished = 0;
  std::uint64_t weak = 0;
  bool local = false;
  Links<FlushWaiter> by_age;
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {}
};
using FlushQueue = LinkedList<FlushWaiter, &FlushWaiter::by_age>;

/// One peer of an epoch: a target of an access epoch, an origin of an exposure epoch.
struct Target {
  enum class Access : std::uint8_t { idle, requested, granted };

  int rank = 0;
  Access access = Access::idle;
  /// True if the operation of this lock epoch was piggybacked and the lock has been given back.
  bool piggyback_done = false;
  bool passive = false;  // of a lock or lock_all epoch: may be flushed
  bool lasting = false;  // of a lock_all or the notified epoch: stores may be inlined
  bool signaled =
      false;  // access: the target has been signaled; exposure: the origin has signaled us
  Published<bool> used;      // the program has issued operations to it; read of fences only
  bool watching = false;     // fence: counted in ControlBlock::watchers
  bool lock_due = false;     // lock, lock_all: its lock is counted in Epoch::locks_due
  bool transferred = false;  // remote: direct transfers to it have been issued
  /// Mapped: long copies are made in pieces, as the epoch was closed before the target was
  /// available.
  bool in_pieces = false;
  /// The first error of copied writes that no pending flush covers. The next flush that is not
  /// local, or the closing call, reports it.
  Error copied_error = Error::none;
  /// The first error of other operations that no pending flush covers. The next flush, or the
  /// closing call, reports it.
  Error error = Error::none;
  std::uint64_t id = 0;  // number of this access (or exposure) between the two ranks
  /// Operations on the general path. Remote: those that only a reply reports as complete at the
  /// target.
  std::uint64_t issued = 0;
  std::uint64_t asked = 0;     // remote: a reply in flight reports that so many are finished
  std::uint64_t finished = 0;  // of these, complete at both sides, in issue order
  std::uint32_t writes = 0;    // direct transfers in flight
  std::uint32_t reads = 0;
  /// Atomics of the transport and rendezvous that are issued and not over.
  std::uint32_t counted_apart = 0;
  std::uint32_t asked_alone = 0;  // questions for one thread each that are not answered
  /// Remote: the threads with operations in `issued` that no question or reply covers.
  ThreadSet unasked_threads = 0;
  std::uint32_t unasked = 0;     // direct writes under way that a question must follow
  std::uint64_t last_fetch = 0;  // number of the last one that writes to origin memory
  std::uint64_t last_put = 0;    // remote: number of the last put that is a message
  std::uint64_t recorded = 0;    // operations that could not be carried out at their call
  RecordedQueue waiting;         // of these, not yet started
  RecordedQueue moving;          // direct transfers, atomics and rendezvous under way
  RecordedQueue copied;          // direct writes under way whose origin memory may be reused
  FlushQueue flushes;
  Target* next = nullptr;  // of the same epoch
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  /// Adds an operation to those that wait, at its position by age.
  void insert_waiting(RecordedOperation& operation) {
    waiting.insert(operation,
                   [&](const RecordedOperation& earlier) { return earlier.age < operation.age; });
  }
  /// True if all operations issued to it are complete at both sides.
  bool all_finished() const {
    return finished == issued && waiting.empty() && moving.empty() && copied.empty() &&
           counted_apart == 0;
  }
  /// True if one of the first `first` recorded operations waits or is in flight; `local`: and uses
  /// origin memory.
  bool under_way(std::uint64_t first, bool local) const {
    const auto among_them = [&](const RecordedQueue& queue) {
      return !queue.empty() && queue.first()->age <= first;
    };
    return among_them(waiting) || among_them(moving) || (!local && among_them(copied));
  }
  /// The error of an operation that no flush has reported.
  Error unreported() const { return first_of(error, copied_error); }
  bool failed() const { return unreported() != Error::none; }
  /// For a flush: returns the error of operations that the flush covers, and counts it as reported.
  Error report_error(bool local) {
    const Error first = std::exchange(error, Error::none);
    return local ? first : first_of(first, std::exchange(copied_error, Error::none));
  }
  /// Counts an operation that only a reply reports as complete at the target.
  void count_unanswered(ThreadSet thread) {
    ++issued;
    unasked_threads |= thread;
  }
  /// True if a recorded operation of one of these threads waits or is in flight; `local`: and uses
  /// origin memory.
  bool under_way_of(ThreadSet threads, bool local) const {
    const auto theirs = [&](const RecordedQueue& queue) {
      for (const RecordedOperation* one = queue.first(); one != nullptr;
           one = RecordedQueue::after(*one)) {
        if ((one->operation.thread & threads) != 0) return true;
      }
      return false;
    };
    return theirs(waiting) || theirs(moving) || (!local && theirs(copied));
  }

  void reset() {
    access = Access::idle;
    signaled = piggyback_done = watching = in_pieces = lock_due = transferred = false;
    used.store(false);
    error = copied_error = Error::none;
    writes = reads = counted_apart = asked_alone = unasked = 0;
    unasked_threads = 0;
    id = issued = asked = finished = last_fetch = last_put = recorded = 0;
    waiting = moving = copied = {};
    flushes = {};
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

/// An epoch with its application state (open, closed) and its internal state (deferred, active,
/// completed); paper section VI.
struct Epoch {
  EpochKind kind = EpochKind::fence;
  bool active = false;
  bool closed = false;
  bool completed = false;      // its Completion has been or is being called
  bool exclusive = false;      // lock
  bool no_check = false;       // start, lock, lock_all, post
  bool nonblocking = false;    // lock, lock_all: see Assert::nonblocking
  bool weak = false;           // lock, lock_all: see Assert::weak_unlock
  bool asks_for_weak = false;  // lock: its question is for weak unlocks; see Epochs::ask_for_weak()
  bool announce = false;       // fence: activation announces that the exposure is open
  bool announced = false;      // fence: the closing call has been announced or is being counted
  bool failed = false;         // an operation has failed: see Target::error
  Error error = Error::none;   // of an earlier epoch with asks_for_weak
  std::uint32_t attention = 0;   // requested mapped targets, plus unfinished recorded operations
  std::uint32_t unsignaled = 0;  // targets not yet signaled
  /// Ranks below this number: of a fence, have announced the closing call; of a lock_all epoch, see
  /// hold_loaded().
  int awaited = 0;
  std::uint64_t opened_at = 0;  // Epochs::steps_ at that time, to order openings and closings
  std::uint64_t closed_at = 0;
  std::uint64_t call = 0;          // fence: number of the call that opened it
  std::uint64_t closing_call = 0;  // fence: number of the call that closes or renews it; 0: none
  // lock, lock_all: the position among all such epochs of the process, see LockOrder.
  static constexpr std::uint8_t no_lock_queue = 0xff;
  Epochs* owner = nullptr;
  std::uint64_t lock_number = 0;            // numbered by opening
  std::uint8_t lock_queue = no_lock_queue;  // of the thread that opened it
  Epoch* opened_within = nullptr;           // the last one with due locks that was open then,
  std::uint64_t opened_within_number = 0;   // and its number
  bool locks_deferred = false;              // locks of earlier epochs had to be granted first
  std::uint32_t locks_due = 0;              // targets whose lock is due
  Links<Epoch> by_lock_order;               // while locks are due
  Completion* completion = nullptr;
  Links<Epoch> by_opening;    // all epochs of the window, until they are over
  Links<Epoch> by_closing;    // those of its kind, from closing until they are over
  Links<Epoch> by_state;      // the active ones, or the deferred ones of one queue
  Target* targets = nullptr;  // peers of the epoch: given by the call, or touched so far
  Target* last_target = nullptr;
  Target* last_remote = nullptr;  // of these; remote ones come first
  Target one;                     // the first one; others are from the pool
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    active = closed = completed = exclusive = no_check = nonblocking = false;
    weak = asks_for_weak = false;
    announce = announced = failed = false;
    error = Error::none;
    attention = unsignaled = locks_due = 0;
    awaited = 0;
    lock_queue = no_lock_queue;
    call = closing_call = 0;
    completion = nullptr;
    targets = last_target = last_remote = nullptr;
  }

  /// True if only the origin takes part: the targets make no calls.
  bool passive() const { return kind == EpochKind::lock || kind == EpochKind::lock_all; }
  /// True if programs keep such epochs open for long, and only flushes report completion meanwhile.
  bool lasting() const { return kind == EpochKind::lock_all || kind == EpochKind::notified; }

  /// True if a nonblocking call has closed the epoch and its request is not complete.
  bool left_pending() const { return closed && completion != nullptr && !completion->awaited(); }

  /// The error that the closing call reports.
  Error unreported() const {
    Error first = error;
    for (const Target* target = targets; failed && target != nullptr; target = target->next) {
      first = first_of(first, target->unreported());
    }
    return first;
  }

  /// True if the program has issued operations in the epoch, a fence.
  bool used() const {
    for (const Target* target = targets; target != nullptr; target = target->next) {
      if (target->used.load()) return true;
    }
    return false;
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

using EpochsByOpening = LinkedList<Epoch, &Epoch::by_opening>;
using EpochsByClosing = LinkedList<Epoch, &Epoch::by_closing>;
using EpochsByLockOrder = LinkedList<Epoch, &Epoch::by_lock_order>;
/// First in, first out: the deferred epochs of one queue, or the active epochs.
using EpochQueue = LinkedList<Epoch, &Epoch::by_state>;

/// The objects of epochs, for all windows of a process: once the pools have grown, nothing is
/// allocated.
struct EpochPools {
  Pool<Epoch> epochs;
  Pool<Target> targets;
  Pool<RecordedOperation> operations;
  Pool<FlushRequest> flush_requests;
  Pool<FlushWaiter> flush_waiters;
};

}  // namespace oriel
