// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "bench/row.hpp"
#include "bench/window.hpp"
#include "message_row.hpp"
#include "operations.hpp"
#include "options.hpp"
#include "synchronization.hpp"
#include "window_row.hpp"

namespace micro {

/// A row that can be played: its labels, and how a rank makes it. `parts` is how many of the
/// times that the table shows make up a round.
struct Entry {
  std::string_view row;
  std::string_view window;
  std::size_t bytes;
  double parts;
  std::function<std::unique_ptr<bench::Row>(int rank)> make;
};

template <typename Synchronization, typename Operation>
void add(std::vector<Entry>& entries, std::string_view row, const std::vector<std::size_t>& sizes) {
  for (const bench::Memory memory : {bench::Memory::allocated, bench::Memory::created}) {
    for (const std::size_t bytes : sizes) {
      entries.push_back(
          {row, bench::name_of(memory), bytes, 1, [=](int rank) -> std::unique_ptr<bench::Row> {
             return std::make_unique<WindowRow<Synchronization, Operation>>(memory, bytes, rank);
           }});
    }
  }
}

inline std::vector<Entry> catalogue(const Options& options) {
  constexpr std::size_t small = 8;
  const std::vector<std::size_t> sizes = options.sizes_or({small, std::size_t{64} * 1024});
  std::vector<Entry> entries;
  if (options.subject == Subject::messages) {
    for (const std::size_t bytes : sizes) {
      entries.push_back(
          {"send_recv", "none", bytes, 2, [=](int rank) -> std::unique_ptr<bench::Row> {
             return std::make_unique<MessageRow>(bytes, rank);
           }});
    }
    return entries;
  }
  add<Flush, Put>(entries, "put_flush", sizes);
  add<Flush, Get>(entries, "get_flush", sizes);
  add<Flush, Accumulate<std::int64_t>>(entries, "accumulate_int64_flush", sizes);
  add<Flush, Accumulate<double>>(entries, "accumulate_double_flush", sizes);
  add<Flush, FetchAndOp>(entries, "fetch_and_op_flush", {small});
  add<Fence, Put>(entries, "put_fence", sizes);
  add<PostStart, Put>(entries, "put_post_start", sizes);
  add<ExclusiveLock, Put>(entries, "put_lock", sizes);
  return entries;
}

}  // namespace micro
