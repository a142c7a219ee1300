// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "core/atomics/network_atomics.hpp"
#include "core/base/copies.hpp"
#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/epoch/link.hpp"
#include "core/epoch/pending_operations.hpp"
#include "core/mapped/fence_words.hpp"
#include "core/notify/counters.hpp"
#include "core/notify/notification.hpp"
#include "core/region/aggregation.hpp"
#include "core/region/peer.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// The link of mapped ranks. A protocol step is a store. An operation is carried out at its call if
/// its target is available.
class MappedTargets final : public Link {
 public:
  MappedTargets(EpochState& state, Peers& peers, Region& region, FenceWords& fences,
                NetworkAtomics& atomics, Counters& counters, const Limits& limits)
      : Link(false),
        state_(state),
        peers_(peers),
        region_(region),
        fences_(fences),
        atomics_(atomics),
        counters_(counters),
        limits_(limits) {}

  void expose(int origin, std::uint64_t id, bool no_check) override;
  Outcome issue(const Operation& operation, Epoch& epoch, Target& target) override;
  bool advance(Epoch& epoch, Target& target) override;
  void transferred(RecordedOperation& recorded, const Transfer& transfer) override;
  Error recall(int rank) override { return recall(rank, RecallFor::completion); }
  void recall_all(Epoch& epoch) override;
  void attach_piggyback(Epoch& epoch) override;
  void make_ready(Target& target) override;
  bool loadable(int rank) override { return region_.loadable(rank); }
  int lock_holder(int rank) override { return region_.lock_line(rank).exclusive_holder(); }

  /// For a hot epoch: acquires the lock of a rank, if the rank is mapped and no other rank's lock
  /// conflicts with it.
  bool try_lock(int rank, bool exclusive) {
    return region_.mapped(rank) && fences_.ended_by(rank) && region_.atomics().empty() &&
           region_.lock_line(rank).try_acquire(region_.rank(), exclusive);
  }
  /// Stores one run of bytes at an offset in the target's memory, and notifies the target. The
  /// bytes travel in the notification, and the target stores them, if they are few enough and the
  /// epoch is lasting. False: the target has not been notified, but longer bytes may have
  /// been stored.
  [[gnu::always_inline]] bool put_notified(EpochPeer& peer, const Target& target,
                                           const Member& member, std::uint64_t offset,
                                           const void* origin, std::uint64_t bytes,
                                           const NotifyArg& notify_arg) {
    const std::uint8_t postponed = peer.postponed.load();
    const bool tag = notify_arg.kind == NotifyKind::tag;
    const bool inlined = postponed != 0;
    if ((postponed & ~Postponed::inlined_stores) != 0 ||
        (tag ? peer.holds_notifications() : inlined)) {
      return false;
    }
    const bool loadable = member.loadable();
    NotifyStore store =
        NotifyStore::make(loadable ? member.at_offset(offset) : nullptr, origin, bytes, offset,
                          tag && target.lasting && target.rank != region_.rank());
    if (!loadable && !store.may_inline) return false;
    if (bytes > NotifyStore::most_bytes) {
      const auto* from = static_cast<const std::byte*>(origin);
      const auto* to = static_cast<const std::byte*>(store.to);
      const bool overlap = from < to + bytes && to < from + bytes;
      if (inlined || overlap) return false;
      std::memmove(store.to, origin, bytes);
      store.bytes = 0;
    }
    store.after_inlined = inlined;
    const NotifyOutcome outcome = store_notification(target.rank, notify_arg, store);
    if (outcome == NotifyOutcome::inlined) {
      mark(peer.postponed, Postponed::inlined_stores);
      state_.pending.mark_unflushed();
    }
    return outcome != NotifyOutcome::not_now;
  }
  /// Aggregates a short put or get of the rank's private memory; the target is available. True if
  /// the operation has been postponed, to be sent with others. Only called if the program uses one
  /// thread, which has the process's lock.
  bool aggregate(int rank, bool write, std::uint64_t address, void* local, std::uint64_t bytes);
  /// Sends all aggregated operations. True if there were any.
  bool push_aggregations();

 private:
  Outcome issue_atomic(const Operation& operation, Epoch& epoch, Target& target);
  /// Called when the bytes of an operation have been moved; advance() notifies the target. If the
  /// operation is in `waiting` already, it keeps its position there.
  void hold_notification(RecordedOperation& recorded);
  /// Called before an operation to the rank: inlined stores and aggregated operations take effect
  /// first. MPI promises no order of puts, but all known hosts keep it.
  Error keep_order(int rank);
  Error recall(int rank, RecallFor reason);
  void begin_early(Target& target);
  void continue_with(Target& target, RecordedOperation& recorded, bool notified);
  bool carry_out(RecordedOperation& recorded);
  static bool notifies(const Target& target);
  bool copied_in_pieces(const RecordedOperation& recorded) const;
  Error perform(const Operation& operation);
  Error copy_piece(RecordedOperation& recorded);
  Error before(const Operation& operation);
  Error report(const Operation& operation, Error error);
  void set_reason(Error error);
  Error finish_recall(int rank);
  void push(int rank);
  void release_aggregation(Peer& peer);
  Error collect_error(int rank);
  bool inline_put(const Operation& operation, const Target& target);
  bool notify_now(const Operation& operation);
  /// Notifies the rank of an operation that has taken effect, and makes `store` or inlines it. The
  /// rank has the counter that `notify_arg` names.
  NotifyOutcome store_notification(int rank, const NotifyArg& notify_arg,
                                   const NotifyStore& store = {}) {
    if (notify_arg.kind == NotifyKind::tag) return region_.notify(rank, notify_arg, store);
    if (store.bytes != 0) short_copy(store.to, store.from, store.bytes);
    counters_.at(rank, notify_arg.number).add();
    region_.wake(rank);
    return NotifyOutcome::stored;
  }
  bool notify(int rank, const NotifyArg& notify_arg);
  bool send_held_notification(const RecordedOperation& recorded);
  bool acquire(Epoch& epoch, Target& target);
  bool acquire_lock(Epoch& epoch, Target& target);
  void request_lock(Epoch& epoch, Target& target);
  bool check_grant(Target& target);
  bool end_access(Epoch& epoch, Target& target);

  EpochState& state_;
  Peers& peers_;
  Region& region_;
  FenceWords& fences_;
  NetworkAtomics& atomics_;
  Counters& counters_;
  const Limits& limits_;
  std::deque<Aggregation> aggregations_;  // as many as have ever been used at one time
  std::vector<Aggregation*> spare_;       // those of aggregations_ that are not in use
  std::vector<int> aggregating_;          // ranks whose aggregations are not empty
};

}  // namespace oriel
