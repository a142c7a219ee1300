// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/epoch/epoch.hpp"

namespace oriel {

/// How the fences of a window reach all its ranks: by words if all ranks are mapped (FenceWords),
/// by messages otherwise (CountedFence). All ranks of a window have the same one.
class Fence {
 public:
  /// True if a closing fence takes steps of all ranks. Every fence without MPI_MODE_NOPRECEDE then
  /// closes, whichever form of the call each rank uses.
  bool counted() const { return counted_; }
  /// True if a fence epoch may be renewed instead of closed and opened.
  bool renews() const { return renews_; }

  /// Called when a fence epoch, opened by fence call `call`, is active. `announce`: no closing
  /// fence has announced that call.
  virtual void open(std::uint64_t call, bool announce) = 0;
  /// Advances a closing fence, whose epoch is closed or to be renewed; true when the fence is over.
  virtual bool end(Epoch& epoch) = 0;
  /// True if the rank is known not to have entered the closing fence of this number.
  virtual bool outside(int rank, std::uint64_t closing_call) = 0;

 protected:
  Fence(bool counted, bool renews) : counted_(counted), renews_(renews) {}
  ~Fence() = default;

 private:
  bool counted_;
  bool renews_;
};

}  // namespace oriel
