// SPDX-License-Identifier: BSD-3-Clause
#include "core/mapped/fence_words.hpp"

#include <algorithm>
#include <vector>

namespace oriel {

void FenceWords::wake_all() {
  for (const int rank : region_.mapped_ranks()) region_.wake(rank);
}

void FenceWords::announce(std::uint64_t call) {
  if (few()) {
    for (const int rank : region_.mapped_ranks()) {
      region_.slot_at(rank).fence.store(call, std::memory_order_release);
      region_.wake(rank);
    }
    return;
  }
  if (watched(region_.rank()).announce(call)) wake_all();
}

bool FenceWords::watch_announced(Target& target, std::uint64_t call) {
  bool here = announced(target.rank, call);
  if (few() || here == !target.watching) return here;
  WatchedWord word = watched(target.rank);
  if (here) {
    word.unwatch();
  } else {
    here = word.watch(call);
  }
  target.watching = !here;
  return here;
}

bool FenceWords::end(Epoch& epoch) {
  // A renewed epoch keeps its targets.
  if (epoch.closed && (epoch.unsignaled != 0 || epoch.attention != 0)) return false;
  if (few()) {
    if (!epoch.announced) announce(epoch.closing_call);
    epoch.announced = true;
    while (epoch.awaited < region_.ranks() && announced(epoch.awaited, epoch.closing_call)) {
      ++epoch.awaited;
    }
    return epoch.awaited == region_.ranks();
  }
  FenceTree tree = region_.member(0).control->fence_tree();
  if (!epoch.announced) {
    epoch.announced = true;
    announce(epoch.closing_call);
    if (tree.arrive(static_cast<std::size_t>(region_.rank()), ++closing_)) wake_all();
  }
  return tree.over(closing_);
}

void FenceWords::find_late(std::uint64_t closing_call, std::vector<int>& late) {
  for (int rank = 0; rank < region_.ranks(); ++rank) {
    if (!announced(rank, closing_call)) late.push_back(rank);
  }
}

bool FenceWords::depart() {
  // At the end of the last fence peers store their announcements into our words.
  if (few()) {
    return std::ranges::all_of(region_.mapped_ranks(), [this](int rank) { return ended_by(rank); });
  }
  if (closing_ == 0) return true;
  FenceTree tree = region_.member(0).control->fence_tree();
  if (!departed_) {
    departed_ = true;
    tree.depart();
    region_.wake(0);
  }
  return region_.rank() != 0 || tree.all_departed();
}

}  // namespace oriel
