// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/base/limits.hpp"
#include "core/epoch/epoch.hpp"
#include "core/region/region.hpp"
#include "core/remote/message.hpp"
#include "core/remote/sender.hpp"
#include "core/transport/messages.hpp"

namespace oriel {

/// Long puts and gets that the network moves between the origin's buffer and the exposed memory of
/// a remote target (Protocol::direct). The target's Server takes no part.
class DirectTransfers {
 public:
  DirectTransfers(Region& region, Messages& messages, const Limits& limits, Sender& sender)
      : region_(region), messages_(messages), limits_(limits), sender_(sender) {}

  /// Gives the network as much of the operation as it accepts. True if it has accepted all. The
  /// target is available.
  bool transmit(RecordedOperation& recorded);
  /// Notes that a transfer of an operation is over; `last`: the operation is over, too.
  static void note_end(RecordedOperation& recorded, bool last);

 private:
  Message notification_behind(const Operation& operation);

  Region& region_;
  Messages& messages_;
  const Limits& limits_;
  Sender& sender_;
};

}  // namespace oriel
