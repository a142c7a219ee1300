// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/shared_words.hpp"
#include "core/base/zero_array.hpp"

namespace oriel {

/// The number of notified operations that have named this counter (N8). Any number of processes add
/// to it, with release, after their stores to the owner's memory; the owner reads it with acquire.
/// Each counter has a cache line of its own, so that additions to two counters do not contend.
/// Zeroed memory is a valid counter.
class alignas(cache_line) Counter {
 public:
  void add() { value_.fetch_add(1, std::memory_order_release); }

  // For the owner. exchange() is a read-modify-write, so it continues the release sequences of
  // earlier additions, and a later acquire still synchronizes with them.
  std::uint64_t value() const { return value_.load(std::memory_order_acquire); }
  /// Sets the counter and returns its old value. No addition is lost.
  std::uint64_t exchange(std::uint64_t value) {
    return value_.exchange(value, std::memory_order_acquire);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

static_assert(sizeof(Counter) == cache_line);

/// The counters of one rank.
struct CounterRow {
  Counter* first = nullptr;  // null: not mapped, or none
  std::uint32_t count = 0;

  /// Bytes of memory that `count` counters take.
  static constexpr std::size_t bytes(std::uint32_t count) { return count * sizeof(Counter); }
};

/// The counters of a window at all its ranks. A window without counters pays for this object only.
class Counters {
 public:
  Counters() = default;
  /// `rows`: by rank; `rank`: our own; `own`: the memory of our counters.
  Counters(int rank, std::vector<CounterRow> rows, std::shared_ptr<void> own)
      : mine_(rows[static_cast<std::size_t>(rank)]),
        seen_(std::make_unique<ZeroArray<std::uint64_t>>(mine_.count)),
        rows_(std::move(rows)),
        own_(std::move(own)) {}

  std::uint32_t count(int rank) const {
    return rows_.empty() ? 0 : rows_[static_cast<std::size_t>(rank)].count;
  }
  bool has(int rank, std::int32_t index) const {
    return index >= 0 && static_cast<std::uint32_t>(index) < count(rank);
  }
  /// A counter of a mapped rank.
  Counter& at(int rank, std::int32_t index) {
    return rows_[static_cast<std::size_t>(rank)].first[index];
  }

  bool mine(std::int32_t index) const {
    return index >= 0 && static_cast<std::uint32_t>(index) < mine_.count;
  }
  /// A counter of our own.
  Counter& mine_at(std::int32_t index) { return mine_.first[index]; }
  /// For a program that polls: true if `value` is not the value that the program was given last.
  bool news(std::int32_t index, std::uint64_t value) {
    return std::exchange((*seen_)[index], value) != value;
  }

 private:
  CounterRow mine_;
  std::unique_ptr<ZeroArray<std::uint64_t>> seen_;  // allocated from the first poll on
  std::vector<CounterRow> rows_;                    // by rank
  std::shared_ptr<void> own_;
};

}  // namespace oriel
