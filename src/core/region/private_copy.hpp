// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "core/base/error.hpp"
#include "core/operation/chunked_operation.hpp"
#include "core/operation/errand.hpp"
#include "core/region/chunk_work.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

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
    CopiedChunks ours(services, process, write, run);
    const auto whole = ChunkedOperation::move(write, run.remote, run.local, run.bytes);
    if (const auto error = services.carry_out_with(process, whole, ours)) return *error;
  }
  return services.copy(process, write, runs);
}

}  // namespace oriel
