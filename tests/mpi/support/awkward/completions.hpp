// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstdint>

#include "manners.hpp"
#include "peers.hpp"

namespace awkward {

/// What becomes of the completion of an operation.
struct Fate {
  const Looks* acknowledged_by = nullptr;  // reported after this process's next poll
  bool late = false;
  bool ours = false;  // not reported: the wrapper began the operation
};
/// Sets the fate of the next completion with this context.
void expect(void* context, const Fate& fate);

/// Makes a completion of the endpoint's without an operation of the real provider's.
void complete(const fid_ep* endpoint, void* context, std::uint64_t flags, int error);

/// Immediate data that are written are shown to the origin, too (the manner echoed_immediate).
void echo(std::uint64_t immediate);

/// The endpoint reports its completions to this queue.
void bind_queue(const fid_ep* endpoint, const fid* queue);
/// Returns whether a completion is there that the real provider knows nothing of.
bool anything_kept(const fid* queue);
/// Puts our function in the place of the domain's.
void play_queues(fid_domain& domain);

}  // namespace awkward
