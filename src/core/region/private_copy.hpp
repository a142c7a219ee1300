// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/base/error.hpp"
#include "core/operation/chunked_operation.hpp"
#include "core/operation/errand.hpp"
#include "core/region/chunk_work.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// Copies runs into (`write`) or out of private memory of a process. One run of up to 40 B the
/// process copies itself, and one of 64 KB or more both do; else, or if the process cannot be
/// asked, a system call does. Waits as NodeServices::ask() and carry_out_with() do. By any thread.
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
  } else if (ChunkedOperation::takes_move(run.bytes)) {
    CopiedChunks ours(services, process, write, run);
    const auto whole = ChunkedOperation::move(write, run.remote, run.local, run.bytes);
    if (const auto error = services.carry_out_with(process, whole, ours)) return *error;
  }
  return services.copy(process, write, runs);
}

}  // namespace oriel
