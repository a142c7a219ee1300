// SPDX-License-Identifier: BSD-3-Clause
// G8, Q2, Q4, Q5 together: several threads of each rank operate on windows of all kinds, by
// duplicates and memory handles that come and go, in all kinds of epochs. Every seed is another
// program; what it leaves behind is known exactly.
//
// Arguments: how many seeds (6, between nodes 2), the first one (1), threads per rank (3). What
// fails prints its seed: `stress 1 SEED` runs it alone.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "support/program.hpp"
#include "support/stress/audit.hpp"
#include "support/stress/barrier.hpp"
#include "support/stress/epochs.hpp"
#include "support/stress/job.hpp"
#include "support/stress/worker.hpp"

namespace {

using stress::here;
using stress::Job;
using support::Program;

constexpr int phases = 5;
constexpr int rounds = 3;
constexpr int steps = 40;

/// One seed: the threads of a rank do what they do at the same time but for what all share, which
/// one of them, another one each time, changes while the others wait.
class Run {
 public:
  Run(const Program& program, std::uint64_t seed, int threads)
      : job_(program, seed, threads), epochs_(job_), together_(threads) {}

  void run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < job_.threads(); ++i) threads.emplace_back([this, i] { thread(i); });
    for (std::thread& thread : threads) thread.join();
  }
  const Job& job() const { return job_; }

 private:
  void thread(int number) {
    stress::Worker worker(job_, number);
    for (int phase = 0; phase < phases; ++phase) {
      here() = {job_.seed(), phase, 0, number, 0, ""};
      one_of_us(phase, [&] {
        job_.relocate();
        epochs_.open(phase);
      });
      for (int round = 0; round < rounds; ++round) work(worker, phase, round);
      one_of_us(phase + 1, [&] { epochs_.close(); });
      worker.closed(true);
      one_of_us(phase + 2, [&] { stress::Audit{job_}; });
    }
  }
  void work(stress::Worker& worker, int phase, int round) {
    here().round = round;
    stress::Random random{job_.seed(), static_cast<std::uint64_t>(job_.rank()),
                          static_cast<std::uint64_t>(phase), static_cast<std::uint64_t>(round)};
    one_of_us(phase + round, [&] { job_.remake(random); });
    worker.steps(steps);
    one_of_us(phase + round + 1, [&] { epochs_.renew(); });
    worker.closed(false);
  }
  template <class Body>
  void one_of_us(int turn, Body&& body) {
    together_.wait();
    if (turn % job_.threads() == here().thread) body();
    together_.wait();
  }

  Job job_;
  stress::Epochs epochs_;
  stress::Barrier together_;
};

void run(const Program& program, std::uint64_t seed, int threads) {
  support::limit_time();
  Run run(program, seed, threads);
  run.run();
  CHECK(run.job().handles_reused() > 0);
  if (std::getenv("ORIEL_TEST_VERBOSE") != nullptr && program.rank() == 0) {
    std::fprintf(stderr, "seed %lu: %ld handles of windows and %ld of types were given again\n",
                 static_cast<unsigned long>(seed), run.job().handles_reused(),
                 run.job().types_reused());
  }
}

/// The argument at this place, if it is a number; else the number given.
long number(int argc, char** argv, int place, long otherwise) {
  if (place >= argc) return otherwise;
  const long found = std::atol(argv[place]);
  return found > 0 ? found : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const long asked = number(argc, argv, 1, 0);
  const long first = number(argc, argv, 2, 1);
  const auto threads = static_cast<int>(number(argc, argv, 3, 3));
  argv[1] = nullptr;  // no names of tests
  Program program(1, argv, MPI_THREAD_MULTIPLE);
  if (program.host_only()) return 0;  // no host has duplicates
  if (program.thread_level() < MPI_THREAD_MULTIPLE) return 0;
  const long seeds = asked > 0 ? asked : support::one_node() ? 6 : 2;
  for (long seed = first; seed < first + seeds; ++seed) {
    program.test("stress", [&] { run(program, static_cast<std::uint64_t>(seed), threads); });
  }
}
