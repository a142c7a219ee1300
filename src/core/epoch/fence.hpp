// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/epoch/epoch.hpp"

namespace oriel {

/// How the fences of a window reach all its ranks: by words if all ranks are mapped (FenceWords),
/// by messages otherwise (CountedFence). The kind is the same on all ranks of a window.
class Fence {
 public:
  /// True if closing fences are counted, by a FenceTree or by messages. All ranks must then agree
  /// on which fences close: those without MPI_MODE_NOPRECEDE, in blocking and nonblocking calls.
  bool counted() const { return counted_; }
  /// True if a fence epoch may be renewed instead of closed and opened.
  bool renews() const { return renews_; }

  /// Called when the epoch that fence call `call` opened is active. `announce`: that call did not
  /// close an epoch, so no closing fence has announced it.
  virtual void open(std::uint64_t call, bool announce) = 0;
  /// Advances a closing fence, whose epoch is closed or to be renewed; true when the fence is over.
  virtual bool end(Epoch& epoch) = 0;
  /// Appends the ranks that are known not to have entered the closing fence of this number. Called
  /// repeatedly during a long wait, because reports of remote ranks take time.
  virtual void find_late(std::uint64_t closing_call, std::vector<int>& late) = 0;

 protected:
  Fence(bool counted, bool renews) : counted_(counted), renews_(renews) {}
  ~Fence() = default;

 private:
  bool counted_;
  bool renews_;
};

}  // namespace oriel
