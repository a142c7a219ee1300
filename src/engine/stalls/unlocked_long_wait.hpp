// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "engine/stalls/long_wait.hpp"

namespace oriel {

/// A LongWait, on no window in particular, of a thread that waits without the process lock.
class UnlockedLongWait {
 public:
  /// `frames`: those of the thread that waits; empty: the thread calls look() itself.
  UnlockedLongWait(Engine& engine, WaitReason reason, const CallFrames& frames = {})
      : engine_(engine), reason_(reason), frames_(frames) {}
  ~UnlockedLongWait();
  UnlockedLongWait(const UnlockedLongWait&) = delete;
  UnlockedLongWait& operator=(const UnlockedLongWait&) = delete;

  /// Called after each tenth of a second of the wait. Acquires the process lock.
  void look();
  /// look() for a caller that must not wait for the lock: returns the report instead of writing it.
  /// Empty if there is none, or another thread holds the process lock.
  std::string try_report();

 private:
  std::string report();

  Engine& engine_;
  WaitReason reason_;
  CallFrames frames_;
  std::optional<LongWait> wait_;
};

}  // namespace oriel
