// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/operation/chunked_operation.hpp"
#include "core/operation/reduction.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The chunks of a put or get that the origin copies itself.
class CopiedChunks final : public ChunkWork {
 public:
  CopiedChunks(NodeServices& services, int process, bool write, const Run& run)
      : services_(services), process_(process), write_(write), run_(run) {}

  Error carry_out(const Chunk& chunk) override {
    const Run run{static_cast<std::byte*>(run_.local) + chunk.first, run_.remote + chunk.first,
                  chunk.bytes};
    return services_.copy(process_, write_, {&run, 1});
  }

 private:
  NodeServices& services_;
  int process_;
  bool write_;
  const Run& run_;
};

/// The chunks of an accumulate that the origin combines itself.
class CombinedChunks final : public ChunkWork {
 public:
  /// `space` has ChunkedOperation::most_combined bytes.
  CombinedChunks(NodeServices& services, int process, const Reduction& reduction,
                 std::uint64_t remote, const std::byte* origin, std::byte* space)
      : services_(services),
        process_(process),
        reduction_(reduction),
        remote_(remote),
        origin_(origin),
        space_(space) {}

  Error carry_out(const Chunk& chunk) override {
    const Run run{space_, remote_ + chunk.first, chunk.bytes};
    if (const Error error = services_.copy(process_, false, {&run, 1}); error != Error::none) {
      return error;
    }
    reduce_plain(reduction_, space_, origin_ + chunk.first, nullptr,
                 chunk.bytes / reduction_.element);
    return services_.copy(process_, true, {&run, 1});
  }

 private:
  NodeServices& services_;
  int process_;
  const Reduction& reduction_;
  std::uint64_t remote_;
  const std::byte* origin_;
  std::byte* space_;
};

}  // namespace oriel
