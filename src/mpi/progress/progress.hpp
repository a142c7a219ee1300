// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace oriel::mpi {

/// Oriel's hook in the host's progress engine, by which it sweeps while the host waits (E10). If
/// the host takes no hook, Oriel interposes the host's blocking calls instead (waits.hpp).
class Progress {
 public:
  /// Registers the hook; at the first window, so that programs without windows pay nothing.
  void start();
  /// Called before the host is finalized.
  void stop();
  bool hooked() const { return hooked_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> hooked_{false};
};

extern Progress progress;

}  // namespace oriel::mpi
