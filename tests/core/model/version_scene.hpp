// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/base/published.hpp"
#include "scenarios.hpp"

namespace oriel::model {

/// The first rank changes words, which hold the number of the change; the others read them.
/// (Threads are ranks here.)
class VersionScene final : public Scene {
 public:
  VersionScene(int changes, int readers, int looks);

  std::string description() const override;

 private:
  int ranks() const override { return 1 + readers_; }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  void change();
  void look();

  int changes_;
  int readers_;
  int looks_;
  BasicVersion<Atomic> version_;
  std::array<Atomic<std::uint64_t>, 2> words_;
  Atomic<std::uint64_t> announced_;  // changes made
};

}  // namespace oriel::model
