// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/lock/biased_lock.hpp"
#include "scenarios.hpp"

namespace oriel::model {

/// Two threads, which are ranks here: the first one takes the lock all the time, the second one
/// seldom.
class BiasedScene final : public Scene {
 public:
  /// `usual`: a: acquires it; t: tries to. `seldom`: so many tries.
  BiasedScene(std::string usual, int seldom, bool asymmetric);

  std::string description() const override;

 private:
  int ranks() const override { return 2; }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  void take();

  std::string usual_;
  int seldom_;
  bool asymmetric_;
  BasicBiasedLock<Words> lock_;
  std::vector<Sharers> sharers_;
  Plain<std::uint32_t> sum_;
  std::array<Atomic<std::uint32_t>, 2> taken_;
};

}  // namespace oriel::model
