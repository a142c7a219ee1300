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

/// The name by which peers attach to a process. Plain bytes, so that the host's collectives can
/// transfer it.
struct ProcessName {
  std::uint64_t id = 0;     // random: unique across nodes, and if a pid is used again
  std::uint64_t start = 0;  // see process_start()
  ArenaName arena;          // contains the pid
  ArenaLocation block;      // its ProcessBlock
};
static_assert(std::is_trivially_copyable_v<ProcessName> && sizeof(ProcessName) == 56);

/// The memory that a process shares with all peers on its node. The cells of the mailbox, the lines
/// of the notification queue and the lines of the threads follow it. The members before the
/// doorbell are written before the process's name is sent, and never change.
struct alignas(cache_line) ProcessBlock {
  static constexpr std::uint32_t magic_value = 0x0e1e15b1;
  static constexpr std::uint32_t current_version = 15;  // of all layouts in shared memory
  static constexpr std::size_t mailbox_cells = 4096;    // 256 KiB
  static constexpr std::size_t notify_lines = 1024;     // 64 KiB

  std::uint32_t magic = magic_value;
  std::uint32_t version = current_version;
  std::uint64_t id = 0;
  std::uint64_t probe_address = 0;  // of a word in private memory; see ShmTransport::vm_allowed
  std::uint64_t probe_value = 0;    // the value of that word
  std::uint32_t fenced = 0;         // 1: the owner is registered for expedited membarriers
  std::int32_t rank = -1;           // in MPI_COMM_WORLD, for messages to people; -1: not known
  cpu_set_t processors = {};        // on which the owner may run
  Doorbell doorbell;
  MailboxEnds mailbox;
  MailboxClaim claim;  // the owner's claim of a place in a peer's mailbox or notification queue
  NotifyEnds notify;
  ErrandCell errand;  // errands for the owner
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
// `oriel top` searches for blocks at multiples of this, and reads `wait_sign` and `calls` there.
static_assert(std::bit_ceil(ProcessBlock::bytes()) == std::size_t{1} << 19);
static_assert(offsetof(ProcessBlock, wait_sign) == 28 * cache_line);
static_assert(offsetof(ProcessBlock, calls) == 30 * cache_line);
static_assert(std::is_standard_layout_v<ProcessBlock> &&
              std::is_trivially_destructible_v<ProcessBlock>);

}  // namespace oriel
