// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/operation/address.hpp"
#include "core/operation/strided_blocks.hpp"
#include "core/region/private_copy.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The most runs that one system call copies.
inline constexpr std::size_t most_runs = 64;

/// Collects the runs of a copy to (`write`) or from private memory of a process, and copies them in
/// batches, by one system call each.
class RunBatch {
 public:
  RunBatch(NodeServices& services, int process, bool write)
      : services_(services), process_(process), write_(write) {}

  void add(void* local, std::uint64_t remote, std::uint64_t bytes) {
    if (count_ == runs_.size()) flush();
    runs_[count_++] = Run{local, remote, bytes};
  }
  /// Adds `blocks` of the strided blocks, the first of which is at these addresses.
  void add_strided(std::byte* local, std::uint64_t remote, const StridedBlocks& strided,
                   std::uint64_t blocks) {
    for (std::uint64_t block = 0; block != blocks; ++block) {
      const auto number = static_cast<std::int64_t>(block);
      add(at(local, number * strided.our_stride),
          remote + static_cast<std::uint64_t>(number * strided.their_stride), strided.bytes);
    }
  }
  /// Copies the runs. Returns the first error so far; after an error nothing more is copied.
  Error flush() {
    if (count_ != 0 && error_ == Error::none) {
      error_ = copy_private(services_, process_, write_, {runs_.data(), count_});
    }
    count_ = 0;
    return error_;
  }

 private:
  NodeServices& services_;
  int process_;
  bool write_;
  std::array<Run, most_runs> runs_;
  std::size_t count_ = 0;
  Error error_ = Error::none;
};

}  // namespace oriel
