// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "engine/stalls/long_wait.hpp"

namespace oriel {

/// A LongWait, on no window in particular, of a thread that waits without the process lock.
class UnlockedLongWait {
 public:
  explicit UnlockedLongWait(WaitReason reason) : reason_(reason) {}
  ~UnlockedLongWait();
  UnlockedLongWait(const UnlockedLongWait&) = delete;
  UnlockedLongWait& operator=(const UnlockedLongWait&) = delete;

  /// Called after each tenth of a second of the wait. Acquires the process lock.
  void look();
  /// look(), unless another thread holds the process lock.
  void try_look();

 private:
  std::string report();

  WaitReason reason_;
  std::optional<LongWait> wait_;
};

}  // namespace oriel
