// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <string>

#include "failure.hpp"

namespace bench {

/// How far the cores of the first two ranks are from one another at this moment: the time that a
/// cache line takes there and back. On virtual machines it changes as the host moves the processors
/// about, and whatever waits for another rank changes with it. Zero where the ranks share no
/// memory.
class Distance {
 public:
  explicit Distance(int rank) : rank_(rank) {
    if (!one_node()) return;
    int pid = static_cast<int>(::getpid());
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const std::string name = "/rank-distance." + std::to_string(pid);
    if (rank_ == 0) ::shm_unlink(name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    const int file = ::shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(Words)) != 0) {
      fail("shared memory to measure the distance of the cores could not be made.");
    }
    void* memory = ::mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) ::shm_unlink(name.c_str());
    if (memory == MAP_FAILED) fail("shared memory of two pages could not be mapped.");
    words_ = static_cast<Words*>(memory);
  }
  ~Distance() {
    if (words_ != nullptr) ::munmap(words_, sizeof(Words));
  }
  Distance(const Distance&) = delete;
  Distance& operator=(const Distance&) = delete;

  /// Whether the ranks share memory. Collective.
  static bool one_node() {
    MPI_Comm node = MPI_COMM_NULL;
    int here = 0;
    int all = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_free(&node);
    return here == all;
  }

  /// Nanoseconds of a round trip, the shortest of some trials; meaningful on rank 0. Collective.
  double round_trip_ns() {
    if (words_ == nullptr) return 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ > 1) return 0;
    double shortest = 1e30;
    for (int trial = 0; trial < trials; ++trial) {
      const double begin = MPI_Wtime();
      for (int i = 0; i < trips; ++i) turn();
      shortest = std::min(shortest, 1e9 * (MPI_Wtime() - begin) / trips);
    }
    return shortest;
  }

 private:
  static constexpr int trials = 5;
  static constexpr int trips = 200;
  static constexpr int looks_per_yield = 10'000;  // both ranks may be on one core

  struct Words {
    alignas(4096) std::atomic<std::uint64_t> there;  // written by rank 0
    alignas(4096) std::atomic<std::uint64_t> back;   // written by rank 1
  };

  void turn() {
    ++turns_;
    if (rank_ == 0) {
      words_->there.store(turns_, std::memory_order_release);
      await(words_->back);
    } else {
      await(words_->there);
      words_->back.store(turns_, std::memory_order_release);
    }
  }
  void await(const std::atomic<std::uint64_t>& word) const {
    for (int looks = 1; word.load(std::memory_order_acquire) < turns_; ++looks) {
      if (looks % looks_per_yield == 0) ::sched_yield();
    }
  }

  int rank_;
  Words* words_ = nullptr;
  std::uint64_t turns_ = 0;
};

}  // namespace bench
