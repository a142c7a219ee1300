// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "clock.hpp"

namespace bench {

/// The ranks of the job, their clocks, and how they wait where nothing is measured. Where ranks
/// outnumber cores such a wait sleeps between its tests: a rank that spun there would take a core
/// from the ranks that are measured.
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
    spread_ = on_node != size_;
    if (spread_) compare_clocks();
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  int cores() const { return cores_; }
  /// Over several nodes. What comes from another node takes its target's processor, too.
  bool spread() const { return spread_; }

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
  /// agree on a time a little later than the last one's arrival. Returns it, in microseconds of
  /// this rank's clock.
  double meet() const {
    const std::int64_t arrival = now_ns() + ahead_ns_;
    std::int64_t start = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&arrival, &start, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
    finish(request);
    start += head_start_ns - ahead_ns_;
    if (size_ > cores_) {
      sleep_until_ns(start);
    } else {
      while (now_ns() < start) {
      }
    }
    return us_of(start);
  }

 private:
  /// On several nodes: how far rank 0's clock is ahead of ours, to some microseconds. The shortest
  /// of many round trips says it best: its answer was made halfway.
  void compare_clocks() {
    constexpr int trips = 200;
    for (int other = 1; other < size_; ++other) {
      std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
      for (int i = 0; i < trips; ++i) {
        std::int64_t time = now_ns();
        if (rank_ == 0) {
          MPI_Recv(nullptr, 0, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          time = now_ns();
          MPI_Send(&time, 1, MPI_INT64_T, other, 0, MPI_COMM_WORLD);
        } else if (rank_ == other) {
          const std::int64_t asked = time;
          MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
          MPI_Recv(&time, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          const std::int64_t answered = now_ns();
          if (answered - asked >= shortest) continue;
          shortest = answered - asked;
          ahead_ns_ = time - (asked + answered) / 2;
        }
      }
    }
  }

  static constexpr std::int64_t nap_ns = 20'000;
  static constexpr std::int64_t head_start_ns = 200'000;

  int rank_ = 0;
  int size_ = 0;
  int cores_ = 1;
  bool spread_ = false;
  std::int64_t ahead_ns_ = 0;
};

}  // namespace bench
