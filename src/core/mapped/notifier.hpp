// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/copies.hpp"
#include "core/epoch/epoch_state.hpp"
#include "core/notify/counters.hpp"
#include "core/notify/notification.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// Delivers notifications to mapped ranks.
class Notifier {
 public:
  Notifier(EpochState& state, Region& region, Counters& counters)
      : pending_(state.pending), region_(region), counters_(counters) {}

  /// Stores one run of bytes at an offset in the target's memory, and notifies the target. The
  /// bytes travel in the notification, and the target stores them, if they are few enough and the
  /// epoch is lasting. False: the target has not been notified, but longer bytes may have
  /// been stored.
  [[gnu::always_inline]] bool put(EpochPeer& peer, const Target& target, const Member& member,
                                  std::uint64_t offset, const void* origin, std::uint64_t bytes,
                                  const NotifyArg& notify_arg) {
    const std::uint8_t left = peer.left.load();
    const bool tag = notify_arg.kind == NotifyKind::tag;
    const bool inlined = left != 0;
    if ((left & ~Left::inlined_stores) != 0 || (tag ? peer.holds_notifications() : inlined)) {
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
    const NotifyOutcome outcome = notify(target.rank, notify_arg, store);
    if (outcome == NotifyOutcome::inlined) {
      mark(peer.left, Left::inlined_stores);
      pending_.note_unflushed();
    }
    return outcome != NotifyOutcome::not_now;
  }

  /// Notifies the rank of an operation that has taken place, and makes `store` or inlines it. The
  /// rank has the counter that `notify_arg` names.
  NotifyOutcome notify(int rank, const NotifyArg& notify_arg, const NotifyStore& store = {}) {
    if (notify_arg.kind == NotifyKind::tag) return region_.notify(rank, notify_arg, store);
    if (store.bytes != 0) short_copy(store.to, store.from, store.bytes);
    counters_.at(rank, notify_arg.number).add();
    region_.wake(rank);
    return NotifyOutcome::stored;
  }

 private:
  PendingOperations& pending_;
  Region& region_;
  Counters& counters_;
};

}  // namespace oriel
