// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/cache_line.hpp"
#include "core/base/zero_array.hpp"

namespace oriel {

/// How many notified operations have named it (N8). Any number of processes add, each with release
/// behind what it has written to its owner's memory; the owner reads with acquire. A line of its
/// own: those who add to two counters do not meet. Zeroed memory is a valid one.
class alignas(cache_line) Counter {
 public:
  void add() { value_.fetch_add(1, std::memory_order_release); }

  // The owner. Its exchange keeps the release sequences of those who have added, so that a later
  // acquire still synchronizes with them.
  std::uint64_t value() const { return value_.load(std::memory_order_acquire); }
  /// The value, which is another one afterwards. No addition is lost.
  std::uint64_t exchange(std::uint64_t value) {
    return value_.exchange(value, std::memory_order_acquire);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

static_assert(sizeof(Counter) == cache_line);

/// One rank's counters.
struct CounterRow {
  Counter* first = nullptr;  // null: not mapped, or none
  std::uint32_t count = 0;

  /// Memory of so many.
  static constexpr std::size_t bytes(std::uint32_t count) { return count * sizeof(Counter); }
};

/// The counters of a window at all its ranks. What a window that has none pays is this object.
class Counters {
 public:
  Counters() = default;
  /// Of all ranks; `rank` is ours, `own` the memory that its counters lie in.
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
  /// One that a mapped rank has.
  Counter& at(int rank, std::int32_t index) {
    return rows_[static_cast<std::size_t>(rank)].first[index];
  }

  bool mine(std::int32_t index) const {
    return index >= 0 && static_cast<std::uint32_t>(index) < mine_.count;
  }
  /// One of ours.
  Counter& mine_at(std::int32_t index) { return mine_.first[index]; }
  /// For a program that polls: whether it is told another value than the last time.
  bool news(std::int32_t index, std::uint64_t value) {
    return std::exchange((*seen_)[index], value) != value;
  }

 private:
  CounterRow mine_;
  std::unique_ptr<ZeroArray<std::uint64_t>> seen_;  // memory from the first look at one on
  std::vector<CounterRow> rows_;                    // by rank
  std::shared_ptr<void> own_;
};

}  // namespace oriel
