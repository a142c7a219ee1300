// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/published.hpp"
#include "core/epoch/epoch.hpp"
#include "core/epoch/epoch_peer.hpp"
#include "core/epoch/events.hpp"
#include "core/epoch/lock_order.hpp"
#include "core/epoch/peer_interface.hpp"
#include "core/epoch/pools.hpp"
#include "core/epoch/sweep_work.hpp"
#include "core/operation/order.hpp"

namespace oriel {

/// The operations that one rank has issued on one window and that are not finished: those recorded,
/// of all epochs, and the flushes that wait for them (E9).
///
/// Epochs decide when an operation may be carried out, and the objects that reach other ranks
/// report here what has become of it. Not thread-safe, but for what Published words say.
class PendingOperations {
 public:
  PendingOperations(EpochPools& pools, LockOrder& lock_order, EpochPeers& peers,
                    PeerInterface& peer_interface, SweepWork& work, const WindowEvents& events)
      : pools_(pools),
        lock_order_(lock_order),
        peers_(peers),
        peer_interface_(peer_interface),
        work_(work),
        events_(events) {}

  // Operations.
  /// Takes an operation's arguments down; it counts as outstanding until conclude().
  RecordedOperation& record(const Operation& operation, Protocol protocol, Epoch& epoch,
                            Target& target);
  /// To the end of the target's waiting ones.
  static void append(Target& target, RecordedOperation& recorded) {
    recorded.age = ++target.recorded;
    target.waiting.append(recorded);
  }
  /// The operation, or a part of it, has come to an end, with an error perhaps. The first flush or
  /// closing call that asks reports what has failed, and no later one.
  void note(RecordedOperation& recorded, Error error);
  /// Its caller need not wait any more.
  void conclude(RecordedOperation& recorded);
  /// It is complete at both sides, or not needed any more.
  void finish(RecordedOperation& recorded, Error error) {
    ++recorded.target->finished;
    note(recorded, error);
    conclude(recorded);
  }
  /// The one of this window that a message names; null: there is none.
  RecordedOperation* find(std::uint64_t token);
  /// Operations to it may be carried out.
  void note_granted(Epoch& epoch, Target& target) {
    target.access = Target::Access::granted;
    lock_order_.remove_due_lock(epoch, target);
    events_.granted(epoch, target);
  }
  /// The target has been told that the epoch is over, or needs not be.
  void note_told(Epoch& epoch, Target& target) {
    events_.told(epoch, target);
    target.told = true;
    --epoch.untold;
    // Not requested, and not needed any more.
    if (target.access == Target::Access::idle) lock_order_.remove_due_lock(epoch, target);
  }
  /// For what the network reports of an operation.
  PeerInterface& peer_interface() { return peer_interface_; }

  // Flushes.
  /// The findings of a flush at the targets it has covered so far.
  struct Coverage {
    FlushRequest* request = nullptr;  // where it has to wait
    Error error = Error::none;        // elsewhere
    bool whole = true;                // nothing of theirs is left for a flush that is not local
  };
  /// Lets the flush cover what has been issued to the target so far; `local`: until origin buffers
  /// may be reused.
  void cover(Epoch& epoch, Target& target, bool local, Coverage& coverage);
  /// The same by a question of threads of which nothing is recorded. False: it cannot be asked now.
  bool cover_alone(Epoch& epoch, Target& target, Coverage& coverage);
  /// The outcome of a flush that has covered all its targets.
  Outcome finish_flush(const Coverage& coverage, Completion* completion);
  /// Tells the flushes that waited for the target and need not any more.
  void satisfy_flushes(Target& target);
  bool flushing() const { return flushes_ != 0; }
  /// Nothing is left that a flush waits for.
  void release(FlushRequest& request) {
    pools_.flush_requests.release(request);
    --flushes_;
  }
  /// A flush of these threads' operations to the target is over. Nothing is noted of threads that
  /// share a bit, nor of all_threads, which has that bit: another one may have issued an operation
  /// meanwhile. Window::nothing_pending() clears it.
  void note_flushed(ThreadSet threads, int target) {
    if ((threads & further_threads) != 0) return;
    Published<ThreadSet>& outstanding = peers_[target].outstanding;
    outstanding.store(outstanding.load() & ~threads, std::memory_order_release);
  }

  /// The hot path's question of a flush of all targets: one that is allowed now has nothing to wait
  /// for. False: use Epochs::flush_all(). Without the lock, as Window::find_mapped().
  bool all_flushed() const {
    // Acquire: what other threads have finished.
    if (!all_flushed_.load(std::memory_order_acquire)) return false;
    order_behind_flush();
    return true;
  }
  /// A flush of all targets has found this.
  void note_all_flushed(const Coverage& coverage);
  /// A flush of all targets may have something to wait for, or may not be allowed any more.
  /// Relaxed: MPI lets a thread flush what another one has issued only behind it, by an order of
  /// the program's own.
  void note_unflushed() {
    if (all_flushed_.load()) all_flushed_.store(false);
  }

  /// A weak unlock has left operations at a rank that had none of these, or a rank has answered
  /// for all of its.
  void note_weak_left(bool left) {
    left ? ++weak_peers_ : --weak_peers_;
    note_unflushed();
  }
  /// How many ranks have been left operations by weak unlocks: EpochPeer::weak_left().
  std::uint64_t weak_peers() const { return weak_peers_; }

 private:
  FlushRequest& request_of(Coverage& coverage);

  EpochPools& pools_;
  LockOrder& lock_order_;
  EpochPeers& peers_;
  PeerInterface& peer_interface_;
  SweepWork& work_;
  const WindowEvents& events_;
  /// Since a flush has found nothing to wait for, nothing has gone the general path, nothing has
  /// been left (Left), and no epoch has been closed.
  Published<bool> all_flushed_;
  std::uint64_t weak_peers_ = 0;
  std::uint64_t flushes_ = 0;  // requests that wait
};

}  // namespace oriel
