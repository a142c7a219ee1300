// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "clock.hpp"
#include "failure.hpp"

namespace patterns {

/// The ranks of the job and how they wait where nothing is measured. Where ranks outnumber cores
/// such a wait sleeps between its tests: a rank that spun there would take a core from the ranks
/// that are measured.
class Job {
 public:
  Job() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    cores_ = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    prctl(PR_SET_TIMERSLACK, 1UL);  // ask for sleeps of the length that was asked for
    MPI_Comm node = MPI_COMM_NULL;
    int on_node = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    MPI_Comm_free(&node);
    if (on_node != size_) {
      fail(
          "the ranks are on several nodes, but they agree on start times by a clock that only the "
          "ranks of one node share; start them all on one node.");
    }
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  int cores() const { return cores_; }

  /// Gives `late_rank` a core of its own and lets the others share the rest. Where busy ranks
  /// outnumber the cores, a rank that shares the late one's core would wait for that core and not
  /// for the protocol.
  void part_cores(int late_rank) const {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < 2) return;
    int first = 0;
    while (!CPU_ISSET(first, &cores)) ++first;
    if (rank_ == late_rank) {
      CPU_ZERO(&cores);
      CPU_SET(first, &cores);
    } else {
      CPU_CLR(first, &cores);
    }
    sched_setaffinity(0, sizeof cores, &cores);
  }

  void finish(MPI_Request request) const {
    int done = 0;
    for (;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done) return;
      if (size_ > cores_) sleep_until_ns(now_ns() + nap_ns);
    }
  }

  void barrier() const {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    finish(request);
  }

  /// A barrier that all ranks leave at the same moment, which no barrier alone guarantees: they
  /// agree on a time a little later than the last one's arrival.
  void meet() const {
    const std::int64_t arrival = now_ns();
    std::int64_t start = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&arrival, &start, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
    finish(request);
    start += head_start_ns;
    if (size_ > cores_) {
      sleep_until_ns(start);
    } else {
      while (now_ns() < start) {
      }
    }
  }

 private:
  static constexpr std::int64_t nap_ns = 20'000;
  static constexpr std::int64_t head_start_ns = 200'000;

  int rank_ = 0;
  int size_ = 0;
  int cores_ = 1;
};

}  // namespace patterns
