// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>

#include "core/base/published.hpp"
#include "core/base/shared_words.hpp"
#include "core/base/thread_lines.hpp"
#include "core/transport/doorbell.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/errand_cell.hpp"
#include "transport/shm/mailbox.hpp"
#include "transport/shm/notify_queue.hpp"

namespace oriel {

/// The number of calls on windows that a process has made, for its peers and `oriel top`. Counts
/// starts of Oriel's persistent requests, but not waits, tests, or the creation of windows.
class alignas(cache_line) CallCounts {
 public:
  /// Counts a call. With the owner's process lock.
  void count() { locked_.store(locked() + 1, std::memory_order_relaxed); }
  /// Adds calls on hot paths. Called by any thread of the owner.
  void add_hot(std::uint64_t calls) { hot_.fetch_add(calls, std::memory_order_relaxed); }
  /// Called when a call has returned from a long wait. With the process lock.
  void end_wait(std::uint64_t now) {
    ended_.store(now, std::memory_order_release);
    locked_then_.store(locked(), std::memory_order_release);
  }

  /// The number of calls that count() has counted.
  std::uint64_t locked() const { return locked_.load(std::memory_order_relaxed); }
  /// The time at which the last call ended, if it had waited long; otherwise 0.
  std::uint64_t quiet_since() const {
    // This order: if `ended` is of a wait that ends meanwhile, its call has been counted, and the
    // comparison fails.
    const std::uint64_t then = locked_then_.load(std::memory_order_acquire);
    const std::uint64_t ended = ended_.load(std::memory_order_acquire);
    return then == locked() ? ended : 0;
  }

 private:
  // python/oriel/top/process_block.py reads them.
  std::atomic<std::uint64_t> locked_{0};
  std::atomic<std::uint64_t> hot_{0};
  std::atomic<std::uint64_t> ended_{0};        // nanoseconds of the monotonic clock; 0: none
  std::atomic<std::uint64_t> locked_then_{0};  // locked_ at the time `ended_`
};
static_assert(sizeof(CallCounts) == cache_line);

/// A wait of a process, as its peers and `oriel top` see it.
struct ShownWait {
  static constexpr std::size_t most_awaited = 4;
  static constexpr std::size_t name_bytes = 64;

  std::uint32_t reason = 0;  // a WaitReason
  std::uint32_t window = 0;  // its number in the owner's process; 0: no particular window
  std::uint64_t since = 0;   // nanoseconds of the monotonic clock
  /// The first few awaited processes of the node, by ProcessName::id; 0: no further one.
  std::array<std::uint64_t, most_awaited> awaited{};
  /// 1: all of `awaited` must act before the wait ends. 0: perhaps only some of them.
  std::uint32_t certain = 0;
  std::uint32_t reserved = 0;
  std::array<char, name_bytes> window_name{};  // the beginning of the name, then zeros

  bool operator==(const ShownWait&) const = default;
};

/// The words in which a process shows its peers a long wait. The owner writes them with its process
/// lock. Peers read them without a lock, and see one consistent state (Version).
class alignas(cache_line) WaitSign {
 public:
  void show(const ShownWait& wait) {
    const auto words = std::bit_cast<Words>(wait);
    version_.change([&] {
      for (std::size_t i = 0; i < words.size(); ++i) {
        words_[i].store(words[i], std::memory_order_release);
      }
    });
  }
  void clear() { show({}); }

  /// The wait that is shown; nullopt: there is none, or the owner is changing it.
  std::optional<ShownWait> read() const {
    const std::uint64_t version = version_.begin_read();
    Words words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = words_[i].load(std::memory_order_acquire);
    }
    const auto wait = std::bit_cast<ShownWait>(words);
    if (!version_.is_unchanged(version) || wait.since == 0) return std::nullopt;
    return wait;
  }

 private:
  using Words = std::array<std::uint64_t, sizeof(ShownWait) / sizeof(std::uint64_t)>;

  // python/oriel/top/process_block.py reads them.
  Version version_;
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Words>> words_{};
};
static_assert(sizeof(WaitSign) == 2 * cache_line);

/// The name by which peers attach to a process. Plain bytes, so that the host's collectives can
/// transfer it.
struct ProcessName {
  std::uint64_t id = 0;     // random: unique across nodes, and if a pid is used again
  std::uint64_t start = 0;  // see process_start()
  ArenaName arena;          // contains the pid
  ArenaLocation block;      // its ProcessBlock
};
static_assert(std::is_trivially_copyable_v<ProcessName> && sizeof(ProcessName) == 56);

/// The start time of the process, in clock ticks since boot. Process id and start time identify a
/// process even if the id is used again. Zero if there is no such process, or only its zombie.
std::uint64_t process_start(std::int32_t pid);

/// True if the process with this id and start time runs, or may run. If `start` is zero, any
/// process with this id counts.
bool process_alive(std::int32_t pid, std::uint64_t start);

/// The memory that a process shares with all peers on its node. The cells of the mailbox, the lines
/// of the notification queue and the lines of the threads follow it. The members before the
/// doorbell are written before the process's name is sent, and never change.
struct alignas(cache_line) ProcessBlock {
  static constexpr std::uint32_t magic_value = 0x0e1e15b1;
  static constexpr std::uint32_t current_version = 17;  // of all layouts in shared memory
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
  MailboxClaim claim;  // the owner's claim of a position in a peer's mailbox or notification queue
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
