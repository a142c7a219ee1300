// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/random.hpp"
#include "support/runner.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {

/// Executes a program one small step at a time: a rank's instruction, a rank's sweep or the arrival
/// of a message, as the seed has it. A rank that is blocked may go to sleep at its doorbell, as
/// real ones do, and does nothing until it is rung or gets a message.
class Scheduler {
 public:
  Scheduler(SimJob& job, const Program& program, std::uint64_t seed);

  /// Empty: the program ran to its end and everything was as it must be.
  std::string run();

 private:
  void act(int rank);
  void blocked(int rank);
  bool deliver_one();
  std::string unstick();
  std::string out_of_order() const;
  std::string states() const;
  void wake(int rank);

  SimJob& job_;
  const Program& program_;
  Random random_;
  Barrier barrier_;
  std::deque<Runner> runners_;
  std::vector<bool> finished_;
  std::vector<bool> asleep_;
  int left_;
  int slow_from_ = -1;  // of what is under way from here hardly anything arrives; -1: from nowhere
  std::uint64_t idle_ = 0;  // steps since anything moved
};

}  // namespace oriel::test
