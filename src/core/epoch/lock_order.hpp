// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/published.hpp"
#include "core/base/thread_lines.hpp"
#include "core/epoch/epoch.hpp"
#include "core/epoch/epoch_peer.hpp"
#include "core/operation/operation.hpp"

namespace oriel {

class Epochs;

/// The locks of the open epochs of a process that are to be requested, or have been requested and
/// are not held yet, over all its windows. A lock is requested at its target when the process holds
/// the locks of all epochs that the same thread opened earlier and had not closed then (E18). So
/// ranks that lock in one order do not deadlock: docs/protocols.md, "The order of locks".
///
/// The lock of a lock epoch is due from the opening of the epoch until it is granted; each lock of
/// a lock_all epoch from the first operation to the target until it is granted. Locks with NOCHECK
/// are never due. Epochs are in the order of their opening. The process lock serializes all calls.
class LockOrder {
 public:
  /// Gives an epoch its position behind all others of the thread. `thread`: that of the program's
  /// call; no_threads: the epoch is in no order, as for Oriel's own locks.
  void assign_position(Epoch& epoch, Epochs& owner, ThreadSet thread);

  /// True if no lock of any thread is due.
  bool empty() const { return epochs_.load() == 0; }
  /// True if an open epoch of some thread has due locks. Locks of epochs that are opened later must
  /// not be requested before.
  bool any_open() const { return open_epochs_ != 0; }
  /// Makes the target's lock due. True if this process may request it now. `peer`: the target; an
  /// earlier epoch of ours may have our entry in its queue.
  bool may_request(Epoch& epoch, Target& target, const EpochPeer& peer) {
    add_due_lock(epoch, target);
    return peer.may_lock(epoch) && permits(epoch);
  }
  bool permits(const Epoch& epoch) const { return empty() || first_before(epoch) == nullptr; }
  /// The first epoch whose locks must be granted before those of `epoch` are requested, or null.
  const Epoch* first_before(const Epoch& epoch) const;

  /// True if an earlier epoch in the order still lacks locks, and a nonblocking call has opened or
  /// closed that epoch, or an epoch of its window that must end first.
  bool behind_nonblocking(const Epoch& epoch) const;

  /// Makes the target's lock due.
  void add_due_lock(Epoch& epoch, Target& target);
  /// Called when the lock has been granted, or the target no longer needs it.
  void remove_due_lock(Epoch& epoch, Target& target) {
    if (!target.lock_due) [[likely]]
      return;
    target.lock_due = false;
    if (--epoch.locks_due == 0) unlink(epoch);
  }
  /// Called when the program has closed the epoch.
  void mark_closed(Epoch& epoch);
  /// Called when the epoch is over, whether or not its locks were granted.
  void remove_epoch(Epoch& epoch) {
    if (epoch.locks_due == 0) [[likely]]
      return;
    epoch.locks_due = 0;
    unlink(epoch);
  }

  /// Requests the locks of open epochs that may be requested now. Those of closed epochs are
  /// requested by the sweeps of their windows. True if anything moved.
  bool sweep();

 private:
  static const Epoch* within(const Epoch& epoch);
  void drop_from_queue(Epoch& epoch);
  void unlink(Epoch& epoch);

  /// For each thread with a line, and for all_threads: its open epochs with due locks, in the order
  /// of opening.
  std::array<EpochsByLockOrder, ThreadLines::most + 1> queues_;
  std::size_t queues_used_ = 0;  // only the first ones have been used
  std::uint64_t entered_ = 0;
  Published<std::uint64_t> epochs_;  // number of epochs with due locks
  std::uint64_t open_epochs_ = 0;    // those in queues_
};

}  // namespace oriel
