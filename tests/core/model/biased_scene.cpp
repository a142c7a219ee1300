// SPDX-License-Identifier: BSD-3-Clause
#include "biased_scene.hpp"

#include <utility>

namespace oriel::model {

BiasedScene::BiasedScene(Scripts scripts, bool asymmetric)
    : scripts_(std::move(scripts)), asymmetric_(asymmetric), lock_(asymmetric) {
  for (int rank = 0; rank < ranks(); ++rank) sharers_.emplace_back(rank, asymmetric);
}

std::string BiasedScene::description() const {
  std::string all = "biased lock";
  for (const std::string& script : scripts_)
    all += (&script == &scripts_[0] ? " " : " | ") + script;
  return all + (asymmetric_ ? "" : ", fences on both sides");
}

void BiasedScene::name_words(Programs& programs) {
  lock_.held_word().name(programs, "held");
  lock_.trying_word().name(programs, "trying");
  sum_.name(programs, "sum");
  for (std::size_t i = 0; i < scripts_.size(); ++i)
    taken_[i].name(programs, "taken[" + std::to_string(i) + "]");
}

/// Whether the rank may add to the sum.
bool BiasedScene::enter(int rank, char what, bool& revoked) {
  if (rank == 0) {
    if (what == 't') return lock_.try_acquire();
    revoked = !lock_.acquire([] {});
    return !revoked;
  }
  const auto fence = [&] { sharers_[static_cast<std::size_t>(rank)].fence(); };
  if (what == 't') return lock_.try_acquire_seldom(fence);
  lock_.revoke(fence, [] {});
  return revoked = true;
}

void BiasedScene::play(int rank) {
  const auto own = static_cast<std::size_t>(rank);
  std::uint32_t times = 0;
  bool revoked = false;
  for (std::size_t i = 0; i < scripts_[own].size() && !revoked; ++i) {
    if (enter(rank, scripts_[own][i], revoked)) {
      sum_ += 1;
      ++times;
      if (!revoked) rank == 0 ? lock_.release() : lock_.release_seldom();
    }
    forget(i << 8 | times);
  }
  taken_[own].store(times, std::memory_order_relaxed);
}

std::string BiasedScene::check_end(State& state, Programs& programs) {
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < scripts_.size(); ++i)
    taken += state.latest(programs.atomic(&taken_[i]));
  return state.fixed.plain[programs.plain(&sum_)] == taken ? "" : "both were in at a time";
}

}  // namespace oriel::model
