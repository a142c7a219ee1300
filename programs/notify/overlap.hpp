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

#include "bench/epochs.hpp"
#include "bench/notify_api.hpp"
#include "bench/samples.hpp"
#include "channel.hpp"
#include "clock.hpp"
#include "epochs.hpp"
#include "fence.hpp"
#include "job.hpp"
#include "message_row.hpp"
#include "notification.hpp"
#include "options.hpp"
#include "payload.hpp"
#include "put.hpp"
#include "recorder.hpp"
#include "round_trips.hpp"
#include "window_row.hpp"

// How much of a transfer's latency can be hidden behind computation (the paper's Figure 4a). One
// way to transfer per type: what the origin starts, how it completes that, what the target does,
// and the round trip that says what the latency is. The same of an epoch (epochs.hpp).
namespace notify {

class OverlappedMessage {
 public:
  using RoundTrip = MessageRow;
  static constexpr std::string_view name = "messages";

  OverlappedMessage(const Job& job, std::size_t bytes)
      : job_(job), words_(bytes / sizeof(Word), job.rank) {}
  void prepare(std::int64_t round) { stamp(words_, round); }
  void start() {
    MPI_Isend(words_.data(), static_cast<int>(words_.size()), MPI_INT64_T, job_.partner, 0,
              MPI_COMM_WORLD, &request_);
  }
  void complete() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  void serve() {
    MPI_Recv(words_.data(), static_cast<int>(words_.size()), MPI_INT64_T, job_.partner, 0,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void expect(std::int64_t round) { expect_stamp(words_, round); }
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
  void prepare(std::int64_t round) { put_.before_act(round); }
  void start() { put_.issue(); }
  void complete() { MPI_Win_fence(0, channel_.win()); }
  void serve() { MPI_Win_fence(0, channel_.win()); }
  void expect(std::int64_t round) { put_.after_wait(round); }
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
  void prepare(std::int64_t round) { put_.before_act(round); }
  void start() { put_.issue(api_, tag); }
  void complete() { MPI_Win_flush(channel_.partner(), channel_.win()); }
  void serve() {
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  void expect(std::int64_t round) { put_.after_wait(round); }
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

/// Microseconds that starting and completing take with so much computation between them, for each
/// of these amounts, one sample per batch; meaningful on rank 0. Rounds take the amounts in turn,
/// so that what disturbs the machine for a while disturbs all. The target looks at the data of
/// every round after the origin has completed it.
template <typename Transfer>
std::vector<std::vector<double>> overheads_us(const Job& job, std::size_t bytes,
                                              const std::vector<double>& computes_ns,
                                              std::int64_t batches) {
  constexpr int rounds = 20;
  constexpr double head_start_ns = 20'000;  // so that the target waits already
  const Clock clock;
  Transfer transfer(job, bytes);
  std::vector<std::vector<double>> samples(computes_ns.size());
  std::int64_t number = 0;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    std::vector<std::vector<double>> overheads(computes_ns.size());
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t amount = 0; amount < computes_ns.size(); ++amount, ++number) {
        if (job.rank == client) transfer.prepare(number);
        MPI_Barrier(MPI_COMM_WORLD);
        if (job.rank == server) {
          transfer.serve();
        } else {
          Clock::compute(head_start_ns);
          double overhead = clock.time_ns([&] { transfer.start(); });
          Clock::compute(computes_ns[amount]);
          overhead += clock.time_ns([&] { transfer.complete(); });
          overheads[amount].push_back(overhead / 1e3);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (job.rank == server) transfer.expect(number);
      }
    }
    for (std::size_t amount = 0; amount < computes_ns.size(); ++amount) {
      samples[amount].push_back(job.rank == client ? middle_mean(std::move(overheads[amount])) : 0);
    }
  }
  transfer.finish();
  MPI_Barrier(MPI_COMM_WORLD);
  return samples;
}

inline double compute_ns(double latency_us) {
  constexpr double slightly_more = 1.1;
  return 1e3 * slightly_more * latency_us;
}

template <typename Transfer>
Result overlap_result(std::string_view measure, std::size_t bytes, std::vector<double> samples_us,
                      double latency_us) {
  return {{measure, Transfer::name, bytes},
          std::move(samples_us),
          "\"latency_us\":" + std::to_string(latency_us) + ","};
}

template <typename Transfer>
void measure_overlap(const Job& job, const Options& options, Recorder& recorder) {
  if (!options.measures.includes("overlap")) return;
  for (const std::size_t bytes : options.sizes) {
    recorder.record([&]() -> std::vector<Result> {
      typename Transfer::RoundTrip row(job, bytes);
      const double latency_us = bench::median(half_round_trips_us(row, options));
      auto samples = overheads_us<Transfer>(job, bytes, {compute_ns(latency_us)}, options.batches);
      return {overlap_result<Transfer>("overlap", bytes, std::move(samples[0]), latency_us)};
    });
  }
}

/// An epoch's latency is what the origin needs for it if nothing is computed. It is measured first,
/// to know how much to compute, and again beside the epochs with computation.
template <typename Epoch, bench::Mode mode>
void measure_epoch(const Job& job, const Options& options, Recorder& recorder) {
  using Transfer = OverlappedEpoch<Epoch, mode>;
  constexpr std::int64_t few = 3;  // batches
  for (const std::size_t bytes : options.sizes) {
    recorder.record([&]() -> std::vector<Result> {
      const auto first = overheads_us<Transfer>(job, bytes, {0}, few);
      auto samples = overheads_us<Transfer>(job, bytes, {0, compute_ns(bench::median(first[0]))},
                                            options.batches);
      return {overlap_result<Transfer>("epochs", bytes, std::move(samples[1]),
                                       bench::median(samples[0]))};
    });
  }
}

template <bench::Mode mode>
void measure_epochs(const Job& job, const Options& options, Recorder& recorder) {
  measure_epoch<LockEpoch, mode>(job, options, recorder);
  measure_epoch<FenceEpoch, mode>(job, options, recorder);
  measure_epoch<StartEpoch, mode>(job, options, recorder);
}

}  // namespace notify
