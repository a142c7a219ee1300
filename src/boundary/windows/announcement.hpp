// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/transport/memory_range.hpp"
#include "engine/process/node.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/process_block.hpp"

namespace oriel::boundary {

struct WindowDraft;

/// What a rank tells all others when a window is made. Plain bytes, to travel through the host's
/// collectives.
struct Announcement {
  Node node;
  ProcessName process;
  ArenaLocation control;  // of its ControlBlock
  ArenaLocation pieces;   // of its SharedPieces, where the window is dynamic
  MemoryRange memory;     // of the window
  std::uint64_t disp_unit = 1;
  std::uint32_t window = 0;       // this rank's number of the window
  std::uint32_t failed = 0;       // the rank could not prepare its part
  std::uint32_t knows_peers = 0;  // see knows_peers()
  std::uint32_t intrinsic = 0;    // its info asks for accumulates by hardware atomics
};
static_assert(std::is_trivially_copyable_v<Announcement>);

/// All ranks' announcements.
struct Announcements {
  std::vector<Announcement> by_rank;
  /// No later step can fail on any rank: each rank sees so from the announcements alone.
  bool conclusive = false;

  const Announcement& of(int rank) const { return by_rank[static_cast<std::size_t>(rank)]; }
  /// "rank 3 (host)", for error sentences.
  std::string rank_and_host(int rank) const;
  /// One piece of rank 0's holds the memory of all ranks, in their order.
  void lay_out_contiguously();
};

/// Tells this rank's announcement to all ranks: one Allgather. The host's error code.
int announce(WindowDraft& draft, Announcements& announced);

}  // namespace oriel::boundary
