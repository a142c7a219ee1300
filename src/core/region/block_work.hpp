// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/operation/chunked_operation.hpp"
#include "core/operation/reduction.hpp"
#include "core/operation/strided_blocks.hpp"
#include "core/region/run_batch.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// Copies one chunk between contiguous memory `here` and the blocks that begin at `remote`.
inline Error copy_blocks_of_chunk(NodeServices& services, int process, bool write,
                                  std::uint64_t remote, const StridedBlocks& strided,
                                  const Chunk& chunk, std::byte* here) {
  RunBatch batch(services, process, write);
  const std::uint64_t before = chunk.first / strided.bytes;
  batch.add_strided(here, remote + before * static_cast<std::uint64_t>(strided.their_stride),
                    strided, chunk.bytes / strided.bytes);
  return batch.flush();
}

/// The chunks of a put to strided blocks that the origin stores itself.
class PutBlocks final : public ChunkWork {
 public:
  PutBlocks(NodeServices& services, int process, std::uint64_t remote, const StridedBlocks& strided,
            std::byte* origin)
      : services_(services),
        process_(process),
        remote_(remote),
        strided_(strided),
        origin_(origin) {}

  Error carry_out(const Chunk& chunk) override {
    return copy_blocks_of_chunk(services_, process_, true, remote_, strided_, chunk,
                                origin_ + chunk.first);
  }

 private:
  NodeServices& services_;
  int process_;
  std::uint64_t remote_;
  const StridedBlocks& strided_;
  std::byte* origin_;
};

/// The chunks of an accumulate to strided blocks that the origin combines itself.
class AccumulateBlocks final : public ChunkWork {
 public:
  /// `space` has ChunkedOperation::most_combined bytes.
  AccumulateBlocks(NodeServices& services, int process, const Reduction& reduction,
                   std::uint64_t remote, const StridedBlocks& strided, const std::byte* origin,
                   std::byte* space)
      : services_(services),
        process_(process),
        reduction_(reduction),
        remote_(remote),
        strided_(strided),
        origin_(origin),
        space_(space) {}

  Error carry_out(const Chunk& chunk) override {
    if (const Error error = copy(false, chunk); error != Error::none) return error;
    reduce_plain(reduction_, space_, origin_ + chunk.first, nullptr,
                 chunk.bytes / reduction_.element);
    return copy(true, chunk);
  }

 private:
  Error copy(bool write, const Chunk& chunk) {
    return copy_blocks_of_chunk(services_, process_, write, remote_, strided_, chunk, space_);
  }

  NodeServices& services_;
  int process_;
  const Reduction& reduction_;
  std::uint64_t remote_;
  const StridedBlocks& strided_;
  const std::byte* origin_;
  std::byte* space_;
};

}  // namespace oriel
