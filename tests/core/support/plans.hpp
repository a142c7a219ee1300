// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/collective/plan_registry.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {

/// Sizes of which each way of a plan's transfers has some, in words of eight bytes: short up to 12
/// on a node, where both ways are tried from 8 on, and 16 between nodes, where up to 5 are
/// gathered.
inline Limits limits_of_plans() {
  Limits limits;
  limits.staged = 96;
  limits.staged_surely = 56;
  limits.slice = 96;
  limits.staged_mapped = 40;
  limits.staged_fragment = 40;
  limits.staged_cells = 3;
  limits.staged_whole = 4;
  limits.ahead_uses = 5;
  limits.ahead_bytes = 1000;
  limits.shared_fragment = 128;
  limits.eager = 128;
  limits.fragment = 256;
  limits.gathered = 40;
  return limits;
}

/// The plans of simulated ranks, step by step as a test says.
class Plans {
 public:
  using Words = std::vector<std::uint64_t>;

  explicit Plans(const std::vector<int>& nodes, const Limits& limits = limits_of_plans())
      : job_(nodes, false, limits), schedules_(nodes.size()), plans_(nodes.size()) {
    SimWindowSpec spec;
    spec.bytes = 64;
    job_.create_window(spec);
    for (std::size_t i = 0; i < nodes.size(); ++i) completed_.emplace_back();
  }

  SimJob& job() { return job_; }
  int ranks() const { return job_.ranks(); }
  PlanRegistry& space(int rank) { return job_.window(rank).plan_registry(); }
  Schedule& schedule(int rank) { return schedules_[at(rank)]; }
  Plan& plan(int rank) { return *plans_[at(rank)]; }
  bool completed(int rank) const { return completed_[at(rank)].done(); }
  Error error(int rank) const { return completed_[at(rank)].error(); }

  Words& words(std::size_t count, std::uint64_t value = 0) {
    return memory_.emplace_back(count, value);
  }
  /// Words in a row; or every second one is left out.
  static Buffer buffer(Words& words, bool gaps = false, Basic basic = Basic::u64) {
    if (gaps) {
      static const LayoutRef gappy(new Layout({{0, 8}}, 16, Basic::u64));
      return {words.data(), words.size() / 2, gappy};
    }
    return {words.data(), words.size(), LayoutRef(new Layout({{0, 8}}, 8, basic))};
  }
  void send(int from, int to, const Buffer& buffer, int step = 0) {
    schedule(from).sends.push_back({to, buffer, step});
  }
  void receive(int at, int from, const Buffer& buffer, int step = 0) {
    schedule(at).receives.push_back({from, buffer, step});
  }
  /// One message; its two sides.
  struct Passage {
    Words* from;
    Words* into;
  };
  Passage pass(int from, int to, std::size_t count, bool gaps = false) {
    const Passage made{&words(count), &words(count)};
    send(from, to, buffer(*made.from, gaps));
    receive(to, from, buffer(*made.into, gaps));
    return made;
  }

  void begin_making_at(int rank, const PlanTerms& terms) {
    plans_[at(rank)] = &space(rank).make(schedule(rank), terms);
  }
  void begin_making_at(int rank, int bad_arguments = 0) {
    begin_making_at(rank, PlanTerms{.bad_arguments = bad_arguments});
  }
  /// Begins to make them; `bad` is wrong with its arguments, if not -1.
  void begin_making(int bad = -1) {
    for (int rank = 0; rank < ranks(); ++rank) begin_making_at(rank, rank == bad ? 7 : 0);
  }
  void make(int bad = -1) {
    begin_making(bad);
    end_making();
  }
  void end_making() {
    std::vector<bool> made(at(ranks()));
    for (int turn = 0; turn < 10; ++turn) {
      job_.run_until_idle();
      for (int rank = 0; rank < ranks(); ++rank) {
        if (!made[at(rank)]) made[at(rank)] = plan(rank).advance_making();
      }
    }
    for (int rank = 0; rank < ranks(); ++rank) ASSERT_TRUE(made[at(rank)]) << "rank " << rank;
  }
  void start(int rank) {
    if (plan(rank).active()) {
      ADD_FAILURE() << "rank " << rank << " is in use";
      return;
    }
    completed_[at(rank)] = Flag();
    plan(rank).start(completed_[at(rank)]);
  }
  /// One use by all ranks.
  void use() {
    for (int rank = 0; rank < ranks(); ++rank) start(rank);
    job_.run_until_idle();
    for (int rank = 0; rank < ranks(); ++rank) {
      EXPECT_TRUE(completed(rank)) << "rank " << rank;
      EXPECT_EQ(error(rank), Error::none) << "rank " << rank;
    }
  }
  void free(int rank) { space(rank).free(plan(rank)); }
  void free() {
    for (int rank = 0; rank < ranks(); ++rank) free(rank);
  }
  /// What comes is for other plans.
  void clear() {
    for (Schedule& schedule : schedules_) schedule = {};
  }
  /// Boards that somebody may look at.
  std::size_t boards() {
    std::size_t all = 0;
    for (int rank = 0; rank < ranks(); ++rank) all += space(rank).boards();
    return all;
  }
  /// All boards, those kept for later plans too.
  std::size_t shared() {
    std::size_t all = 0;
    for (int rank = 0; rank < ranks(); ++rank) all += job_.transport(rank).shared();
    return all;
  }
  std::uint64_t refused() {
    std::uint64_t all = 0;
    for (int rank = 0; rank < ranks(); ++rank) all += job_.process(rank).refused();
    return all;
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  std::deque<Words> memory_;  // outlives what is still under way
  SimJob job_;
  std::vector<Schedule> schedules_;
  std::vector<Plan*> plans_;
  std::deque<Flag> completed_;
};

inline std::string placement_name(const ::testing::TestParamInfo<std::vector<int>>& node_map) {
  std::string name = "On";
  for (const int node : node_map.param) name += std::to_string(node);
  return name;
}

}  // namespace oriel::test
