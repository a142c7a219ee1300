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

/// Takes the notifications of a process.
class NotifyReader {
 public:
  /// Makes a store that comes with the next one, into a window's memory. False: not yet; it comes
  /// again, and none before it. Short: the store's origin may be waiting for it.
  virtual bool store(std::uint32_t window, std::uint64_t offset,
                     std::span<const std::byte> bytes) = 0;
  virtual void take(const NotifyRecord& record) = 0;

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

/// Carries out the chunks of an operation that are left to its origin.
class ChunkWork {
 public:
  virtual Error carry_out(const Chunk& chunk) = 0;

 protected:
  ~ChunkWork() = default;
};

/// What the processes of one node do for one another: shared memory, copies of private memory,
/// notifications, wake-ups, fences. Processes are numbered by the creator of the transport,
/// ourselves included. No call but finish_recall(), ask(), carry_out_with() and serve() waits for
/// anybody. Not thread-safe, but where it is said: the owner of the Process serializes.
class NodeServices {
 public:
  virtual ~NodeServices() = default;

  /// Where so many bytes of ours are for our peers: memory from share() is shared, and whatever
  /// else the transport knows to be.
  virtual MemoryRange locate(const void* memory, std::uint64_t bytes) = 0;
  /// Zeroed memory of ours that the processes of our node can map(), and where it lies. Null: there
  /// is none left.
  virtual std::byte* share(std::uint64_t bytes, ArenaLocation& location) = 0;
  virtual void unshare(std::byte* memory) = 0;
  /// So many bytes of what a process of our node shares, ourselves included, in our address space.
  /// Null: they cannot be had.
  virtual std::byte* map(int process, const ArenaLocation& location, std::uint64_t bytes) = 0;
  /// The same of a range's shared part. Null: it has none, too.
  std::byte* map_shared(int process, const MemoryRange& range) {
    return range.location.shared() ? map(process, range.location, range.shared_bytes()) : nullptr;
  }
  /// Copies into (`write`) or out of a node peer's private memory, piece by piece, complete on
  /// return. Only used for ranks whose path is Path::system_call. Any thread may call it, whatever
  /// others do.
  virtual Error copy(int process, bool write, std::span<const Run> runs) = 0;
  /// Has a process of our node, whose path is Path::system_call, carry out an errand in its private
  /// memory, if it sweeps. True: that has been done, and what it fetches is in the
  /// errand. False: nothing has been done, copy() it. Waits hardly longer than the system calls
  /// would take, or until the process is through with it. Any thread may call it.
  virtual bool ask(int process, Errand& errand) = 0;
  /// Carries out an operation on private memory of the process together with it: `ours` carries out
  /// the chunks that it does not take. Returns when no chunk is under way any more, so it waits for
  /// the last one that the process has taken, as long as that lives, and may carry out chunks for
  /// others meanwhile. Any thread may call it. nullopt: the process cannot be asked, nothing has
  /// been done, copy() it. Else Error::none; the first error of `ours`, after which any chunks may
  /// have been carried out; or Error::peer_lost, the process has died within a chunk.
  virtual std::optional<Error> carry_out_with(int process, const ChunkedOperation& operation,
                                              ChunkWork& ours) = 0;
  /// Carries out what a peer has asked us to. True: something. `waits`: the caller waits anyhow, so
  /// it takes a chunk, too, and where one errand follows the other the next one is awaited for
  /// about as long as a copy() takes. Any thread may call it.
  virtual bool serve(bool waits) = 0;
  virtual const std::atomic<std::uint32_t>& errand_state() const = 0;
  static constexpr std::uint32_t errand_asked = 1;
  static constexpr std::uint32_t errand_asked_in_chunks = 2;
  /// Whether this value of errand_state() says that a peer has asked. Calls that do not wait are
  /// told of chunks as well, though serve() does not carry any out for them: that costs them a look
  /// as long as the errand is there, and the state stays one word.
  static constexpr bool asked(std::uint32_t state) {
    return state == errand_asked || state == errand_asked_in_chunks;
  }

  /// Hands a notification to a process of our node, by one cache line, and wakes it if it sleeps.
  /// Released with it: all that we have written, and the store. In order per pair of processes.
  /// NotifyOutcome::not_now: it has not taken what has come before, and nothing tells when it has,
  /// or the store can only be made where it had better not be.
  virtual NotifyOutcome notify(int process, const NotifyRecord& record,
                               const NotifyStore& store) = 0;
  /// Gives the next notification that has come to the reader. False: there is none that it takes.
  virtual bool take_notification(NotifyReader& reader) = 0;
  /// Notifications have come that have not been taken, or are just being written.
  virtual bool notifications_due() = 0;
  /// Begins to take back the stores that we have left to the process, in the window of that number
  /// of its. True: fence_peers() has to follow, and finish_recall() in any case.
  virtual bool begin_recall(int process, std::uint32_t window, RecallFor reason) = 0;
  /// Returns when they have been made: by the maker here where the process has not. Waits for a
  /// store that it is making now, as long as it lives. False: it has ended.
  virtual bool finish_recall(int process, StoreMaker& maker) = 0;
  /// Not 0: a process has found no space for its notification.
  virtual const std::atomic<std::uint32_t>& pressed() const = 0;

  /// The lines of our threads.
  virtual ThreadLines& own_threads() = 0;
  /// Those in use of a process on our node, ourselves included.
  virtual std::span<const ThreadLine> threads(int process) = 0;

  /// Wakes the process that sleeps at the doorbell.
  virtual void ring(Doorbell& doorbell) = 0;

  /// All processes obey fence_peers(): a process may then order a store before a later load by the
  /// compiler alone, if whoever depends on it calls fence_peers() in between.
  virtual bool fences_peers() const = 0;
  /// Runs a full memory fence on every processor that executes one of the processes.
  virtual void fence_peers() = 0;

  /// False: the process, one of our node, has ended, so nothing will come of what it had begun. A
  /// system call or two.
  virtual bool alive(int process) = 0;

  /// Gives the processor away for a moment: called inside the few short critical sections when
  /// somebody else is in.
  virtual void relax() = 0;

  /// Since some moment, to compare how long copies take.
  virtual std::uint64_t nanoseconds() = 0;
};

}  // namespace oriel
