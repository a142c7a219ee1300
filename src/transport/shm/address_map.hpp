// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oriel {

/// One entry of the kernel's list of mappings of this process, /proc/self/maps.
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  std::uint64_t device = 0;  // of the file; 0 and 0: none
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;  // in the file
  std::string name;          // as /proc/PID/maps has it

  /// Read and written by this process alone, without a file, and not a thread's stack.
  bool private_memory() const {
    return writable && !executable && !shared && inode == 0 &&
           name.find("stack") == std::string::npos &&
           (name.empty() || name == "[heap]" || name.starts_with("[anon"));
  }
};

/// All mappings in the range, cut to it, and those elsewhere whose names have `others` in them, in
/// the order of addresses. Asks the kernel, which takes some hundred microseconds in a large
/// process. Nothing: the kernel does not say, for example because no file can be opened.
std::optional<std::vector<Mapping>> mappings_in(std::uintptr_t begin, std::uintptr_t end,
                                                std::string_view others = {});

/// A run of whole pages.
struct PageRun {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

/// The runs of pages in the range that have been touched: in memory or swapped out. False: the
/// kernel does not say. Allocates nothing where `runs` has room for half of the pages.
bool touched_runs(std::byte* begin, std::size_t bytes, std::vector<PageRun>& runs);

/// Whether new pages of this thread would lie on the memory node where all touched pages of the
/// range are. False: not, or the kernel does not say.
bool new_pages_lie_where(std::byte* begin, std::size_t bytes);

}  // namespace oriel
