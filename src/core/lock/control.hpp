// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"
#include "core/lock/fence_tree.hpp"

namespace oriel {

/// What one peer tells this process on one window. Every word has one writer: the peer itself when
/// it is mapped, this process's message handler when it is remote. The reader is the owner of the
/// control block; of `updating` whoever takes the right to update away, of `fence` all peers where
/// a tree counts fences (FenceWords). Stores that announce are release, loads that act on the value
/// acquire: the peer's window stores come before the word that announces them.
template <typename Words>
struct alignas(cache_line) BasicSlot {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  Atomic<std::uint64_t> granted{0};       // exposures that the peer has opened to us (paper: g_r)
  Atomic<std::uint64_t> done{0};          // access epochs to us that it has completed: DoneWord
  Atomic<std::uint64_t> fence{0};         // the last fence call that it has announced
  Atomic<std::uint64_t> lock_granted{0};  // remote peers only: lock requests granted to us
  Atomic<std::uint64_t> updating{0};      // mapped peers only: see Update
  Atomic<std::uint32_t> locked{0};        // holds the lock by this word: see LockLine
};

/// A short operation that travels with a lock request (S4): whoever grants the lock carries it out
/// on the spot and passes the lock on, so that nobody has to be woken for it. Plain data.
struct Piggyback {
  static constexpr std::size_t capacity = 32;

  std::uint64_t offset = 0;  // bytes from the start of the target's window
  std::uint32_t bytes = 0;
  std::uint32_t element = 0;  // bytes of one element; 0: a put
  std::uint8_t op = 0;        // as in Reduction
  std::uint8_t basic = 0;
  std::byte data[capacity] = {};
};

/// One origin's place in the lock queue of a target. An origin has at most one request per target
/// and window in the queue; later ones wait in its own deferred epochs. All but `state` is only
/// touched under the line's guard.
template <typename Words>
struct alignas(cache_line) BasicLockNode {
  template <typename T>
  using Plain = typename Words::template Plain<T>;

  static constexpr std::uint32_t waiting = 0;
  static constexpr std::uint32_t granted = 1;
  static constexpr std::uint32_t piggyback_done =
      2;                                      // granted, piggybacked operation run, and given back
  static constexpr std::uint32_t failed = 3;  // likewise, but a peer was lost: not run

  // Reset by the origin before it queues.
  typename Words::template Atomic<std::uint32_t> state{waiting};
  Plain<std::uint32_t> next = 0;  // origin + 1 of the next in line
  Plain<std::uint32_t> exclusive = 0;
  Plain<std::uint32_t> joins = 0;          // see LockLine::acquire()
  Plain<std::uint32_t> has_piggyback = 0;  // a piggybacked operation
  Plain<Piggyback> piggyback;
};

/// Fair readers-writer lock of one target (see lock_line.hpp).
template <typename Words>
struct alignas(cache_line) BasicLockQueue {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;
  template <typename T>
  using Plain = typename Words::template Plain<T>;

  Atomic<std::uint64_t> holders{0};
  Atomic<std::uint64_t> line{0};
  Atomic<std::uint32_t> contended{0};      // nobody may keep it; shared holders are counted
  Atomic<std::uint32_t> shared_streak{0};  // about so many have been since the last phase
  Atomic<std::uint32_t> phases{0};         // of uncounted holders; see LockLine
  Plain<std::uint32_t> head = 0;           // origin + 1; under the guard in `line`
  Plain<std::uint32_t> tail = 0;
  Plain<std::uint32_t> joiners = 0;  // in line with LockNode::joins; likewise
  Plain<std::uint32_t> last = 0;     // origin + 1 of the last exclusive holder; only it writes
  Plain<std::uint32_t> streak = 0;   // how often it has taken the lock in a row; likewise
};

/// What a rank says in a round of an Exchange.
using ExchangeWords = std::array<std::uint64_t, 4>;

/// The words of one rank on one window that peers on its node reach directly, followed in memory by
/// Slot[ranks], LockNode[ranks] and a FenceTree. A zeroed page is a valid, idle control block:
/// pages that belong to peers never talked to are never touched.
template <typename Words>
struct alignas(cache_line) BasicControlBlock {
  using Slot = BasicSlot<Words>;
  using LockNode = BasicLockNode<Words>;
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  std::uint64_t name = 0;  // not 0: no other one of the node has it now
  std::uint32_t ranks = 0;
  // Who may accumulate into this rank's memory: see Update. In one line: each turn moves it anyway.
  Atomic<std::uint32_t> updater{0};
  Atomic<std::uint32_t> turn{0};  // 1 + number of the updater that has it
  typename Words::template Plain<std::uint32_t> singles = 0;  // in a row; of who has the turn
  Atomic<std::uint32_t> watchers{0};  // peers that wait for our fence word: see FenceWords
  Atomic<std::uint64_t> round{0};     // of Exchange that the owner has entered, see `said`
  Atomic<std::uint64_t> barrier{0};   // bit s: step s of the Barrier has arrived
  BasicLockQueue<Words> lock;
  std::array<ExchangeWords, 2> said{};  // in that round, and in the one before

  Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
  LockNode* nodes() { return reinterpret_cast<LockNode*>(slots() + ranks); }
  /// Of all ranks; that of the first rank is used.
  FenceTree fence_tree() { return {nodes() + ranks, ranks}; }
  /// Makes one of zeroed memory of bytes(ranks) bytes. Its owner does so before any peer looks.
  static BasicControlBlock* create(void* memory, std::uint32_t ranks, std::uint64_t name) {
    auto* control = new (memory) BasicControlBlock;
    control->ranks = ranks;
    control->name = name;
    return control;
  }
  static constexpr std::size_t bytes(std::size_t ranks) {
    return sizeof(BasicControlBlock) + ranks * (sizeof(Slot) + sizeof(LockNode)) +
           FenceTree::bytes(ranks);
  }
};

using Slot = BasicSlot<SharedWords>;
using LockNode = BasicLockNode<SharedWords>;
using LockQueue = BasicLockQueue<SharedWords>;
using ControlBlock = BasicControlBlock<SharedWords>;

static_assert(sizeof(Slot) == cache_line);
static_assert(sizeof(LockNode) == 2 * cache_line && sizeof(LockQueue) == cache_line);
static_assert(sizeof(ControlBlock) == 3 * cache_line);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::is_trivially_destructible_v<ControlBlock> &&
              std::is_standard_layout_v<ControlBlock>);

}  // namespace oriel
