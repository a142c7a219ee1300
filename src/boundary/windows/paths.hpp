// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "boundary/host/host.hpp"
#include "core/window.hpp"

namespace oriel::boundary {

/// Which way our operations take to each rank of the window: "ranks 0 to 3 mapped, ranks 4 to 7
/// over tcp".
std::string describe_paths(const Window& window);

/// How puts, gets and accumulates of contiguous memory travel to each kind of rank, by length: a
/// line for each kind, as the core chooses it (select_protocol).
std::string describe_protocols(Window& window);

/// What carries them to other nodes, or would: libfabric's provider, version and file. Where there
/// is nothing, a sentence that says why.
std::string describe_network();

/// Adds the paths to an info object. The host's error code.
int write_paths(const Window& window, MPI_Info info);

}  // namespace oriel::boundary
