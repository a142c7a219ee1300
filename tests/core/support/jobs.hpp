// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "support/program.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {

/// How the ranks of a job reach one another.
enum class Placement : std::uint8_t {
  mapped,          // all on one node, all memory mapped
  remote,          // each on a node of its own
  mixed,           // some nodes, some memory private
  private_memory,  // all on one node, memory that peers reach by system calls or by messages
  dynamic          // some nodes; each rank's memory is attached in pieces, some of them private
};

/// The job and the program of a seed: number of ranks, windows, nodes, keys, memory.
class RandomJob {
 public:
  RandomJob(std::uint64_t seed, Placement placement, bool reorder, bool threads);

  SimJob& job() { return job_; }
  const Program& program() const { return program_; }
  const std::string& description() const { return description_; }

 private:
  struct Plan;
  RandomJob(std::uint64_t seed, const Plan& plan, bool threads);

  SimJob job_;
  Program program_;
  std::string description_;
};

}  // namespace oriel::test
