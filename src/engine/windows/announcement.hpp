// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/transport/memory_range.hpp"
#include "engine/host/host_interface.hpp"
#include "engine/process/node.hpp"
#include "transport/shm/process_block.hpp"

namespace oriel {

struct WindowDraft;

/// The information that a rank sends to all others when a window is made. Plain bytes, so that the
/// host's collectives can transfer it.
struct Announcement {
  Node node;
  ProcessName process;
  ArenaLocation control;  // of the rank's ControlBlock
  ArenaLocation pieces;   // of its SharedPieces, if the window is dynamic
  MemoryRange memory;     // of the window
  std::uint64_t disp_unit = 1;
  std::uint32_t window = 0;       // the number of the window in this process
  std::uint32_t failed = 0;       // the rank could not prepare its part
  std::uint32_t knows_peers = 0;  // see HostComm
  std::uint32_t intrinsic = 0;    // its info requests accumulates by hardware atomics
  std::uint32_t networked = 0;    // the rank has opened a network to other nodes
  std::int32_t numa_node = -1;    // on which the rank runs; -1: unknown

  /// True if node peers reach the rank's memory otherwise than through an arena. All ranks find
  /// this from the announcements alone. XPMEM does not count: some peers may be unable to map by
  /// it.
  bool has_private_memory() const { return memory.bytes != 0 && !memory.location.shared(); }
};
static_assert(std::is_trivially_copyable_v<Announcement>);

/// All ranks' announcements.
struct Announcements {
  std::vector<Announcement> by_rank;
  /// True if no later step can fail on any rank; each rank finds this from the announcements alone.
  bool conclusive = false;

  const Announcement& of(int rank) const { return by_rank[static_cast<std::size_t>(rank)]; }
  /// "rank 3 (host)", for error sentences.
  std::string rank_and_host(int rank) const;
  /// Sets the locations of all ranks' memory: in rank order, in one piece of rank 0's arena.
  void lay_out_contiguously();
};

/// Sends this rank's announcement to all ranks: one Allgather.
[[nodiscard]] HostCode announce(WindowDraft& draft, Announcements& announced);

}  // namespace oriel
