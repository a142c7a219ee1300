// SPDX-License-Identifier: BSD-3-Clause

// Tests a network between two ranks (`oriel doctor --network`): whether each way of moving data
// gives right results, how long it takes, and whether it ends while the target computes. With
// --bytes it measures more calls (`oriel bench network`). Rank 0 is the origin. A plain MPI
// program: it runs on the host MPI alone and with Oriel preloaded. One JSON line for each check and
// each time.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "bench/clock.hpp"
#include "bench/group.hpp"
#include "bench/notify_api.hpp"
#include "bench/options.hpp"
#include "bench/samples.hpp"
#include "bench/two_ranks.hpp"
#include "bench/window.hpp"

namespace {

using bench::now_us;

constexpr int origin = 0;
constexpr int target = 1;
constexpr std::size_t longest = std::size_t{4} * 1024 * 1024;
// From what fits into a cache line to what no provider takes as one packet.
constexpr std::array<std::size_t, 4> checked_lengths{8, 4096, std::size_t{64} * 1024, longest};
constexpr std::array<std::size_t, 3> timed_lengths{8, std::size_t{64} * 1024, longest};
constexpr std::size_t most_samples = 10'000;

int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

class Network {
 public:
  explicit Network(double row_us) : row_us_(row_us), local_(longest) {
    const bench::OwnPart own(window_, rank_);
    std::fill_n(memory(), longest, std::byte{0});
  }

  void check() {
    check_puts("MPI_Win_fence", [&](std::size_t bytes) {
      MPI_Win_fence(0, win());
      put_and_fence(bytes);
    });
    check_puts("MPI_Win_post, start, complete, wait",
               [&](std::size_t bytes) { post_or_start(bytes); });
    check_puts("MPI_Win_lock, unlock", [&](std::size_t bytes) {
      if (rank_ == origin) lock_put_unlock(bytes);
      MPI_Barrier(MPI_COMM_WORLD);
    });
    check_puts("MPI_Win_flush", [&](std::size_t bytes) {
      if (rank_ == origin) {
        MPI_Win_lock_all(0, win());
        put_bytes(bytes);
        MPI_Win_flush(target, win());
      }
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank_ == origin) MPI_Win_unlock_all(win());
    });
    check_notified_puts();
    check_gets();
    check_atomics();
  }

  void time() {
    time_at_target({timed_lengths.begin(), timed_lengths.end()});
    time_message(sizeof(std::int64_t));
    time_notified_put(sizeof(std::int64_t));
  }

  void time_more(const std::vector<std::size_t>& lengths) {
    time_at_target(lengths);
    for (const std::size_t bytes : lengths) {
      for (const bool computes : {false, true}) {
        time_at_target("lock, put, unlock", bytes, computes, [&] { lock_put_unlock(bytes); });
      }
      MPI_Win_fence(0, win());
      time_together("put + fence", bytes, [&] { put_and_fence(bytes); });
      MPI_Win_fence(MPI_MODE_NOSUCCEED, win());
      time_together("post, start, put, complete, wait", bytes, [&] { post_or_start(bytes); });
      time_message(bytes);
      time_notified_put(bytes);
    }
  }

 private:
  MPI_Win win() const { return window_.handle(); }
  std::byte* memory() const { return static_cast<std::byte*>(window_.base()); }

  /// New bytes, equal on both ranks, in the origin's buffer.
  void draw_bytes() {
    ++round_;
    for (std::size_t index = 0; index < longest; ++index) {
      local_[index] = static_cast<std::byte>((index * 40503U >> 3) + round_);
    }
  }
  void put_bytes(std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Put(local_.data(), count, MPI_BYTE, target, 0, count, MPI_BYTE, win());
  }
  void get_bytes(std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    MPI_Get(result_.data(), count, MPI_BYTE, target, 0, count, MPI_BYTE, win());
  }

  void put_and_fence(std::size_t bytes) {
    if (rank_ == origin) put_bytes(bytes);
    MPI_Win_fence(0, win());
  }
  void post_or_start(std::size_t bytes) {
    if (rank_ == origin) {
      MPI_Win_start(peer_.handle(), 0, win());
      put_bytes(bytes);
      MPI_Win_complete(win());
    } else {
      MPI_Win_post(peer_.handle(), 0, win());
      MPI_Win_wait(win());
    }
  }
  void lock_put_unlock(std::size_t bytes) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win());
    put_bytes(bytes);
    MPI_Win_unlock(target, win());
  }

  /// Prints whether all ranks have found right data.
  void report(const char* way, bool right_here) const {
    int right = right_here ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank_ == origin) {
      std::printf("{\"check\":\"%s\",\"right\":%s}\n", way, right != 0 ? "true" : "false");
      std::fflush(stdout);
    }
  }

  bool put_arrived(std::size_t bytes) const {
    if (rank_ == origin) return true;
    const bench::OwnPart own(window_, rank_);
    return std::equal(local_.begin(), local_.begin() + static_cast<std::ptrdiff_t>(bytes),
                      memory());
  }

  void check_puts(const char* way, const std::function<void(std::size_t)>& move) {
    bool right = true;
    for (const std::size_t bytes : checked_lengths) {
      draw_bytes();
      MPI_Barrier(MPI_COMM_WORLD);
      move(bytes);
      right = put_arrived(bytes) && right;
      MPI_Barrier(MPI_COMM_WORLD);
    }
    report(way, right);
  }

  void put_notify(std::size_t bytes, int to) {
    const int count = static_cast<int>(bytes);
    notify_.put(local_.data(), count, MPI_BYTE, to, 0, count, MPI_BYTE, win(), tag);
  }
  MPI_Request notified_from(int source) {
    MPI_Request request = MPI_REQUEST_NULL;
    notify_.init(win(), source, tag, 1, &request);
    return request;
  }

  void check_notified_puts() {
    if (!notify_.complete()) return;
    MPI_Request notified = rank_ == target ? notified_from(origin) : MPI_REQUEST_NULL;
    check_puts("ORIEL_Put_notify", [&](std::size_t bytes) {
      if (rank_ == origin) {
        put_notify(bytes, target);
        MPI_Win_flush(target, win());
      } else {
        MPI_Start(&notified);
        MPI_Wait(&notified, MPI_STATUS_IGNORE);
      }
    });
    if (rank_ == target) MPI_Request_free(&notified);
  }

  void check_gets() {
    bool right = true;
    for (const std::size_t bytes : checked_lengths) {
      draw_bytes();
      if (rank_ == target) {
        const bench::OwnPart own(window_, rank_);
        std::copy(local_.begin(), local_.end(), memory());
      }
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank_ == origin) {
        MPI_Win_lock_all(0, win());
        std::fill(result_.begin(), result_.end(), std::byte{0});
        get_bytes(bytes);
        MPI_Win_flush(target, win());
        MPI_Win_unlock_all(win());
        right =
            right && std::equal(local_.begin(), local_.begin() + static_cast<std::ptrdiff_t>(bytes),
                                result_.begin());
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    report("MPI_Get", right);
  }

  /// Both ranks add to the target's first number, and exchange it for their own.
  void check_atomics() {
    constexpr std::int64_t rounds = 100;
    const auto value = [this] {
      const bench::OwnPart own(window_, rank_);
      return *static_cast<std::int64_t*>(window_.base());
    };
    if (rank_ == target) {
      const bench::OwnPart own(window_, rank_);
      *static_cast<std::int64_t*>(window_.base()) = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win());
    const std::int64_t one = 1;
    std::int64_t before = -1;
    bool grows = true;
    for (std::int64_t round = 0; round < rounds; ++round) {
      std::int64_t found = -1;
      MPI_Fetch_and_op(&one, &found, MPI_INT64_T, target, 0, MPI_SUM, win());
      MPI_Win_flush(target, win());
      grows = grows && found > before;
      before = found;
      MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win());
    }
    MPI_Win_unlock_all(win());
    MPI_Barrier(MPI_COMM_WORLD);
    report("MPI_Fetch_and_op, MPI_Accumulate", grows && (rank_ == origin || value() == 4 * rounds));
    std::int64_t sum = 4 * rounds;
    const std::int64_t wanted = -1;
    if (rank_ == origin) {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win());
      std::int64_t found = 0;
      MPI_Compare_and_swap(&wanted, &sum, &found, MPI_INT64_T, target, 0, win());
      MPI_Win_unlock(target, win());
      grows = found == sum;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    report("MPI_Compare_and_swap", rank_ == origin ? grows : value() == wanted);
  }

  void print_time(const char* operation, std::size_t bytes, const char* target_state,
                  const std::vector<double>& samples) const {
    std::printf(
        "{\"time\":\"%s\",\"bytes\":%zu,\"target\":\"%s\",\"us\":%.3f,\"row_us\":%.0f,"
        "\"samples\":%zu}\n",
        operation, bytes, target_state, bench::median(samples), row_us_, samples.size());
    std::fflush(stdout);
  }

  void time_at_target(const std::vector<std::size_t>& lengths) {
    for (const bool computes : {false, true}) {
      for (const std::size_t bytes : lengths) {
        time_flushed("put + flush", bytes, computes, [&] { put_bytes(bytes); });
      }
      for (const std::size_t bytes : lengths) {
        time_flushed("get + flush", bytes, computes, [&] { get_bytes(bytes); });
      }
      time_flushed("fetch_and_op + flush", sizeof(std::int64_t), computes, [&] {
        MPI_Fetch_and_op(local_.data(), result_.data(), MPI_INT64_T, target, 0, MPI_SUM, win());
      });
    }
  }

  /// The lock is granted before the target begins to compute.
  void time_flushed(const char* operation, std::size_t bytes, bool computes,
                    const std::function<void()>& begin_operation) {
    if (rank_ == origin) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win());
    time_at_target(operation, bytes, computes, [&] {
      begin_operation();
      MPI_Win_flush(target, win());
    });
    if (rank_ == origin) MPI_Win_unlock(target, win());
  }

  /// The target waits in MPI_Barrier, or computes for `row_us_` first.
  void time_at_target(const char* operation, std::size_t bytes, bool computes,
                      const std::function<void()>& play) {
    if (rank_ == origin) play();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now_us();
    if (rank_ == origin) {
      std::vector<double> samples;
      double now = begin;
      while (samples.empty() || (now - begin < row_us_ / 2 && samples.size() < most_samples)) {
        play();
        const double end = now_us();
        samples.push_back(end - now);
        now = end;
      }
      print_time(operation, bytes, computes ? "computes" : "waits", samples);
    } else if (computes) {
      while (now_us() - begin < row_us_) {
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// Both ranks play the same number of rounds. `share`: of a round in the time that is printed.
  void time_together(const char* operation, std::size_t bytes, const std::function<void()>& play,
                     double share = 1) {
    const std::size_t rounds = bytes <= most_of_many ? many_rounds : few_rounds;
    std::vector<double> samples;
    for (std::size_t round = 0; round < rounds; ++round) {
      const double begin = now_us();
      play();
      samples.push_back((now_us() - begin) * share);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == origin) print_time(operation, bytes, "waits", samples);
  }

  /// Half of the time of round trips.
  void time_round_trips(const char* operation, std::size_t bytes, const std::function<void()>& send,
                        const std::function<void()>& receive) {
    const auto play = [&] {
      if (rank_ == origin) send();
      receive();
      if (rank_ == target) send();
    };
    time_together(operation, bytes, play, 0.5);
  }

  void time_message(std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    time_round_trips(
        "message", bytes,
        [&] { MPI_Send(local_.data(), count, MPI_BYTE, other_, tag, MPI_COMM_WORLD); },
        [&] {
          MPI_Recv(result_.data(), count, MPI_BYTE, other_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        });
  }

  void time_notified_put(std::size_t bytes) {
    if (!notify_.complete()) return;
    MPI_Request notified = notified_from(other_);
    MPI_Barrier(MPI_COMM_WORLD);
    time_round_trips(
        "notified put", bytes, [&] { put_notify(bytes, other_); },
        [&] {
          MPI_Start(&notified);
          MPI_Wait(&notified, MPI_STATUS_IGNORE);
        });
    MPI_Request_free(&notified);
  }

  static constexpr int tag = 1;
  static constexpr std::size_t most_of_many = std::size_t{64} * 1024;  // bytes
  static constexpr std::size_t many_rounds = 1000;
  static constexpr std::size_t few_rounds = 30;

  const int rank_ = own_rank();
  const int other_ = rank_ == origin ? target : origin;
  const bench::Group peer_{{other_}};
  const double row_us_;
  const bench::Window window_{bench::Memory::allocated, longest};
  const bench::NotifyApi notify_;
  std::vector<std::byte> local_;
  std::vector<std::byte> result_ = std::vector<std::byte>(longest);
  std::uint32_t round_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::expect_two_ranks("test");
  std::int64_t milliseconds = 200;
  std::vector<std::size_t> lengths;
  bench::take_options(argc, argv,
                      {{"--milliseconds", bench::number(milliseconds)},
                       {"--bytes", bench::number(lengths, {1, longest})}});
  {
    Network network(static_cast<double>(milliseconds) * 1e3);
    network.check();
    if (lengths.empty()) {
      network.time();
    } else {
      network.time_more(lengths);
    }
  }
  MPI_Finalize();
}
