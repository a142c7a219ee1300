// SPDX-License-Identifier: BSD-3-Clause
#include "version_scene.hpp"

namespace oriel::model {

VersionScene::VersionScene(int changes, int readers, int looks)
    : changes_(changes), readers_(readers), looks_(looks) {}

std::string VersionScene::description() const {
  return "version " + std::to_string(changes_) + " changes | " + std::to_string(readers_) + " x " +
         std::to_string(looks_) + " looks";
}

void VersionScene::name_words(Programs& programs) {
  const auto own = [&](const Atomic<std::uint64_t>& word, const std::string& name) {
    word.name(programs, name);
    word.give(programs, 0);
  };
  own(version_.word(), "version");
  own(words_[0], "first");
  own(words_[1], "second");
  own(announced_, "announced");
}

void VersionScene::play(int rank) {
  if (rank == 0) {
    change();
  } else {
    look();
  }
}

void VersionScene::change() {
  for (int made = 1; made <= changes_; ++made) {
    const auto value = static_cast<std::uint64_t>(made);
    version_.change([&] {
      for (Atomic<std::uint64_t>& word : words_) word.store(value, std::memory_order_release);
    });
    announced_.store(value, std::memory_order_release);
  }
}

void VersionScene::look() {
  std::uint64_t last = 0;
  for (int turn = 0; turn < looks_; ++turn) {
    const std::uint64_t made_before = announced_.load(std::memory_order_acquire);
    const std::uint64_t looked = version_.begin_read();
    const std::uint64_t first = words_[0].load(std::memory_order_acquire);
    const std::uint64_t second = words_[1].load(std::memory_order_acquire);
    if (version_.is_unchanged(looked)) {
      expect(first == second, "words of two changes were taken for one");
      expect(looked == 2 * first, "the version is not that of the words");
      expect(made_before <= first && last <= first, "what is read was true before the look");
      last = first;
    }
    forget(static_cast<std::uint64_t>(turn) << 32 | last);
  }
}

std::string VersionScene::check_end(State& state, Programs& programs) {
  const auto made = static_cast<std::uint64_t>(changes_);
  return state.latest(programs.atomic(&version_.word())) == 2 * made &&
                 state.latest(programs.atomic(words_.data())) == made
             ? ""
             : "changes were lost";
}

}  // namespace oriel::model
