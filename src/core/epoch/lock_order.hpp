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
/// The lock of a lock epoch is due from the opening of the epoch, those of a lock_all epoch from
/// the first operation to each target, until they are granted. Locks with NOCHECK are never due.
/// Epochs stand in the order of their opening. The process lock serializes all calls.
class LockOrder {
 public:
  /// Gives an epoch its place behind all others of the thread. `thread`: that of the program's
  /// call; no_threads: the epoch is in no order, as Oriel's own locks are.
  void assign_place(Epoch& epoch, Epochs& owner, ThreadSet thread);

  /// True if no lock of any thread is due.
  bool empty() const { return epochs_.load() == 0; }
  /// Whether the target's lock may be requested now, as far as this process is concerned; it is due
  /// from now on. `peer`: the target, where an earlier epoch of ours may have our place in the
  /// queue.
  bool may_request(Epoch& epoch, Target& target, const EpochPeer& peer) {
    add_due_lock(epoch, target);
    return peer.may_lock(epoch) && permits(epoch);
  }
  bool permits(const Epoch& epoch) const { return empty() || first_before(epoch) == nullptr; }
  /// The first of the epochs whose locks the epoch has to wait for; null: it may request its own.
  const Epoch* first_before(const Epoch& epoch) const;

  /// The target's lock is due.
  void add_due_lock(Epoch& epoch, Target& target);
  /// The lock has been granted, or the target needs it no more.
  void remove_due_lock(Epoch& epoch, Target& target) {
    if (!target.lock_due) [[likely]]
      return;
    target.lock_due = false;
    if (--epoch.locks_due == 0) unlink(epoch);
  }
  /// The program has closed the epoch.
  void note_closed(Epoch& epoch);
  /// The epoch is over, whatever became of its locks.
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
  static void insert(EpochsByLockOrder& queue, Epoch& epoch);
  void unlink(Epoch& epoch);

  /// One list for each thread with a line: its open epochs with due locks, in the order of opening.
  std::array<EpochsByLockOrder, ThreadLines::most + 1> queues_;
  std::size_t queues_used_ = 0;  // the first so many
  std::uint64_t entered_ = 0;
  Published<std::uint64_t> epochs_;  // with locks that are due
};

}  // namespace oriel
