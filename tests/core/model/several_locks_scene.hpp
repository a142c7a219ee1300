// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "scenarios.hpp"

namespace oriel::model {

/// Two locks, each with a word that it protects. Every rank holds several of them at once.
class SeveralLocksScene final : public Scene {
 public:
  /// Of each rank: the locks that it requests exclusively, as digits, each when it holds those
  /// before. It then writes under all of them, and gives them back in that order.
  using Scripts = std::vector<std::string>;

  explicit SeveralLocksScene(Scripts scripts);

  std::string description() const override;

 private:
  using LockLine = BasicLockLine<Words>;
  using LockNode = BasicLockNode<Words>;
  static constexpr int locks = 2;
  struct Lock {
    explicit Lock(int ranks) : control(ranks) {}
    Control control;
    Plain<std::uint32_t> data;
  };

  int ranks() const override { return static_cast<int>(scripts_.size()); }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  bool request(int rank, Lock& lock);
  static void await(int rank, Lock& lock);
  void give_back(int rank, Lock& lock);

  Scripts scripts_;
  std::deque<Lock> locks_;
  std::vector<int> all_;
  std::deque<Sharers> sharers_;
};

}  // namespace oriel::model
