// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "core/base/error.hpp"
#include "core/operation/errand.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// The chunks of one run that we copy ourselves.
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

/// Copies runs into (`write`) or out of private memory of a process: one of a few bytes by the
/// process itself, if that is there, and a long one together with it; else by a system call. By any
/// thread.
inline Error copy_private(NodeServices& services, int process, bool write,
                          std::span<const Run> runs) {
  if (runs.size() != 1) return services.copy(process, write, runs);
  const Run& run = runs.front();
  if (Errand::takes_move(run.bytes)) {
    Errand errand =
        write ? Errand::put(run.remote, run.local, run.bytes) : Errand::get(run.remote, run.bytes);
    if (services.ask(process, errand)) {
      errand.give(run.local);
      return Error::none;
    }
  } else if (Errand::parts_move(run.bytes)) {
    Errand errand = Errand::move_in_chunks(write, run.remote, run.local, run.bytes);
    CopiedChunks ours(services, process, write, run);
    if (const auto error = services.ask_in_chunks(process, errand, ours)) return *error;
  }
  return services.copy(process, write, runs);
}

}  // namespace oriel
