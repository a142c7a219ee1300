// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "core/base/shared_words.hpp"

namespace oriel {

/// Counts the ranks of a node that have arrived at a closing fence, if there are more than announce
/// it to each other individually. Ranks are counted in groups of `radix`. The rank that completes a
/// group counts for it in the next level; the rank that completes the last group stores `over`. A
/// rank thus adds to at most ceil(log n) words, most ranks to one, and waits for one word. A rank
/// that has arrived has nothing left to do: it may compute while others arrive.
///
/// Closing fences are numbered from 1. A rank arrives at a fence after the fence before is over, so
/// the count of a complete group of k ranks is k times the number. Counts are added with
/// acquire-release, and the last rank stores `over` with release: a rank that has read `over` sees
/// what every rank wrote before it arrived.
///
/// When the window is freed, every rank departs: until all have departed, some may still read
/// `over`.
///
/// In shared memory, zeroed: `over`, `departed`, then the groups by level, each word in a cache
/// line of its own. A template over its words, for a checker, which has smaller groups.
template <typename Words, std::size_t radix>
class BasicFenceTree {
 public:
  BasicFenceTree(void* memory, std::size_t ranks)
      : words_(static_cast<Word*>(memory)), ranks_(ranks) {}

  static constexpr std::size_t bytes(std::size_t ranks) {
    std::size_t words = first_group;
    for (std::size_t members = ranks; members > 1;) {
      members = groups(members);
      words += members;
    }
    return words * sizeof(Word);
  }

  /// Called when rank `rank` arrives at the fence. True if it is the last one.
  bool arrive(std::size_t rank, std::uint64_t fence) {
    Word* level = words_ + first_group;
    std::size_t index = rank;
    for (std::size_t members = ranks_; members > 1; members = groups(members)) {
      const std::size_t group = index / radix;
      const std::size_t size = members - group * radix < radix ? members - group * radix : radix;
      const std::uint64_t here = level[group].count.fetch_add(1, std::memory_order_acq_rel) + 1;
      if (here != size * fence) return false;
      level += groups(members);
      index = group;
    }
    words_[over_word].count.store(fence, std::memory_order_release);
    return true;
  }
  bool over(std::uint64_t fence) const {
    return words_[over_word].count.load(std::memory_order_acquire) >= fence;
  }

  /// For a checker: a word by its index.
  auto& word(std::size_t index) { return words_[index].count; }

  /// Called when this rank reads `over` no more.
  void depart() { words_[departed_word].count.fetch_add(1, std::memory_order_release); }
  bool all_departed() const {
    return words_[departed_word].count.load(std::memory_order_acquire) == ranks_;
  }

 private:
  struct alignas(cache_line) Word {
    typename Words::template Atomic<std::uint64_t> count{0};
  };

  static constexpr std::size_t over_word = 0;
  static constexpr std::size_t departed_word = 1;
  static constexpr std::size_t first_group = 2;

  static constexpr std::size_t groups(std::size_t members) { return (members + radix - 1) / radix; }

  Word* words_;
  std::size_t ranks_;
};

using FenceTree = BasicFenceTree<SharedWords, 16>;

/// The words that one peer writes for this process on one window. Every word has one writer: the
/// peer itself if it is mapped, this process's message handler if it is remote. The owner of the
/// control block reads them. Other readers: of `updating`, each changer (see Update); of `fence`,
/// all peers if a tree counts fences (FenceWords). Stores that announce are release, loads that act
/// on the value acquire: the peer's stores to the window precede the word that announces them.
template <typename Words>
struct alignas(cache_line) BasicSlot {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  Atomic<std::uint64_t> granted{0};  // exposures that the peer has opened to us (paper: g_r)
  Atomic<std::uint64_t> done{0};     // access epochs to us that the peer has completed: DoneWord
  Atomic<std::uint64_t> fence{0};    // the last fence call that the peer has announced
  Atomic<std::uint64_t> lock_granted{0};  // remote peers only: lock requests granted to us
  Atomic<std::uint64_t> updating{0};      // mapped peers only: see Update
  Atomic<std::uint32_t> locked{0};        // the peer holds the lock by this word: see LockLine
};

/// A short operation that travels with a lock request (S4). The origin that grants the lock carries
/// it out at once and hands the lock on, so that no process has to be woken for it. Plain data.
struct Piggyback {
  static constexpr std::size_t capacity = 32;

  std::uint64_t offset = 0;  // bytes from the start of the target's window
  std::uint32_t bytes = 0;
  std::uint32_t element = 0;  // bytes of one element; 0: a put
  std::uint8_t op = 0;        // as in Reduction
  std::uint8_t basic = 0;
  std::byte data[capacity] = {};
};

/// The entry of one origin in the lock queue of a target. An origin has at most one request per
/// target and window in the queue; later ones wait in its own deferred epochs. Only the owner of
/// the guard accesses members other than `state`.
template <typename Words>
struct alignas(cache_line) BasicLockNode {
  template <typename T>
  using Plain = typename Words::template Plain<T>;

  static constexpr std::uint32_t waiting = 0;
  static constexpr std::uint32_t granted = 1;
  static constexpr std::uint32_t piggyback_done =
      2;  // granted, piggybacked operation carried out, and lock given back
  static constexpr std::uint32_t failed = 3;  // granted and given back, not run: a peer was lost

  // Reset by the origin before its request is queued.
  typename Words::template Atomic<std::uint32_t> state{waiting};
  Plain<std::uint32_t> next = 0;  // origin + 1 of the next entry in the queue
  Plain<std::uint32_t> exclusive = 0;
  Plain<std::uint32_t> joins = 0;          // see LockLine::acquire()
  Plain<std::uint32_t> has_piggyback = 0;  // `piggyback` has an operation
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
  Atomic<std::uint32_t> contended{0};  // no origin may keep the lock; shared holders are counted
  Atomic<std::uint32_t> shared_streak{0};  // about how many were counted since the last phase
  Atomic<std::uint32_t> phases{0};         // number of phases of uncounted holders; see LockLine
  Plain<std::uint32_t> head = 0;           // origin + 1; only with the guard in `line`
  Plain<std::uint32_t> tail = 0;
  Plain<std::uint32_t> joiners = 0;  // entries with LockNode::joins; only with the guard
  Plain<std::uint32_t> last = 0;     // origin + 1 of the last exclusive holder, which writes it
  Plain<std::uint32_t> streak = 0;   // how often it acquired the lock in a row; it writes this
};

/// The words that a rank gives in one round of an Exchange.
using ExchangeWords = std::array<std::uint64_t, 4>;

/// The words of one rank on one window that peers on its node access directly. In memory,
/// Slot[ranks], LockNode[ranks] and a FenceTree follow. Zeroed pages are a valid, idle control
/// block, so pages that belong to unused peers are never touched.
template <typename Words>
struct alignas(cache_line) BasicControlBlock {
  using Slot = BasicSlot<Words>;
  using LockNode = BasicLockNode<Words>;
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;

  std::uint64_t name = 0;  // not 0; unique on the node while the control block exists
  std::uint32_t ranks = 0;
  // How accumulates into this rank's memory exclude one another: see Update. The three words share
  // a cache line, which each turn moves anyway.
  Atomic<std::uint32_t> updater{0};
  Atomic<std::uint32_t> turn{0};  // 1 + number of the updater that has it
  typename Words::template Plain<std::uint32_t> singles = 0;  // in a row; the turn's holder writes
  Atomic<std::uint32_t> watchers{0};  // peers that wait for our fence word: see FenceWords
  Atomic<std::uint64_t> round{0};    // the round of Exchange that the owner has entered, see `said`
  Atomic<std::uint64_t> barrier{0};  // bit s: step s of the Barrier has arrived
  Atomic<std::uint64_t> entered{0};  // the call of FenceCount that the owner has entered
  BasicLockQueue<Words> lock;
  std::array<ExchangeWords, 2> said{};  // words of that round and of the one before

  Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
  LockNode* nodes() { return reinterpret_cast<LockNode*>(slots() + ranks); }
  /// The tree of all ranks. Only the one in rank 0's control block is used.
  FenceTree fence_tree() { return {nodes() + ranks, ranks}; }
  /// Makes a control block in bytes(ranks) bytes of zeroed memory. Called by its owner before any
  /// peer reads it.
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
