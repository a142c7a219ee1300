// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "bench/window.hpp"
#include "crew.hpp"
#include "lane.hpp"
#include "options.hpp"
#include "pace.hpp"
#include "shared_window.hpp"

namespace threads {

/// What the other threads do meanwhile.
enum class Others { idle, busy };

/// Threads of rank 0 put to the last rank, which waits in MPI_Barrier, where the host makes the
/// progress that its own one-sided communication may need. All calls are collective, and their
/// samples, in microseconds per put, are rank 0's.
class Measurement {
 public:
  Measurement(const SharedWindow& window, const Options& options, int rank, int target)
      : window_(window), options_(options), rank_(rank), target_(target) {}

  /// Bytes of what busy threads put.
  static constexpr std::size_t long_bytes = std::size_t{256} << 10;
  /// Puts that share a flush.
  static constexpr int row_length = 64;

  /// Every thread puts and flushes.
  std::vector<double> puts(int count, std::size_t bytes) const {
    return play(std::vector<std::size_t>(static_cast<std::size_t>(count), bytes),
                [&](Lanes& lanes) { return all_put(lanes); });
  }

  /// One thread puts a byte and flushes, beside others.
  std::vector<double> beside(int count, Others others) const {
    std::vector<std::size_t> bytes(static_cast<std::size_t>(count), long_bytes);
    bytes[0] = 1;
    return play(bytes, [&](Lanes& lanes) {
      return others == Others::idle ? beside_sleepers(lanes) : beside_long_puts(lanes);
    });
  }

  /// One thread puts `row_length` times in a row and then flushes.
  std::vector<double> row(std::size_t bytes, bool ordered) const {
    return play({bytes}, [&](Lanes& lanes) {
      Pace pace;
      crew(1, [&](int) {
        pace = keep_on([&] { lanes.front().put_row(row_length, ordered); }, limit(1));
      });
      pace.operations *= row_length;
      return pace;
    });
  }

 private:
  using Lanes = std::deque<Lane>;

  /// All samples of one case, and then the check of what came of it.
  std::vector<double> play(const std::vector<std::size_t>& bytes,
                           const std::function<Pace(Lanes&)>& sample) const {
    Lanes lanes;
    for (const std::size_t one : bytes) {
      lanes.emplace_back(window_, static_cast<int>(lanes.size()), target_, one);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<double> result;
    if (rank_ == 0) {
      MPI_Win_lock_all(0, window_.handle());
      for (Lane& lane : lanes) lane.put_and_flush();  // some hosts lock as late as this
      while (std::ssize(result) < options_.samples) result.push_back(sample(lanes).us());
      MPI_Win_unlock_all(window_.handle());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(lanes);
    return result;
  }

  void check(Lanes& lanes) const {
    std::vector<std::int64_t> numbers;
    for (const Lane& lane : lanes) numbers.push_back(lane.number());
    MPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (rank_ == target_) {
      const bench::OwnPart mine(window_.handle(), rank_);
      for (std::size_t part = 0; part < lanes.size(); ++part) lanes[part].expect(numbers[part]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// A sample is over when each thread has had its turn, should all share one core.
  std::function<bool(double)> limit(std::size_t threads) const {
    const double seconds =
        static_cast<double>(options_.turn_ms) / 1000 * static_cast<double>(threads);
    return [seconds](double elapsed) { return elapsed >= seconds; };
  }

  Pace all_put(Lanes& lanes) const {
    std::vector<Pace> paces(lanes.size());
    crew(static_cast<int>(lanes.size()), [&](int member) {
      const auto index = static_cast<std::size_t>(member);
      Lane& lane = lanes[index];
      paces[index] = keep_on([&] { lane.put_and_flush(); }, limit(lanes.size()));
    });
    Pace all;
    for (const Pace& pace : paces) all += pace;
    return all;
  }

  Pace beside_sleepers(Lanes& lanes) const {
    Pace pace;
    std::atomic<bool> over = false;
    crew(static_cast<int>(lanes.size()), [&](int member) {
      if (member == 0) {
        pace = keep_on([&] { lanes.front().put_and_flush(); }, limit(1));
        over = true;
      }
      while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    return pace;
  }

  /// The others make a number of puts and leave their completion to whose flush waits for them.
  /// Nobody may, so that the number is what bounds the memory that the MPI needs.
  Pace beside_long_puts(Lanes& lanes) const {
    Pace pace;
    const auto others = static_cast<std::int64_t>(lanes.size()) - 1;
    const std::int64_t puts = std::max<std::int64_t>(1, most_long_puts / others);
    std::atomic<std::int64_t> left = others * puts;
    crew(static_cast<int>(lanes.size()), [&](int member) {
      Lane& lane = lanes[static_cast<std::size_t>(member)];
      if (member == 0) {
        while (left == others * puts) std::this_thread::yield();
        pace = keep_on([&] { lane.put_and_flush(); }, [&](double) { return left == 0; });
        return;
      }
      lane.renew();
      for (std::int64_t made = 0; made < puts; ++made) {
        lane.put();
        --left;
      }
      while (left != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lane.flush();
    });
    return pace;
  }

  // 64 MiB.
  static constexpr std::int64_t most_long_puts = 256;

  const SharedWindow& window_;
  const Options& options_;
  int rank_;
  int target_;
};

}  // namespace threads
