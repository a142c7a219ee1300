// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace oriel::boundary {

/// Our place in the host's progress engine: while the host waits, we sweep (E10). Where the host
/// has none to offer, its usual blocking calls are interposed instead (blocking.cpp).
class Progress {
 public:
  /// Registers with the host; at the first window, so that programs without any pay nothing.
  void start();
  /// Before the host is finalized.
  void stop();
  bool hooked() const { return hooked_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> hooked_{false};
};

extern Progress progress;

/// Called when a poll found nothing: with more ranks than processors on the node, gives the
/// processor away now and then.
void considerate_poll();

}  // namespace oriel::boundary
