// SPDX-License-Identifier: BSD-3-Clause
#include "biased_scene.hpp"

#include <utility>

namespace oriel::model {

BiasedScene::BiasedScene(std::string usual, int seldom, bool asymmetric)
    : usual_(std::move(usual)), seldom_(seldom), asymmetric_(asymmetric), lock_(asymmetric) {
  for (int rank = 0; rank < 2; ++rank) sharers_.emplace_back(rank, asymmetric);
}

std::string BiasedScene::description() const {
  return "biased lock " + usual_ + " | " + std::to_string(seldom_) + " tries" +
         (asymmetric_ ? "" : ", fences on both sides");
}

void BiasedScene::name_words(Programs& programs) {
  lock_.held_word().name(programs, "held");
  lock_.trying_word().name(programs, "trying");
  sum_.name(programs, "sum");
  for (std::size_t i = 0; i < 2; ++i) taken_[i].name(programs, "taken[" + std::to_string(i) + "]");
}

void BiasedScene::play(int rank) {
  std::uint32_t times = 0;
  if (rank == 0) {
    for (const char what : usual_) {
      if (what == 'a') {
        lock_.acquire([] {});
      } else if (!lock_.try_acquire()) {
        continue;
      }
      sum_ += 1;
      ++times;
      lock_.release();
      forget(times);
    }
  } else {
    for (int i = 0; i < seldom_; ++i) {
      if (lock_.try_acquire_seldom([&] { sharers_[1].fence(); })) {
        sum_ += 1;
        ++times;
        lock_.release_seldom();
      }
      forget(static_cast<std::uint64_t>(i) << 8 | times);
    }
  }
  taken_[static_cast<std::size_t>(rank)].store(times, std::memory_order_relaxed);
}

std::string BiasedScene::check_end(State& state, Programs& programs) {
  std::uint64_t taken = 0;
  for (const auto& times : taken_) taken += state.latest(programs.atomic(&times));
  return state.fixed.plain[programs.plain(&sum_)] == taken ? "" : "both were in at a time";
}

}  // namespace oriel::model
