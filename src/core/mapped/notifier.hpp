// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/short_copy.hpp"
#include "core/notify/counters.hpp"
#include "core/notify/notification.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// Delivers notifications to mapped ranks.
class Notifier {
 public:
  Notifier(Region& region, Counters& counters) : region_(region), counters_(counters) {}

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
  Region& region_;
  Counters& counters_;
};

}  // namespace oriel
