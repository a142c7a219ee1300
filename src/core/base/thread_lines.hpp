// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/base/shared_words.hpp"

namespace oriel {

/// The announcement of a thread that updates memory without its process's lock. Only the thread
/// writes the line; a rank that changes ControlBlock::updater reads it (see Update).
template <typename Words>
struct alignas(cache_line) BasicThreadLine {
  /// The name of the control block of the memory that the thread is updating; 0: in no update.
  typename Words::template Atomic<std::uint64_t> updating{0};
  std::uint32_t number = 0;  // unique in the process
};
using ThreadLine = BasicThreadLine<SharedWords>;
static_assert(sizeof(ThreadLine) == cache_line && std::is_standard_layout_v<ThreadLine>);

/// The lines of a process's threads, in shared memory that the peers of its node read. Zero bytes
/// are valid lines.
struct ThreadLines {
  static constexpr std::size_t most = 64;

  /// The number of lines, from the first on, that may belong to threads. Raised before a thread
  /// uses its line.
  std::atomic<std::uint32_t> used{0};
  std::array<ThreadLine, most> lines;

  std::span<const ThreadLine> in_use() const {
    return std::span(lines).first(used.load(std::memory_order_seq_cst));
  }
};

}  // namespace oriel
