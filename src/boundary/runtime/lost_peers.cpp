// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime/lost_peers.hpp"

#include <string>
#include <utility>

#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

Failure look_for_lost_peers(const WindowState& window) {
  // A check would lose messages: once asked about a process that has ended, a network drops
  // messages of that process that it has not read yet.
  if (window.forgiven_looks > 0) {
    --window.forgiven_looks;
    return {};
  }
  const int rank = window.core->epochs().lost_peer();
  if (rank >= 0) return lost_rank(window, rank);
  // The lock that must be granted first may be one of another window, with other ranks.
  const std::uint32_t number = window.core->epochs().window_of_earlier_lock();
  Window* earlier = number != 0 ? engine.running()->process.find_window(number) : nullptr;
  if (earlier == nullptr || earlier == window.core) return {};
  const int rank_there = earlier->epochs().lost_peer();
  if (rank_there < 0) return {};
  return said(MPI_ERR_OTHER,
              "rank " + std::to_string(rank_there) + " of " +
                  (earlier->name().empty() ? "another window" : "window " + earlier->name()) +
                  ", whose lock was asked for earlier, has ended, so this call "
                  "cannot complete");
}

Failure look_for_any_lost(const WindowState& window) {
  const int rank = window.core->epochs().lost_source(-1);
  return rank >= 0 ? lost_rank(window, rank) : Failure();
}

Failure lost_rank(const WindowState& window, int rank) {
  return said(MPI_ERR_OTHER,
              "rank " + std::to_string(rank) + " of the window has ended" +
                  (window.core->member(rank).control == nullptr ? " or cannot be reached" : "") +
                  ", so this call cannot complete");
}

int LostSources::of(const WindowState& window, int source) {
  const auto [looked, unseen] = known_.try_emplace({&window, source}, -1);
  if (unseen) looked->second = window.core->epochs().lost_source(source);
  return looked->second;
}

bool LostSources::all_heard() {
  Process& process = engine.running()->process;
  if (!std::exchange(swept_, true)) process.sweep();
  return !process.transport().node().notifications_due();
}

}  // namespace oriel::boundary
