// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/notify_api.hpp"
#include "channel.hpp"
#include "clock.hpp"
#include "flag.hpp"
#include "job.hpp"
#include "options.hpp"
#include "recorder.hpp"

// What one notification costs the server when very many requests are active, or very many other
// notifications wait. All have different tags, and the requests are exact.
namespace notify {

/// Which of the tags 0 to count - 1 are asked for: all, in an order that no prefetcher knows, so
/// that what belongs to them comes from memory; or always the same one.
enum class Choice { each, same };

class Tags {
 public:
  Tags(int count, Choice choice)
      : count_(count), stride_(choice == Choice::each ? far : 0), last_(count / 2) {}
  int next() {
    last_ = (last_ + stride_) % count_;
    return static_cast<int>(last_);
  }

 private:
  static constexpr std::int64_t far = 7919;  // a prime that divides no power of ten
  std::int64_t count_;
  std::int64_t stride_;
  std::int64_t last_;
};

inline constexpr int turns_per_sample = 50;

/// `count` requests are active. The time is that of waiting for one of them, whose notification is
/// there, and of starting it again.
class ActiveRequests {
 public:
  ActiveRequests(const Job& job, const bench::NotifyApi& api, int count, Choice choice)
      : job_(job), api_(api), channel_(job, sizeof(Word)), flag_(job), tags_(count, choice) {
    if (job.rank == client) return;
    requests_.resize(static_cast<std::size_t>(count), MPI_REQUEST_NULL);
    for (int tag = 0; tag < count; ++tag) {
      api_.init(channel_.win(), job.partner, tag, 1, &requests_[tag]);
      MPI_Start(&requests_[tag]);
    }
  }
  ~ActiveRequests() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  ActiveRequests(const ActiveRequests&) = delete;
  ActiveRequests& operator=(const ActiveRequests&) = delete;

  /// Nanoseconds per notification of the middle turns; meaningful on the server.
  double sample() {
    std::vector<double> times;
    for (int turn = 0; turn < turns_per_sample; ++turn) {
      const int tag = tags_.next();
      MPI_Barrier(MPI_COMM_WORLD);
      if (job_.rank == client) {
        api_.put(nullptr, 0, MPI_INT64_T, job_.partner, 0, 0, MPI_INT64_T, channel_.win(), tag);
        MPI_Win_flush(job_.partner, channel_.win());
        flag_.raise();
        continue;
      }
      flag_.await();
      times.push_back(clock_.time_ns([&] {
        MPI_Wait(&requests_[tag], MPI_STATUS_IGNORE);
        MPI_Start(&requests_[tag]);
      }));
    }
    return job_.rank == server ? middle_mean(std::move(times)) : 0;
  }

 private:
  Job job_;
  const bench::NotifyApi& api_;
  Clock clock_;
  Channel channel_;
  Flag flag_;
  Tags tags_;
  std::vector<MPI_Request> requests_;
};

/// `count` notifications wait that nobody has asked for. The time is that of starting a request for
/// one of them and waiting for it.
class WaitingNotifications {
 public:
  WaitingNotifications(const Job& job, const bench::NotifyApi& api, int count, Choice choice)
      : job_(job), api_(api), channel_(job, sizeof(Word)), tags_(count, choice), last_tag_(count) {
    if (job.rank == server) {
      api_.init(channel_.win(), job.partner, last_tag_, 1, &last_);
      receive_last();
      return;
    }
    for (int tag = 0; tag < count; ++tag) {
      send(tag);
      if (tag % between_flushes == 0) flush();
    }
    send(last_tag_);
    flush();
  }
  ~WaitingNotifications() {
    if (last_ != MPI_REQUEST_NULL) MPI_Request_free(&last_);
  }
  WaitingNotifications(const WaitingNotifications&) = delete;
  WaitingNotifications& operator=(const WaitingNotifications&) = delete;

  /// Nanoseconds per notification of the middle turns; meaningful on the server.
  double sample() {
    std::vector<double> times;
    for (int turn = 0; turn < turns_per_sample; ++turn) {
      const int tag = tags_.next();
      if (job_.rank == server) times.push_back(take(tag));
      MPI_Barrier(MPI_COMM_WORLD);
      if (job_.rank == server) {
        receive_last();
      } else {
        send(tag);
        send(last_tag_);
        flush();
      }
    }
    return job_.rank == server ? middle_mean(std::move(times)) : 0;
  }

 private:
  static constexpr int between_flushes = 1000;

  void send(int tag) {
    api_.put(nullptr, 0, MPI_INT64_T, job_.partner, 0, 0, MPI_INT64_T, channel_.win(), tag);
  }
  void flush() { MPI_Win_flush(job_.partner, channel_.win()); }

  double take(int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    api_.init(channel_.win(), job_.partner, tag, 1, &request);
    const double ns = clock_.time_ns([&] {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    MPI_Request_free(&request);
    return ns;
  }
  /// Behind it, all that was sent before it is kept.
  void receive_last() {
    MPI_Start(&last_);
    MPI_Wait(&last_, MPI_STATUS_IGNORE);
  }

  Job job_;
  const bench::NotifyApi& api_;
  Clock clock_;
  Channel channel_;
  Tags tags_;
  int last_tag_;
  MPI_Request last_ = MPI_REQUEST_NULL;
};

template <typename Scene>
void measure_matching(const Job& job, const Options& options, Recorder& recorder, Label label,
                      Choice choice) {
  const bench::NotifyApi api;
  recorder.record([&]() -> std::vector<Result> {
    Scene scene(job, api, static_cast<int>(label.size), choice);
    scene.sample();  // warms everything up
    Result result{label, {}, ""};
    for (std::int64_t batch = 0; batch < options.batches; ++batch) {
      double us = scene.sample() / 1e3;
      MPI_Bcast(&us, 1, MPI_DOUBLE, server, MPI_COMM_WORLD);
      result.samples_us.push_back(us);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return {result};
  });
}

inline void measure_matching(const Job& job, const Options& options, Recorder& recorder) {
  const auto most = static_cast<std::size_t>(options.most);
  for (const Choice choice : {Choice::same, Choice::each}) {
    const bool same = choice == Choice::same;
    for (const std::size_t count : {1, 1000, 100'000}) {
      const Label label = {"matching", same ? "active_same" : "active_each", count};
      if (count > most) continue;
      measure_matching<ActiveRequests>(job, options, recorder, label, choice);
    }
    for (const std::size_t count : {1, 1000, 100'000, 1'000'000}) {
      const Label label = {"matching", same ? "waiting_same" : "waiting_each", count};
      if (count > most) continue;
      measure_matching<WaitingNotifications>(job, options, recorder, label, choice);
    }
  }
}

}  // namespace notify
