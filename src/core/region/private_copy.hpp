// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "core/base/error.hpp"
#include "core/operation/errand.hpp"
#include "core/transport/node_services.hpp"

namespace oriel {

/// Copies runs into (`write`) or out of private memory of a process: one of a few bytes by the
/// process itself, if that is there; else by a system call. By any thread.
inline Error copy_private(NodeServices& services, int process, bool write,
                          std::span<const Run> runs) {
  if (runs.size() == 1 && Errand::takes_move(runs.front().bytes)) {
    const Run& run = runs.front();
    Errand errand =
        write ? Errand::put(run.remote, run.local, run.bytes) : Errand::get(run.remote, run.bytes);
    if (services.ask(process, errand)) {
      errand.give(run.local);
      return Error::none;
    }
  }
  return services.copy(process, write, runs);
}

}  // namespace oriel
