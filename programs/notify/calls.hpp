// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/notify_api.hpp"
#include "channel.hpp"
#include "clock.hpp"
#include "flag.hpp"
#include "job.hpp"
#include "options.hpp"
#include "recorder.hpp"

namespace notify {

/// What each call of notified access takes by itself (the paper's section V-A): the client issues,
/// the server asks for notifications that are there already. Short calls are timed so many at once,
/// each with a request and a tag of its own.
class Calls {
 public:
  Calls(const Job& job, const bench::NotifyApi& api, int requests)
      : job_(job),
        api_(api),
        channel_(job, sizeof(Word)),
        flag_(job),
        requests_(static_cast<std::size_t>(requests), MPI_REQUEST_NULL) {}

  static constexpr std::array<std::string_view, 6> rows = {"init",       "start",      "free",
                                                           "put_notify", "get_notify", "test"};

  /// Nanoseconds per call, of the middle turns; each rank has those of its own calls.
  std::map<std::string_view, double> sample() {
    times_.clear();
    for (int turn = 0; turn < turns; ++turn) {
      if (job_.rank == client) {
        issue();
      } else {
        ask();
      }
    }
    std::map<std::string_view, double> medians;
    for (auto& [row, times] : times_) medians[row] = middle_mean(std::move(times)) / count();
    return medians;
  }

 private:
  static constexpr int turns = 20;
  static constexpr int starts = 4;  // of each request between its init and its free

  int count() const { return static_cast<int>(requests_.size()); }

  /// call(index) once for each request.
  template <typename Call>
  void time(std::string_view row, Call&& call) {
    times_[row].push_back(clock_.time_ns([&] {
      for (int index = 0; index < count(); ++index) call(index);
    }));
  }

  void issue() {
    for (int start = 0; start < starts; ++start) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (start % 2 == 0) {
        time("put_notify", [&](int index) { put(index); });
      } else {
        time("get_notify", [&](int index) { get(index); });
      }
      MPI_Win_flush(channel_.partner(), channel_.win());
      flag_.raise();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void ask() {
    time("init", [&](int index) {
      api_.init(channel_.win(), channel_.partner(), index, 1, &requests_[index]);
    });
    for (int start = 0; start < starts; ++start) {
      time("start", [&](int index) { MPI_Start(&requests_[index]); });
      MPI_Barrier(MPI_COMM_WORLD);
      flag_.await();
      time("test", [&](int index) { test(index); });
    }
    time("free", [&](int index) { MPI_Request_free(&requests_[index]); });
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void put(int tag) {
    api_.put(&word_, 1, MPI_INT64_T, channel_.partner(), 0, 1, MPI_INT64_T, channel_.win(), tag);
  }
  void get(int tag) {
    api_.get(&word_, 1, MPI_INT64_T, channel_.partner(), 0, 1, MPI_INT64_T, channel_.win(), tag);
  }
  void test(int index) {
    int done = 0;
    MPI_Test(&requests_[index], &done, MPI_STATUS_IGNORE);
    // Between nodes the flag may come by another way, and be earlier.
    if (!done) MPI_Wait(&requests_[index], MPI_STATUS_IGNORE);
  }

  Job job_;
  const bench::NotifyApi& api_;
  Clock clock_;
  Channel channel_;
  Flag flag_;
  std::vector<MPI_Request> requests_;
  std::map<std::string_view, std::vector<double>> times_;
  Word word_ = 0;
};

/// One result per call; those of the server are brought to the client.
inline std::vector<Result> call_results(const Job& job, const Options& options, int requests) {
  const bench::NotifyApi api;
  Calls calls(job, api, requests);
  calls.sample();  // warms everything up
  std::vector<Result> results;
  for (const std::string_view row : Calls::rows) {
    results.push_back({{"calls", row, static_cast<std::size_t>(requests)}, {}, ""});
  }
  for (std::int64_t batch = 0; batch < options.batches; ++batch) {
    std::map<std::string_view, double> ns = calls.sample();
    for (Result& result : results) {
      double us = ns[result.label.row] / 1e3;
      // Each call is made on one side only; the other one has 0.
      MPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      result.samples_us.push_back(us);
    }
  }
  return results;
}

}  // namespace notify
