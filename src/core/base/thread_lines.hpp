// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"

namespace oriel {

/// What a thread says of itself that updates memory without its process's lock. Only it writes;
/// whoever takes the right to update away reads (see Update).
template <typename Words>
struct alignas(cache_line) BasicThreadLine {
  /// 0: it is in no update; else in one of the memory whose control block has this name.
  typename Words::template Atomic<std::uint64_t> updating{0};
  std::uint32_t number = 0;  // among those of its process
};
using ThreadLine = BasicThreadLine<SharedWords>;
static_assert(sizeof(ThreadLine) == cache_line && std::is_standard_layout_v<ThreadLine>);

/// The lines of a process's threads, where its node peers find them. Zero bytes are valid ones.
struct ThreadLines {
  static constexpr std::size_t most = 64;

  /// The first so many may have been given to threads. Raised before a thread uses its line.
  std::atomic<std::uint32_t> used{0};
  std::array<ThreadLine, most> lines;

  std::span<const ThreadLine> in_use() const {
    return std::span(lines).first(used.load(std::memory_order_seq_cst));
  }
};

}  // namespace oriel
