// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "core/window.hpp"
#include "engine/engine.hpp"

namespace oriel {

/// The paths of operations to each rank of the window: "ranks 0 to 3 mapped, ranks 4 to 7 over
/// tcp".
std::string describe_paths(Running& running, const Window& window);

/// The protocols of puts, gets and accumulates of contiguous memory by length, as the core chooses
/// them (select_protocol()): a line for each kind of rank.
std::string describe_protocols(Running& running, Window& window);

/// The network that is or would be used between nodes: libfabric's provider, version and file. If
/// there is none, a sentence with the reason.
std::string describe_network(Running& running);

}  // namespace oriel
