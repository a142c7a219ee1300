// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <linux/perf_event.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bench/notify_api.hpp"
#include "bench/samples.hpp"
#include "channel.hpp"
#include "flag.hpp"
#include "job.hpp"
#include "miss_counter.hpp"

// Cache misses at the target (the paper's section V): of one MPI_Test that completes the only
// active request, beyond what an empty measurement has. The server counts.
namespace notify {

enum class Cache { warm, cold };

/// Pushes everything else out of the caches.
class Wiper {
 public:
  void wipe() {
    for (std::size_t place = 0; place < memory_.size(); place += line) ++memory_[place];
  }

 private:
  static constexpr std::size_t line = 64;
  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(std::size_t{128} << 20);
};

class Misses {
 public:
  Misses(const Job& job, const MissCounter& counter)
      : job_(job), counter_(counter), channel_(job, sizeof(Word)), flag_(job) {
    if (job.rank == server) api_.init(channel_.win(), job.partner, tag, 1, &request_);
  }
  ~Misses() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }
  Misses(const Misses&) = delete;
  Misses& operator=(const Misses&) = delete;

  /// Of one test, median of some turns; meaningful on the server.
  double count(Cache cache) {
    std::vector<double> tested(turns);
    std::vector<double> empty(turns);
    for (int turn = 0; turn < turns; ++turn) {
      if (job_.rank == client) {
        MPI_Barrier(MPI_COMM_WORLD);
        api_.put(&word_, 1, MPI_INT64_T, job_.partner, 0, 1, MPI_INT64_T, channel_.win(), tag);
        MPI_Win_flush(job_.partner, channel_.win());
        flag_.raise();
        continue;
      }
      MPI_Start(&request_);
      MPI_Barrier(MPI_COMM_WORLD);
      flag_.await();
      if (cache == Cache::cold) wiper_.wipe();
      empty[turn] = static_cast<double>(counter_.count([] {}));
      if (cache == Cache::cold) wiper_.wipe();
      int done = 0;
      tested[turn] = static_cast<double>(
          counter_.count([&] { MPI_Test(&request_, &done, MPI_STATUS_IGNORE); }));
      if (!done) MPI_Wait(&request_, MPI_STATUS_IGNORE);
    }
    return bench::median(tested) - bench::median(empty);
  }

 private:
  static constexpr int turns = 21;
  static constexpr int tag = 3;

  Job job_;
  const MissCounter& counter_;
  bench::NotifyApi api_;
  Channel channel_;
  Flag flag_;
  Wiper wiper_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  Word word_ = 0;
};

/// Prints what the server says, on the client: lines of two ranks would mix.
inline void print_from_server(const Job& job, std::string line) {
  auto length = static_cast<int>(line.size());
  MPI_Bcast(&length, 1, MPI_INT, server, MPI_COMM_WORLD);
  line.resize(static_cast<std::size_t>(length));
  MPI_Bcast(line.data(), length, MPI_CHAR, server, MPI_COMM_WORLD);
  if (job.rank == client) std::puts(line.c_str());
}

/// Prints one line for each event and state of the caches, or why there is none.
inline void measure_misses(const Job& job) {
  struct Event {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t number;
  };
  constexpr std::array<Event, 2> events = {{
      {"reads that miss the first cache", PERF_TYPE_HW_CACHE,
       PERF_COUNT_HW_CACHE_L1D | (PERF_COUNT_HW_CACHE_OP_READ << 8) |
           (PERF_COUNT_HW_CACHE_RESULT_MISS << 16)},
      {"misses of the last cache", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
  }};
  for (const Event& event : events) {
    const MissCounter counter(event.type, event.number);
    const std::string line =
        "{\"measure\":\"misses\",\"event\":\"" + std::string(event.name) + "\",";
    int usable = counter.usable() ? 1 : 0;
    MPI_Bcast(&usable, 1, MPI_INT, server, MPI_COMM_WORLD);
    if (!usable) {
      print_from_server(job, line + "\"reason\":\"" + counter.reason() + "\"}");
      continue;
    }
    Misses misses(job, counter);
    for (const Cache cache : {Cache::warm, Cache::cold}) {
      const std::string found = std::to_string(misses.count(cache));
      const std::string state = cache == Cache::warm ? "warm" : "cold";
      print_from_server(job, line + "\"cache\":\"" + state + "\",\"misses\":" + found + "}");
    }
  }
  std::fflush(stdout);
}

}  // namespace notify
