// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/published.hpp"
#include "core/base/work_list.hpp"
#include "core/epoch/epoch.hpp"
#include "core/epoch/epoch_peer.hpp"
#include "core/epoch/events.hpp"
#include "core/epoch/lock_order.hpp"
#include "core/operation/operation.hpp"

namespace oriel {

/// The unfinished operations that one rank has issued on one window: the recorded ones of all
/// epochs, and the flushes that wait for them (E9).
///
/// Epochs decide when an operation may be carried out. The objects that reach other ranks report
/// its progress here. Not thread-safe, except for the Published words.
class PendingOperations {
 public:
  PendingOperations(EpochPools& pools, LockOrder& lock_order, EpochPeers& peers, SweepWork& work,
                    const WindowEvents& events)
      : pools_(pools), lock_order_(lock_order), peers_(peers), work_(work), events_(events) {}

  // Operations.
  /// Records an operation's arguments. It is outstanding until conclude().
  RecordedOperation& record(const Operation& operation, Protocol protocol, Epoch& epoch,
                            Target& target);
  /// Appends an operation to those that wait for the target.
  static void append(Target& target, RecordedOperation& recorded) {
    recorded.age = ++target.recorded;
    target.waiting.append(recorded);
  }
  /// Appends a direct write to those that use no origin memory. Completes its request, unless that
  /// waits for completion at the target.
  static void append_copied(Target& target, RecordedOperation& recorded);
  /// Called when the operation, or a part of it, has ended, perhaps with an error. An error is
  /// reported once, by the first flush or closing call that covers the operation. A local flush
  /// does not cover a copied write.
  void add_error(RecordedOperation& recorded, Error error);
  /// Called when the operation is over for its caller: calls its completion.
  void conclude(RecordedOperation& recorded);
  /// Called when the operation is complete at both sides, or no longer needed.
  void finish(RecordedOperation& recorded, Error error) {
    ++recorded.target->finished;
    add_error(recorded, error);
    conclude(recorded);
  }
  /// The operation of this window that a message's token identifies, or null.
  RecordedOperation* find(std::uint64_t token);
  /// Called when operations to the target may be carried out from now on.
  void mark_granted(Epoch& epoch, Target& target) {
    target.access = Target::Access::granted;
    lock_order_.remove_due_lock(epoch, target);
    events_.step(EventKind::granted, epoch, &target);
  }
  /// Called just before the target is notified that the epoch is over, if the target needs that.
  /// For an exposure epoch: called when the origin has notified this rank.
  void mark_signaled(Epoch& epoch, Target& target) {
    events_.step(EventKind::told, epoch, &target);
    target.signaled = true;
    --epoch.unsignaled;
    // The lock has not been requested, and is no longer needed.
    if (target.access == Target::Access::idle) lock_order_.remove_due_lock(epoch, target);
  }
  /// Called when a direct transfer or an atomic of the operation has ended. True if it was the last
  /// one.
  bool count_transfer(RecordedOperation& recorded, const Transfer& transfer) {
    recorded.received += transfer.bytes;
    add_error(recorded, transfer.error);
    return recorded.received == recorded.operation.bytes();
  }

  /// Counts the notification of a transfer that has ended, which has not been counted as one that
  /// only a reply reports as complete. Flushes that cover the transfer wait for that reply, too.
  static void count_notification(RecordedOperation& ended);
  /// True if a flush waits for a reply that has not been asked for, and the operations that it
  /// covers have no more notifications to send.
  static bool flush_unasked(const Target& target);

  Link& link_of(const RecordedOperation& recorded) { return peers_.link(recorded.target->rank); }

  // Flushes.
  /// The state of a flush after the targets that it has covered so far.
  struct Coverage {
    FlushRequest* request = nullptr;  // null: nothing to wait for yet
    Error error = Error::none;        // of the targets with nothing to wait for
    bool whole = true;                // a flush that is not local has nothing left to wait for
  };
  /// Adds to the flush all that has been issued to the target so far; `local`: until origin buffers
  /// may be reused.
  void cover(Epoch& epoch, Target& target, bool local, Coverage& coverage);
  /// Adds to the flush what these threads, which have no recorded operations, have issued to the
  /// target: by a question for them alone, if they have operations that need an answer. False: the
  /// question cannot be sent now.
  bool cover_threads(Epoch& epoch, Target& target, ThreadSet threads, Coverage& coverage);
  /// The outcome of a flush that has covered all its targets.
  Outcome finish_flush(const Coverage& coverage, Completion* completion);
  /// Completes the target's flushes that have nothing left to wait for there.
  void satisfy_flushes(Target& target);
  bool flushing() const { return flushes_ != 0; }
  /// Called when the flush has nothing left to wait for.
  void release(FlushRequest& request) {
    pools_.flush_requests.release(request);
    --flushes_;
  }
  /// Called when a flush of these threads' operations to the target is over: clears their bits.
  /// Does nothing if `threads` has the bit that several threads share, as all_threads does: another
  /// thread may have issued an operation meanwhile. Window::nothing_pending() clears that bit.
  void mark_flushed(ThreadSet threads, int target) {
    if ((threads & further_threads) != 0) return;
    Published<ThreadSet>& outstanding = peers_[target].outstanding;
    outstanding.store(outstanding.load() & ~threads, std::memory_order_release);
  }

  /// For the hot path of a flush of all targets: true if the flush is permitted now and has nothing
  /// to wait for. False: use Epochs::flush_all(). Needs no lock, as Window::find_address().
  bool all_flushed() const {
    // Acquire: sees what operations of other threads have stored.
    if (!all_flushed_.load(std::memory_order_acquire)) return false;
    order_behind_flush();
    return true;
  }
  /// Called by a flush of all targets: sets all_flushed() if the flush has found nothing to wait
  /// for.
  void mark_all_flushed(const Coverage& coverage);
  /// Called when a flush of all targets may have something to wait for from now on, or may not be
  /// permitted. Relaxed: MPI lets a thread flush another thread's operation only if the program
  /// orders the flush after it.
  void mark_unflushed() {
    if (all_flushed_.load()) all_flushed_.store(false);
  }

  /// Counts the ranks at which operations of weak unlocks are unanswered. `unanswered`: the first
  /// ones at a rank; otherwise, a rank has answered for all of them.
  void count_weak_peer(bool unanswered) {
    unanswered ? ++weak_peers_ : --weak_peers_;
    mark_unflushed();
  }
  /// The number of ranks with EpochPeer::weak_unanswered().
  std::uint64_t weak_peers() const { return weak_peers_; }

 private:
  static Error& unreported_error(const RecordedOperation& recorded);
  FlushRequest& request_of(Coverage& coverage);

  EpochPools& pools_;
  LockOrder& lock_order_;
  EpochPeers& peers_;
  SweepWork& work_;
  const WindowEvents& events_;
  /// Set if, since a flush found nothing to wait for, no operation has taken the general path, none
  /// has been postponed, and no epoch has been closed.
  Published<bool> all_flushed_;
  std::uint64_t weak_peers_ = 0;
  std::uint64_t flushes_ = 0;  // flush requests that wait
};

/// The state that a window's Epochs share with the objects that reach other ranks for them.
struct EpochState {
  EpochState(const WindowEvents& window_events, EpochPeers& window_peers, EpochPools& pools,
             LockOrder& order, SweepWork& sweep_work)
      : events(window_events),
        lock_order(order),
        peers(window_peers),
        work(sweep_work),
        pending(pools, order, peers, work, events) {}

  WindowEvents events;
  LockOrder& lock_order;  // of the process
  EpochPeers& peers;
  FailureReason reason;
  SweepWork& work;
  PendingOperations pending;
};

}  // namespace oriel
