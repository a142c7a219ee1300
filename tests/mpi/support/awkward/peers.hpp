// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <atomic>
#include <cstdint>

namespace awkward {

/// How often a process has looked at its completions: a word that all processes of the machine can
/// read. Only that process writes it, and the order of other memory does not follow from it.
using Looks = std::atomic<std::uint64_t>;

/// Counts a look of this process.
void count_look();
/// The looks of the process with this address among those of the endpoint.
const Looks& looks_of(const fid_ep* endpoint, fi_addr_t address);

/// Puts our functions in the place of those that say and take addresses.
void play_addresses(fid_ep& endpoint);
void play_addresses(fid_av& addresses);
/// The endpoint finds its peers in this address vector.
void bind_addresses(const fid_ep* endpoint, const fid* addresses);
/// The endpoint is about to be closed.
void end_looks(const fid_ep* endpoint);

}  // namespace awkward
