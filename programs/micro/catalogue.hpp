// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/row.hpp"
#include "bench/window.hpp"
#include "message_row.hpp"
#include "operations.hpp"
#include "options.hpp"
#include "row_set.hpp"
#include "synchronization.hpp"
#include "window_row.hpp"

namespace micro {

/// A row that can be played: its labels, and how a rank makes it. `parts` is how many of the
/// times that the table shows make up a round.
struct Entry {
  std::string row;
  std::string_view window;
  std::size_t bytes;
  double parts;
  std::function<std::unique_ptr<bench::Row>(int rank)> make;
};

/// The rows of a run, as the options select them.
class Catalogue {
 public:
  explicit Catalogue(const Options& options)
      : options_(options),
        memories_{bench::Memory::allocated, bench::Memory::created},
        sizes_(options.sizes_or({short_one, long_one})) {
    add_set();
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static constexpr std::size_t short_one = 8;
  static constexpr std::size_t long_one = std::size_t{64} * 1024;

  void add_set() {
    switch (options_.set) {
      case RowSet::usual:
        return add_usual();
      case RowSet::operations:
        return add_all_operations();
      case RowSet::sizes:
        return add_sizes();
      case RowSet::vectors:
        return add_vectors();
      case RowSet::dynamic:
        return add_dynamic();
      case RowSet::contended:
        return add_contended();
      case RowSet::messages:
        return add_messages();
    }
  }

  void add_messages() {
    if (!options_.rows.includes("send_recv")) return;
    for (const std::size_t bytes : sizes_) {
      entries_.push_back(
          {"send_recv", "none", bytes, 2, [=](int rank) -> std::unique_ptr<bench::Row> {
             return std::make_unique<MessageRow>(bytes, rank);
           }});
    }
  }

  void add_usual() {
    add<Flush, Put<>>("put_flush", sizes_);
    add<Flush, Get<>>("get_flush", sizes_);
    add<Flush, Accumulate<std::int64_t>>("accumulate_int64_flush", sizes_);
    add<Flush, Accumulate<double>>("accumulate_double_flush", sizes_);
    add<Flush, FetchAndOp>("fetch_and_op_flush", {short_one});
    add<Fence, Put<>>("put_fence", sizes_);
    add<PostStart, Put<>>("put_post_start", sizes_);
    add<ExclusiveLock, Put<>>("put_lock", sizes_);
    add<LockAll, Put<>>("put_lock_all", {short_one});
  }

  /// Every operation in every kind of synchronization.
  void add_all_operations() {
    sizes_ = options_.sizes_or({short_one, long_one, std::size_t{1024} * 1024});
    add_operations<Flush>("flush");
    add_operations<FlushLocal>("flush_local");
    add<FlushAfter<places_in_a_row>, PutInARow>("put_flush_16", sizes_);
    add<FlushAfter<places_in_a_row>, GetInARow>("get_flush_16", sizes_);
    add_operations<ExclusiveLock>("lock");
    add_operations<SharedLock>("lock_shared");
    add_operations<LockAll>("lock_all");
    add_operations<PostStart>("post_start");
    add_operations<Fence>("fence");
  }

  /// Accumulates of 1, 8, 64, 512, 1024, 4096 and 8192 elements.
  void add_sizes() {
    sizes_ = options_.sizes_or({8, 64, 512, 4096, 8192, 32768, 65536});
    add<Flush, Accumulate<double>>("accumulate_double_flush", sizes_);
    add<Flush, GetAccumulate>("get_accumulate_flush", sizes_);
  }

  void add_vectors() {
    sizes_ = options_.sizes_or({512, long_one});
    add<Flush, Put<Vector>>("put_vector_flush", sizes_);
    add<Flush, Get<Vector>>("get_vector_flush", sizes_);
    add<Flush, Accumulate<double, Vector>>("accumulate_double_vector_flush", sizes_);
  }

  void add_dynamic() {
    memories_ = {bench::Memory::dynamic};
    add<Flush, Put<>>("put_flush", sizes_);
    add<Flush, Get<>>("get_flush", sizes_);
    add<Flush, Accumulate<double>>("accumulate_double_flush", sizes_);
    add<Flush, FetchAndOp>("fetch_and_op_flush", {short_one});
  }

  void add_contended() {
    add<Contended<ExclusiveLock>, Put<>>("put_lock", {short_one});
    add<Contended<Flush>, ContendedFetchAndOp>("fetch_and_op_flush", {short_one});
  }

  template <typename Synchronization>
  void add_operations(const std::string& synchronization) {
    add<Synchronization, Put<>>("put_" + synchronization, sizes_);
    add<Synchronization, Get<>>("get_" + synchronization, sizes_);
    add<Synchronization, Accumulate<std::int64_t>>("accumulate_int64_" + synchronization, sizes_);
    add<Synchronization, Accumulate<double>>("accumulate_double_" + synchronization, sizes_);
    add<Synchronization, GetAccumulate>("get_accumulate_" + synchronization, sizes_);
    add<Synchronization, FetchAndOp>("fetch_and_op_" + synchronization, {short_one});
    add<Synchronization, CompareAndSwap>("compare_and_swap_" + synchronization, {short_one});
  }

  template <typename Synchronization, typename Operation>
  void add(const std::string& row, const std::vector<std::size_t>& sizes) {
    if (!options_.rows.includes(row)) return;
    for (const bench::Memory memory : memories_) {
      if (!options_.windows.includes(bench::name_of(memory))) continue;
      for (const std::size_t bytes : sizes) {
        entries_.push_back(
            {row, bench::name_of(memory), bytes, 1, [=](int rank) -> std::unique_ptr<bench::Row> {
               return std::make_unique<WindowRow<Synchronization, Operation>>(memory, bytes, rank);
             }});
      }
    }
  }

  const Options& options_;
  std::vector<bench::Memory> memories_;
  std::vector<std::size_t> sizes_;
  std::vector<Entry> entries_;
};

}  // namespace micro
