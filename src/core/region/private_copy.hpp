// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/error.hpp"
#include "core/operation/address.hpp"
#include "core/operation/chunked_operation.hpp"
#include "core/operation/errand.hpp"
#include "core/operation/strided_blocks.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The most runs that one system call copies.
inline constexpr std::size_t most_runs = 64;

/// The chunks of an operation that its origin carries out itself, by system calls.
class OriginChunks final : public ChunkWork {
 public:
  /// `space`: ChunkedOperation::most_combined bytes, for an accumulate.
  OriginChunks(NodeServices& services, int process, const ChunkedOperation& whole,
               std::byte* space = nullptr)
      : services_(services), process_(process), whole_(whole), space_(space) {}

  Error carry_out(const Chunk& chunk) override {
    return whole_.carry_out_at_origin(
        chunk, space_,
        [&](bool write, std::byte* here, std::uint64_t there, std::uint64_t bytes,
            std::uint64_t stride) {
          std::array<Run, most_runs> runs;
          for (std::uint64_t blocks = chunk.bytes / bytes; blocks != 0;) {
            const std::size_t count = std::min<std::uint64_t>(blocks, runs.size());
            for (Run& run : std::span(runs).first(count)) {
              run = {here, there, bytes};
              here += bytes;
              there += stride;
            }
            const Error error = services_.copy(process_, write, {runs.data(), count});
            if (error != Error::none) return error;
            blocks -= count;
          }
          return Error::none;
        });
  }

 private:
  NodeServices& services_;
  int process_;
  const ChunkedOperation& whole_;
  std::byte* space_;
};

/// Copies runs into (`write`) or out of private memory of a process. The process itself copies a
/// single run of up to 40 B; both processes copy a single run of 64 KB or more. All others, or if
/// the process cannot be asked, are copied by a system call. Waits as NodeServices::ask() and
/// carry_out_with() do. Called by any thread.
inline Error copy_private(NodeServices& services, int process, bool write,
                          std::span<const Run> runs) {
  if (runs.size() != 1) return services.copy(process, write, runs);
  const Run& run = runs.front();
  if (Errand::fits_move(run.bytes)) {
    Errand errand =
        write ? Errand::put(run.remote, run.local, run.bytes) : Errand::get(run.remote, run.bytes);
    if (services.ask(process, errand)) {
      errand.copy_fetched(run.local);
      return Error::none;
    }
  } else if (ChunkedOperation::divides_move(run.bytes)) {
    const auto whole = ChunkedOperation::move(write, run.remote, run.local, run.bytes);
    OriginChunks ours(services, process, whole);
    if (const auto error = services.carry_out_with(process, whole, ours)) return *error;
  }
  return services.copy(process, write, runs);
}

/// Collects the runs of a copy to (`write`) or from private memory of a process, and copies them in
/// batches, by one system call each.
class RunBatch {
 public:
  /// `alone`: the process carries out no part.
  RunBatch(NodeServices& services, int process, bool write, bool alone = false)
      : services_(services), process_(process), write_(write), alone_(alone) {}

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
      const std::span<const Run> runs(runs_.data(), count_);
      error_ = alone_ ? services_.copy(process_, write_, runs)
                      : copy_private(services_, process_, write_, runs);
    }
    count_ = 0;
    return error_;
  }

 private:
  NodeServices& services_;
  int process_;
  bool write_;
  bool alone_;
  std::array<Run, most_runs> runs_;
  std::size_t count_ = 0;
  Error error_ = Error::none;
};

}  // namespace oriel
