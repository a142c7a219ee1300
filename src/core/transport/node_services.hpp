// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/error.hpp"
#include "core/base/thread_lines.hpp"
#include "core/notify/notification.hpp"
#include "core/operation/chunked_operation.hpp"
#include "core/operation/errand.hpp"
#include "core/transport/doorbell.hpp"
#include "core/transport/memory_range.hpp"

namespace oriel {

/// One contiguous part of a copy between our memory and a peer's private memory.
struct Run {
  void* local;
  std::uint64_t remote;  // address in the peer's process
  std::uint64_t bytes;
};

/// Receives the notifications of a process.
class NotifyReader {
 public:
  /// Makes the store that travels with the next notification, into a window's memory. False if that
  /// is not possible yet: the store is offered again, and none of later notifications before it.
  /// Must be short, because the store's origin may be waiting for it.
  virtual bool store(std::uint32_t window, std::uint64_t offset,
                     std::span<const std::byte> bytes) = 0;
  virtual void deliver(const NotifyRecord& record) = 0;

 protected:
  ~NotifyReader() = default;
};

/// Makes a store into a window's memory at a peer.
class StoreMaker {
 public:
  virtual void make(std::span<const std::byte> bytes, std::uint64_t offset) = 0;

 protected:
  ~StoreMaker() = default;
};

/// Carries out the chunks of an operation that the owner of the memory does not take.
class ChunkWork {
 public:
  virtual Error carry_out(const Chunk& chunk) = 0;

 protected:
  ~ChunkWork() = default;
};

/// The services that processes of one node offer one another: shared memory, copies of private
/// memory, notifications, wake-ups, fences. Processes are numbered by the creator of the transport,
/// this one included. Only finish_recall(), ask(), carry_out_with() and serve() wait for other
/// processes. Not thread-safe, except where stated: the owner of the Process serializes the calls.
class NodeServices {
 public:
  virtual ~NodeServices() = default;

  /// The way in which peers reach `bytes` bytes of our memory. Memory from share() is shared, and
  /// so is other memory that the transport has placed in its arena. Private memory is exposed where
  /// the system permits it.
  virtual MemoryRange locate(const void* memory, std::uint64_t bytes) = 0;
  /// Allocates zeroed memory that the processes of our node can map(), and returns its location
  /// too. Null: none is left.
  virtual std::byte* share(std::uint64_t bytes, ArenaLocation& location) = 0;
  virtual void unshare(std::byte* memory) = 0;
  /// Returns the address, in our address space, of `bytes` shared bytes of a process of our node,
  /// which may be this one. Null: they cannot be mapped.
  virtual std::byte* map(int process, const ArenaLocation& location, std::uint64_t bytes) = 0;
  /// Returns the address, in our address space, of private memory of another process of our node,
  /// in an exposed address space. Null: this process cannot map it.
  virtual std::byte* map_private(int process, const MemoryRange& range) = 0;
  /// Returns the address of a range of another process of our node. Null: this process does not map
  /// it.
  std::byte* map_range(int process, const MemoryRange& range) {
    if (range.location.shared()) return map(process, range.location, range.bytes);
    return range.space() != 0 ? map_private(process, range) : nullptr;
  }
  /// True if this process can load these bytes of its own now (`stores`: and store them).
  virtual bool reachable(std::uint64_t address, std::uint64_t bytes, bool stores) = 0;
  /// Copies a run into (`write`) or out of private memory of this process. Error::system: the
  /// program has unmapped some of it, perhaps during the copy.
  virtual Error copy_own(bool write, const Run& run) = 0;
  /// Copies into (`write`) or out of a node peer's private memory, run by run, complete on return.
  /// Only used for ranks with Path::system_call. Any thread may call it at any time.
  virtual Error copy(int process, bool write, std::span<const Run> runs) = 0;
  /// Lets a process of our node with Path::system_call carry out an errand in its private memory,
  /// if it sweeps. True if it has done so; fetched data are in the errand. False if the errand was
  /// not carried out; the caller then uses copy(). Waits hardly longer than the system calls would
  /// take, or until the process has finished an errand that it has begun. Any thread may call it.
  virtual bool ask(int process, Errand& errand) = 0;
  /// Carries out an operation on private memory of the process together with it: `ours` carries out
  /// the chunks that the process does not take. Returns when no chunk is in progress: it waits for
  /// the last one that the process has taken, as long as the process lives, and may carry out other
  /// origins' chunks meanwhile. Any thread may call it. Results:
  /// - nullopt: the process cannot be asked, nothing has been done; the caller uses copy().
  /// - Error::none.
  /// - The first error of `ours`; any of the chunks may have been carried out.
  /// - Error::peer_lost: the process has died within a chunk.
  virtual std::optional<Error> carry_out_with(int process, const ChunkedOperation& operation,
                                              ChunkWork& ours) = 0;
  /// Carries out an errand of a peer. True if it has done anything. `waits`: the caller waits
  /// anyway, so a chunk is carried out as well, and after two errands in a row the next one is
  /// awaited for about as long as a copy() takes. Any thread may call it.
  virtual bool serve(bool waits) = 0;
  virtual const std::atomic<std::uint32_t>& errand_state() const = 0;
  static constexpr std::uint32_t errand_asked = 1;
  static constexpr std::uint32_t errand_asked_in_chunks = 2;
  /// Returns whether this value of errand_state() means that a peer asks for an errand. Calls that
  /// do not wait carry out no chunks, and call serve() for them without need: in return the state
  /// is one word.
  static constexpr bool asked(std::uint32_t state) {
    return state == errand_asked || state == errand_asked_in_chunks;
  }

  /// Delivers a notification to a process of our node by one cache line, and wakes the process if
  /// it sleeps. Release: everything written before, and the store. In order per pair of processes.
  /// NotifyOutcome::not_now: the process has not yet taken earlier notifications, so there is no
  /// space, and no event reports when there is; or the notification is possible only without its
  /// store.
  virtual NotifyOutcome notify(int process, const NotifyRecord& record,
                               const NotifyStore& store) = 0;
  /// Gives the reader the next notification that has arrived. False if there is none that it
  /// accepts.
  virtual bool deliver_notification(NotifyReader& reader) = 0;
  /// Returns whether there are notifications that have not been taken, or are being written.
  virtual bool notifications_due() = 0;
  /// Begins to recall the stores that this process has inlined for the process's window number
  /// `window`. True if fence_peers() must be called before finish_recall(), which must be called in
  /// any case.
  virtual bool begin_recall(int process, std::uint32_t window, RecallFor reason) = 0;
  /// Returns when the recalled stores have been made, by the process or by `maker`. Waits for a
  /// store that the process is making now, as long as the process lives. False if it has ended.
  virtual bool finish_recall(int process, StoreMaker& maker) = 0;
  /// Not 0: a process has found no space for a notification to this one.
  virtual const std::atomic<std::uint32_t>& pressed() const = 0;

  /// The lines of this process's threads.
  virtual ThreadLines& own_threads() = 0;
  /// The lines in use of a process of our node, which may be this one.
  virtual std::span<const ThreadLine> threads(int process) = 0;

  /// Wakes the process that sleeps on the doorbell.
  virtual void ring(Doorbell& doorbell) = 0;
  /// Called after a store that the owner of the doorbell may be waiting for: rings if it sleeps.
  void wake(Doorbell& doorbell) {
    if (doorbell.asked_to_ring()) ring(doorbell);
  }

  /// Returns whether fence_peers() fences all processes. If so, a compiler barrier is enough for a
  /// process to order a store before a later load, provided that the process that depends on this
  /// order calls fence_peers() in between.
  virtual bool fences_peers() const = 0;
  /// Runs a full memory fence on every processor that executes one of the processes.
  virtual void fence_peers() = 0;

  /// False if the process, one of our node, has ended, so it will not continue anything that it had
  /// begun. Takes a system call or two.
  virtual bool alive(int process) = 0;

  /// Yields the processor for a moment: called in the few short critical sections while another
  /// process is in one.
  virtual void relax() = 0;

  /// A time since a fixed moment, for comparing the times of copies.
  virtual std::uint64_t nanoseconds() = 0;
};

}  // namespace oriel
