// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/base/thread_lines.hpp"
#include "core/transport/doorbell.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/call_counts.hpp"
#include "transport/shm/errand_cell.hpp"
#include "transport/shm/mailbox.hpp"
#include "transport/shm/notify_queue.hpp"
#include "transport/shm/wait_sign.hpp"

namespace oriel {

/// How peers find a process. Plain bytes, to travel through the host's collectives.
struct ProcessName {
  std::uint64_t id = 0;     // random: tells apart what pids of other times and nodes do not
  std::uint64_t start = 0;  // see process_start()
  ArenaName arena;          // and its pid
  ArenaLocation block;      // its ProcessBlock
};
static_assert(std::is_trivially_copyable_v<ProcessName> && sizeof(ProcessName) == 56);

/// What a process shares with all peers on its node; the cells of the mailbox follow, the lines of
/// the notifications, and those of its threads. What comes before the doorbell is written before
/// the name goes out and never changes.
struct alignas(cache_line) ProcessBlock {
  static constexpr std::uint32_t magic_value = 0x0e1e15b1;
  static constexpr std::uint32_t current_version = 15;  // of all that peers see in shared memory
  static constexpr std::size_t mailbox_cells = 4096;    // 256 KiB
  static constexpr std::size_t notify_lines = 1024;     // 64 KiB

  std::uint32_t magic = magic_value;
  std::uint32_t version = current_version;
  std::uint64_t id = 0;
  std::uint64_t probe_address = 0;  // of a word in private memory, ...
  std::uint64_t probe_value = 0;    // ... which holds this: see ShmTransport::vm_allowed
  std::uint32_t fenced = 0;         // 1: the owner obeys expedited membarriers
  std::int32_t rank = -1;           // in MPI_COMM_WORLD, for what people read; -1: not known
  cpu_set_t processors = {};        // on which the owner may run
  Doorbell doorbell;
  MailboxEnds mailbox;
  MailboxClaim claim;  // the owner's, of a place in a peer's mailbox or among its notifications
  NotifyEnds notify;
  ErrandCell errand;  // for the owner
  WaitSign wait_sign;
  CallCounts calls;

  MailboxCell* cells() { return reinterpret_cast<MailboxCell*>(this + 1); }
  NotifyLine* lines() { return reinterpret_cast<NotifyLine*>(cells() + mailbox_cells); }
  ThreadLines* threads() { return reinterpret_cast<ThreadLines*>(lines() + notify_lines); }
  static constexpr std::size_t bytes() {
    return sizeof(ProcessBlock) + mailbox_cells * sizeof(MailboxCell) +
           notify_lines * sizeof(NotifyLine) + sizeof(ThreadLines);
  }
};
static_assert(sizeof(ProcessBlock) == 31 * cache_line);
static_assert(offsetof(ProcessBlock, doorbell) == 3 * cache_line);
static_assert(offsetof(ProcessBlock, mailbox) == 4 * cache_line);
// `oriel top` looks for blocks at multiples of this, and reads sign and counts there.
static_assert(std::bit_ceil(ProcessBlock::bytes()) == std::size_t{1} << 19);
static_assert(offsetof(ProcessBlock, wait_sign) == 28 * cache_line);
static_assert(offsetof(ProcessBlock, calls) == 30 * cache_line);
static_assert(std::is_standard_layout_v<ProcessBlock> &&
              std::is_trivially_destructible_v<ProcessBlock>);

}  // namespace oriel
