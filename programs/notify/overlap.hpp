// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/notify_api.hpp"
#include "bench/samples.hpp"
#include "channel.hpp"
#include "clock.hpp"
#include "fence.hpp"
#include "job.hpp"
#include "message_row.hpp"
#include "notification.hpp"
#include "options.hpp"
#include "put.hpp"
#include "recorder.hpp"
#include "round_trips.hpp"
#include "window_row.hpp"

// How much of a transfer's latency can be hidden behind computation (the paper's Figure 4a). One
// way to transfer per type: what the origin starts, how it completes that, what the target does,
// and the round trip that says what the latency is.
namespace notify {

class OverlappedMessage {
 public:
  using RoundTrip = MessageRow;
  static constexpr std::string_view name = "messages";

  OverlappedMessage(const Job& job, std::size_t bytes)
      : job_(job), words_(bytes / sizeof(Word), job.rank) {}
  void start() {
    MPI_Isend(words_.data(), static_cast<int>(words_.size()), MPI_INT64_T, job_.partner, 0,
              MPI_COMM_WORLD, &request_);
  }
  void complete() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  void serve() {
    MPI_Recv(words_.data(), static_cast<int>(words_.size()), MPI_INT64_T, job_.partner, 0,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void finish() {}

 private:
  Job job_;
  std::vector<Word> words_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class OverlappedFence {
 public:
  using RoundTrip = WindowRow<Fence, Put>;
  static constexpr std::string_view name = "fence";

  OverlappedFence(const Job& job, std::size_t bytes)
      : channel_(job, bytes), put_(channel_), fence_(channel_) {}
  void start() { put_.issue(); }
  void complete() { MPI_Win_fence(0, channel_.win()); }
  void serve() { MPI_Win_fence(0, channel_.win()); }
  void finish() { fence_.finish(); }

 private:
  Channel channel_;
  Put put_;
  Fence fence_;
};

class OverlappedNotification {
 public:
  using Notified = Notification<Completion::at_once>;
  using RoundTrip = WindowRow<Notified, Put>;
  static constexpr std::string_view name = "put_notify";

  OverlappedNotification(const Job& job, std::size_t bytes) : channel_(job, bytes), put_(channel_) {
    if (job.rank == server) api_.init(channel_.win(), job.partner, tag, 1, &request_);
  }
  void start() { put_.issue(api_, tag); }
  void complete() { MPI_Win_flush(channel_.partner(), channel_.win()); }
  void serve() {
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  void finish() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

 private:
  static constexpr int tag = 7;
  bench::NotifyApi api_;
  Channel channel_;
  Put put_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Microseconds that starting and completing take with so much computation between them, one sample
/// per batch; meaningful on rank 0.
template <typename Transfer>
std::vector<double> overheads_us(const Job& job, std::size_t bytes, double compute_ns,
                                 std::int64_t batches) {
  constexpr int rounds = 20;
  constexpr double head_start_ns = 20'000;  // so that the target waits already
  const Clock clock;
  Transfer transfer(job, bytes);
  std::vector<double> samples;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    std::vector<double> overheads;
    for (int round = 0; round < rounds; ++round) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (job.rank == server) {
        transfer.serve();
        continue;
      }
      Clock::compute(head_start_ns);
      double overhead = clock.time_ns([&] { transfer.start(); });
      Clock::compute(compute_ns);
      overhead += clock.time_ns([&] { transfer.complete(); });
      overheads.push_back(overhead / 1e3);
    }
    samples.push_back(job.rank == client ? middle_mean(std::move(overheads)) : 0);
  }
  transfer.finish();
  MPI_Barrier(MPI_COMM_WORLD);
  return samples;
}

template <typename Transfer>
void measure_overlap(const Job& job, const Options& options, Recorder& recorder) {
  constexpr double slightly_more = 1.1;
  if (!options.measures.includes("overlap")) return;
  for (const std::size_t bytes : options.sizes) {
    recorder.record([&]() -> std::vector<Result> {
      typename Transfer::RoundTrip row(job, bytes);
      const double latency_us = bench::median(half_round_trips_us(row, options));
      const double compute_ns = 1e3 * slightly_more * latency_us;
      return {{{"overlap", Transfer::name, bytes},
               overheads_us<Transfer>(job, bytes, compute_ns, options.batches),
               "\"latency_us\":" + std::to_string(latency_us) + ","}};
    });
  }
}

}  // namespace notify
