// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/lock/biased_lock.hpp"
#include "scenarios.hpp"

namespace oriel::model {

/// Threads, which are ranks here: the first one takes the lock all the time, the others seldom.
class BiasedScene final : public Scene {
 public:
  using Scripts = std::vector<std::string>;

  /// Of each thread. a: acquires it; t: tries to; r: revokes it, which is the last.
  BiasedScene(Scripts scripts, bool asymmetric);

  std::string description() const override;

 private:
  int ranks() const override { return static_cast<int>(scripts_.size()); }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  bool enter(int rank, char what, bool& revoked);

  Scripts scripts_;
  bool asymmetric_;
  BasicBiasedLock<Words> lock_;
  std::vector<Sharers> sharers_;
  Plain<std::uint32_t> sum_;
  std::array<Atomic<std::uint32_t>, most_ranks> taken_;
};

}  // namespace oriel::model
