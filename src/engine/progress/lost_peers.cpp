// SPDX-License-Identifier: BSD-3-Clause
#include "engine/progress/lost_peers.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace oriel {

EngineFailure look_for_lost_peers(Process& process, Window& window) {
  const int rank = window.epochs().lost_peer();
  if (rank >= 0) return lost_rank(window, rank);
  // The lock that must be granted first may be one of another window, with other ranks.
  const std::uint32_t number = window.epochs().window_of_earlier_lock();
  Window* earlier = number != 0 ? process.find_window(number) : nullptr;
  if (earlier == nullptr || earlier == &window) return {};
  const int rank_there = earlier->epochs().lost_peer();
  if (rank_there < 0) return {};
  return said(Error::peer_lost,
              "rank " + std::to_string(rank_there) + " of " +
                  (earlier->name().empty() ? "another window" : "window " + earlier->name()) +
                  ", whose lock was asked for earlier, has ended, so this call "
                  "cannot complete");
}

EngineFailure look_for_any_lost(Window& window) {
  const int rank = window.epochs().lost_source(-1);
  return rank >= 0 ? lost_rank(window, rank) : EngineFailure();
}

EngineFailure lost_rank(Window& window, int rank) {
  if (const std::string reason = window.loss_reason(rank); !reason.empty()) {
    return said(Error::peer_lost, "rank " + std::to_string(rank) +
                                      " of the window cannot be reached, so this call cannot "
                                      "complete: " +
                                      reason);
  }
  return said(Error::peer_lost, "rank " + std::to_string(rank) + " of the window has ended" +
                                    (!window.member(rank).mapped() ? " or cannot be reached" : "") +
                                    ", so this call cannot complete");
}

int LostSources::of(Window& window, int source) {
  const auto [looked, unseen] = known_.try_emplace({&window, source}, -1);
  if (unseen) looked->second = window.epochs().lost_source(source);
  return looked->second;
}

bool LostSources::awaited(Window& window) {
  const auto [looked, unseen] = awaited_.try_emplace(&window, false);
  if (unseen) looked->second = bool(look_for_lost_peers(process_, window));
  return looked->second;
}

bool LostSources::all_heard() {
  if (!std::exchange(swept_, true)) process_.sweep();
  return !process_.transport().node().notifications_due();
}

}  // namespace oriel
