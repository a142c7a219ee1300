// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/base/shared_words.hpp"
#include "core/lock/sharers.hpp"

namespace oriel {

/// The two ends of a mailbox in shared memory, counted in cells since its creation. Zeroed memory
/// is an empty mailbox. Each end has its own cache line: the reader writes the first one, the
/// producers write the second one.
template <typename Words>
struct BasicMailboxEnds {
  using Word = typename Words::template Atomic<std::uint64_t>;

  alignas(cache_line) Word head{0};  // first cell not yet free; written by the reader
  Word taking{0};  // written by the reader, see BasicLadenRing: position + 1, or 0
  alignas(cache_line) Word tail{0};  // first cell not yet reserved
};

/// The reservation that a producer is about to make, in its own memory, which readers can load. If
/// the producer is killed before its record has a state, the claim has the record's length. A
/// producer has one claim for all mailboxes that it writes to.
template <typename Words>
struct alignas(cache_line) BasicMailboxClaim {
  typename Words::template Atomic<std::uint64_t> position{0};  // position + 1; 0: none
  typename Words::template Atomic<std::uint64_t> reader{0};    // the number of the mailbox
  typename Words::template Atomic<std::uint32_t> bytes{0};
};

/// The protocol of a mailbox: the owner of each cell, the order of reading, and the recovery of
/// cells whose producer was killed. The contents of records are the Mailbox's. A template over its
/// words, for a checker.
///
/// A producer reserves cells by advancing `tail`, fills them, and commits by one release store into
/// the state of its record, which the reader acquires. Records are read in the order of
/// reservation, so those of one producer stay in order. The reader zeroes the first word of each
/// cell of a record that it has read, and then releases `head`, which producers acquire. So the
/// first word of every free cell is zero, and zero means to the reader that the record there has no
/// state yet.
///
/// Neither side waits: reserve() reports a full mailbox. A producer that stops after
/// reserving delays the reading of later records, not their writing, until it continues. If it was
/// killed, the reader detects that by its process id and skips the record (skip_dead).
///
/// A SIGKILL between the advance of `tail` (R2) and the store of the state (R3) leaves a record
/// without a state. The producer's claim then identifies it:
///
///     producer                                 reader, at a record without a state
///     R1  claim.position = tail (release)      L1  load tail (acquire): it is beyond the record
///     R2  tail += cells (exchange, release)    L2  load the claims of all processes
///     R3  state = reserved                     L3  one process claims the position and is dead:
///                                                  the record is its; skip it
///
/// The producer whose exchange R2 succeeded at a position has claimed the position before, and
/// claims nothing else before R3. Other producers, whose exchange fails, may also claim the
/// position. A living one soon changes its claim, so the reader tries again later. Two dead
/// claimants cannot be distinguished: the mailbox stays stalled. Invariant: the reader knows every
/// process that may write.
///
/// `Cells` has cells_for(bytes) and first_word(position); the first word of a record is its state.
/// If all records are one cell long, `laps` may be true. A state then contains the lap of the ring
/// in which it was written, and a state of the lap before counts as zero. The reader therefore
/// writes to no cell, and the next producer does not wait for such a write.
template <typename Words, typename Cells>
class BasicMailboxRing {
 public:
  using Ends = BasicMailboxEnds<Words>;
  using Claim = BasicMailboxClaim<Words>;

  // State of a record: phase in the lowest bits, bytes (or the lap) up to bit 31, the producer's
  // pid above.
  enum class Phase : std::uint8_t {
    free,
    reserved,
    committed,
    laden,    // see BasicLadenRing: committed, with a store for the reader to make
    recalled  // the producer makes that store
  };
  static Phase phase_of(std::uint64_t state) { return static_cast<Phase>(state & phase_mask); }
  static std::uint32_t bytes_of(std::uint64_t state) {
    return static_cast<std::uint32_t>(state) >> phase_bits;
  }

  /// `count` cells; `reader`: a number that no other mailbox has.
  BasicMailboxRing(Ends& ends, Cells cells, std::uint64_t count, std::uint64_t reader)
      : ends_(&ends), cells_(cells), count_(count), reader_(reader) {}

  // For producers.

  /// Reserves a position for a record of `bytes` bytes; nullopt if the mailbox is full. `pid` is
  /// the caller's process, `claim` the only claim of that process. `head` is the reader's position
  /// as the caller saw it last. It is loaded again only if it leaves no space, so that a producer
  /// seldom waits for the line that the reader writes.
  std::optional<std::uint64_t> reserve(Claim& claim, std::int32_t pid, std::uint32_t bytes,
                                       std::uint64_t& head) {
    const std::uint64_t cells = cells_.cells_for(bytes);
    claim.position.store(0, std::memory_order_relaxed);
    // Release: the old position is cleared before, so that it is no claim in this mailbox.
    claim.reader.store(reader_, std::memory_order_release);
    claim.bytes.store(bytes, std::memory_order_relaxed);
    std::uint64_t tail = 0;
    for (typename Words::Loop loop;; loop.again()) {
      tail = ends_->tail.load(std::memory_order_relaxed);
      if (full(tail + cells, head)) {
        head = load_head();
        if (full(tail + cells, head)) {
          claim.position.store(0, std::memory_order_relaxed);
          return std::nullopt;
        }
      }
      claim.position.store(tail + 1, std::memory_order_release);
      // Release: pairs with the load of `tail` in unsaid(), which must make the claim visible.
      if (ends_->tail.compare_exchange_strong(tail, tail + cells, std::memory_order_release)) break;
    }
    cells_.first_word(tail).store(state_of(tail, bytes, pid, Phase::reserved),
                                  std::memory_order_relaxed);
    return tail;
  }
  /// Acquire: the zeroes that the reader stored in the cells before `head` precede the stores of a
  /// producer to these cells.
  std::uint64_t load_head() const { return ends_->head.load(std::memory_order_acquire); }
  void publish(std::uint64_t position, Phase phase) {
    auto&& state = cells_.first_word(position);
    const std::uint64_t reserved = state.load(std::memory_order_relaxed);
    // Pairs with the acquire in state_at_front().
    state.store((reserved & ~phase_mask) | static_cast<std::uint64_t>(phase),
                std::memory_order_release);
  }

  // For the reader.

  std::uint64_t front() const { return ends_->head.load(std::memory_order_relaxed); }
  std::uint64_t state_at_front() const { return state_at(front(), std::memory_order_acquire); }
  /// Frees the record at the front.
  void release_front(std::uint32_t bytes) {
    const std::uint64_t begin = front();
    const std::uint64_t end = begin + cells_.cells_for(bytes);
    for (std::uint64_t p = begin; p != end && !Cells::laps; ++p) {
      cells_.first_word(p).store(0, std::memory_order_relaxed);
    }
    // Pairs with the acquire in load_head().
    ends_->head.store(end, std::memory_order_release);
  }
  /// True if any record is reserved and has not been read.
  bool due() const { return ends_->tail.load(std::memory_order_relaxed) != front(); }
  /// True if the oldest record is reserved and not committed.
  bool stalled() const {
    const std::uint64_t head = front();
    const Phase phase = phase_of(state_at(head, std::memory_order_relaxed));
    return phase == Phase::reserved || phase == Phase::recalled ||
           (phase == Phase::free && ends_->tail.load(std::memory_order_relaxed) != head);
  }
  /// Skips the record at the front if, according to alive(pid), its producer died before committing
  /// it. Returns whether the producer has died.
  template <typename Alive>
  bool skip_dead(Alive&& alive) {
    const std::uint64_t state = state_at(front(), std::memory_order_relaxed);
    if (phase_of(state) != Phase::reserved) return false;
    if (alive(static_cast<std::int32_t>(state >> 32))) return false;
    // Load again: the producer may have committed just before it died.
    const std::uint64_t last = state_at_front();
    if (phase_of(last) == Phase::reserved) release_front(bytes_of(last));
    return true;
  }
  /// skip_dead() for a record without a state: calls each(visit), which must call visit(claim,
  /// alive) for every process that may write here. alive() is called for processes that claim the
  /// position.
  template <typename Each>
  bool skip_claimed(Each&& each) {
    const std::uint64_t head = front();
    if (!unsaid(head)) return false;
    int dead = 0;
    bool living = false;
    std::uint32_t bytes = 0;
    each([&](const Claim& claim, auto&& alive) {
      if (claim.position.load(std::memory_order_acquire) != head + 1 ||
          claim.reader.load(std::memory_order_relaxed) != reader_) {
        return;
      }
      if (alive()) {
        living = true;
        return;
      }
      ++dead;
      bytes = claim.bytes.load(std::memory_order_relaxed);
    });
    // Load again: the producer may have stored the state just before it died.
    if (living || dead != 1 || !unsaid(head)) return false;
    release_front(bytes);
    return true;
  }

 protected:
  /// The state of a record of `bytes` bytes at the position, of the producer with this pid.
  std::uint64_t state_of(std::uint64_t position, std::uint32_t bytes, std::int32_t pid,
                         Phase phase) const {
    const std::uint64_t owner = static_cast<std::uint64_t>(static_cast<std::uint32_t>(pid)) << 32;
    return owner | std::uint64_t{mark(position, bytes)} << phase_bits |
           static_cast<std::uint64_t>(phase);
  }

  /// The state of the record at a position; 0: it has none yet.
  std::uint64_t state_at(std::uint64_t position, std::memory_order order) const {
    const std::uint64_t state = cells_.first_word(position).load(order);
    return Cells::laps && bytes_of(state) != mark(position, 0) ? 0 : state;
  }

  Ends* ends_;
  Cells cells_;

 private:
  static constexpr unsigned phase_bits = 3;
  static constexpr std::uint64_t phase_mask = (std::uint64_t{1} << phase_bits) - 1;

  /// The part of a record's state besides phase and pid: its bytes, or the lap.
  std::uint32_t mark(std::uint64_t position, std::uint32_t bytes) const {
    if constexpr (!Cells::laps) return bytes;
    // Zero is the lap of memory that has never been written.
    return static_cast<std::uint32_t>(position / count_ + 1) & (~std::uint32_t{0} >> phase_bits);
  }
  /// True if not all cells before `end` are free. An old `head` only makes the mailbox look fuller.
  /// If other producers have advanced the tail meanwhile, `head` may be beyond the old tail: the
  /// difference is then negative, and the exchange fails.
  bool full(std::uint64_t end, std::uint64_t head) const {
    return static_cast<std::int64_t>(end - head) > static_cast<std::int64_t>(count_);
  }
  /// True if the record at this position, the front, is reserved and has no state.
  bool unsaid(std::uint64_t head) const {
    return ends_->tail.load(std::memory_order_acquire) != head &&
           phase_of(state_at(head, std::memory_order_acquire)) == Phase::free;
  }

  std::uint64_t count_;
  std::uint64_t reader_;
};

/// A queue whose records can carry bytes for the reader's memory (N5): such a record is laden. The
/// reader stores the bytes when it takes the record, which saves it the miss on the line that the
/// producer would have written. A producer that cannot wait for that recalls its records and stores
/// the bytes itself. A template over its words, as BasicMailboxRing is.
///
///     reader, at a laden record          producer, for each of its records
///     L1  taking = position + 1          P1  state: laden -> recalled (compare-exchange)
///     L2  load the state again           P2  fence of all peers
///     L3  laden: store the bytes,        P3  load taking, then head (acquire)
///         head = position + 1 (release)      head > position: the reader has stored them
///     L4  else: taking = 0 (release),        taking = position + 1: repeat P3
///         try again later                    else: store the bytes,
///                                        P4  state = committed (release)
///
/// Invariant: the bytes of a record are stored once, by the reader between L2 and L3 or by the
/// producer between P3 and P4.
/// - P2 keeps L1 before L2 (store_before_load()). So either the producer sees L1 in P3 and waits
///   for L3 or L4, or the reader sees P1 in L2 and does not take the record.
/// - L3 pairs with the load of head in P3, and P4 with the reader's next load of the state: the
///   other side then sees the stored bytes.
/// - P3 loads `taking` first: a value that the reader has set after L3 carries the head of L3.
///
/// The producer waits for the few instructions from L1 to L3 or L4, as long as the reader lives.
/// The reader never waits. If a producer is killed between P1 and P4, the reader makes the record
/// laden again and stores the bytes, perhaps a second time: no other bytes can have been stored
/// there meanwhile. The exchange of P1 meets either a state of the producer's own in this lap, or
/// one of a later lap, which it does not change.
template <typename Words, typename Cells>
class BasicLadenRing : public BasicMailboxRing<Words, Cells> {
  using Base = BasicMailboxRing<Words, Cells>;
  static_assert(Cells::laps, "a state has to say to which lap it belongs");

 public:
  using Base::Base;
  using typename Base::Phase;
  using Sharers = typename SharersOf<Words>::Type;

  /// For the reader, if the record at the front is laden. True if the reader must store its bytes,
  /// before release_front(). False if its producer recalls it. `asymmetric`: the fences of all
  /// producers reach the reader.
  bool begin_store(bool asymmetric) {
    const std::uint64_t position = this->front();
    store_before_load<Words, std::uint64_t>(this->ends_->taking, position + 1, asymmetric);
    const std::uint64_t state = this->state_at(position, std::memory_order_seq_cst);
    if (Base::phase_of(state) == Phase::laden) return true;
    end_store();
    return false;
  }
  /// Called if the reader has not stored the bytes; the record stays in the queue.
  void end_store() { this->ends_->taking.store(0, std::memory_order_release); }

  /// Makes the record at the front laden again if its producer was killed while it recalled it,
  /// according to alive(pid). Returns whether the producer was killed.
  template <typename Alive>
  bool revive_dead(Alive&& alive) {
    const std::uint64_t position = this->front();
    const std::uint64_t state = this->state_at(position, std::memory_order_relaxed);
    const auto pid = static_cast<std::int32_t>(state >> 32);
    if (Base::phase_of(state) != Phase::recalled || alive(pid)) return false;
    // Load again: the producer may have committed just before it died.
    if (Base::phase_of(this->state_at_front()) == Phase::recalled) {
      this->cells_.first_word(position).store(this->state_of(position, 0, pid, Phase::laden),
                                              std::memory_order_relaxed);
    }
    return true;
  }

  /// For the producer: begins to recall records of its own that were laden; the reader may have
  /// taken them. True if a fence of all peers must follow. `pid`: the one passed to reserve().
  template <typename Positions>
  bool begin_recall(const Positions& positions, std::int32_t pid) {
    bool marked = false;
    const std::uint64_t head = this->load_head();
    for (const std::uint64_t position : positions) {
      if (position < head) continue;
      std::uint64_t laden = this->state_of(position, 0, pid, Phase::laden);
      marked |= this->cells_.first_word(position).compare_exchange_strong(
          laden, this->state_of(position, 0, pid, Phase::recalled), std::memory_order_seq_cst);
    }
    return marked;
  }
  /// Returns when the bytes of all these records are in the reader's memory. Calls store(position)
  /// if the reader has not stored them. False if the reader has died before. `reader`: its number
  /// among the sharers.
  template <typename Positions, typename Store>
  bool finish_recall(const Positions& positions, std::int32_t pid, Sharers& sharers,
                     std::uint32_t reader, Store&& store) {
    for (const std::uint64_t position : positions) {
      const std::uint64_t recalled = this->state_of(position, 0, pid, Phase::recalled);
      for (Patience<Words> patience(sharers);;) {
        const std::uint64_t taking = this->ends_->taking.load(std::memory_order_seq_cst);
        if (this->load_head() > position) break;
        if (taking != position + 1 &&
            this->cells_.first_word(position).load(std::memory_order_relaxed) == recalled) {
          store(position);
          this->publish(position, Phase::committed);
          break;
        }
        if (!patience.wait(reader)) return false;
      }
    }
    return true;
  }
};

}  // namespace oriel
