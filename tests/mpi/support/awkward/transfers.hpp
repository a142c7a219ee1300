// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>

namespace awkward {

/// The bytes of the longest message or transfer (the manner small_limits).
constexpr std::size_t longest = std::size_t{64} * 1024;

/// An error that passes, in the place of an operation that is then not begun; 0: there is none.
int passing_refusal();
/// Returns whether an operation ends with an error that passes, without having moved anything.
bool fails_later(const fid_ep* endpoint, void* context, std::uint64_t flags);

/// Begins the transfers whose time has come.
void begin_transfers();
/// Returns whether transfers wait for their time.
bool transfers_wait();
/// Frees the bytes of a transfer whose completion was ours.
void end_copy(void* context);

/// Puts our functions in the place of those that write and read.
void play_transfers(fid_ep& endpoint);

}  // namespace awkward
