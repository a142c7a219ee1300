// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/stalls/unlocked_long_wait.hpp"

namespace oriel {

/// Exists while a thread is in a blocking call of the host's whose progress engine calls Oriel's
/// hook. The thread that runs the hook checks the long waits of all threads, because the others may
/// sleep in the host.
class HookedWait {
 public:
  HookedWait(Engine& engine, WaitReason reason);
  ~HookedWait();
  HookedWait(const HookedWait&) = delete;
  HookedWait& operator=(const HookedWait&) = delete;

  /// Called by the hook, on any thread. Does not wait for the process lock, because the thread may
  /// hold locks of the host's.
  static void look_at_all();

 private:
  UnlockedLongWait wait_;
  std::uint64_t looked_;
  HookedWait* next_;  // in the list of the process's hooked waits
};

}  // namespace oriel
