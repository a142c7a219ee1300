// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/base/cache_line.hpp"
#include "core/base/shared_words.hpp"

namespace oriel {

/// The two ends of a mailbox in shared memory, counted in cells since its creation. Zeroed memory
/// is an empty mailbox. Each has its own cache line: the reader writes one, the producers the
/// other.
template <typename Words>
struct BasicMailboxEnds {
  using Word = typename Words::template Atomic<std::uint64_t>;

  alignas(cache_line) Word head{0};  // first cell not yet free; the reader's
  Word taking{0};                    // likewise, see BasicLadenPlaces: position + 1, or none
  alignas(cache_line) Word tail{0};  // first cell not yet reserved
};

/// What a producer is about to reserve, in memory of its own that the reader sees: if it is killed
/// before its record says how long it is, this does. One for all mailboxes that it writes to.
template <typename Words>
struct alignas(cache_line) BasicMailboxClaim {
  typename Words::template Atomic<std::uint64_t> place{0};   // position + 1; 0: none
  typename Words::template Atomic<std::uint64_t> reader{0};  // whose mailbox
  typename Words::template Atomic<std::uint32_t> bytes{0};
};

/// Who has which cells of a mailbox, in which order they are read, and what becomes of those whose
/// producer was killed. What is in them is the Mailbox's. A template over its words, for a checker.
///
/// A producer reserves cells by advancing `tail`, fills them without looking at anybody, and
/// commits by one release store into the state of its record, which the reader acquires. Records
/// are read in order of reservation, so those of one producer keep theirs. The reader zeroes the
/// first word of each cell that it is through with and then releases `head`; producers acquire it.
/// So the first word of every free cell is zero, whatever was in it before, and a reader that meets
/// zero knows that the record there is not begun.
///
/// Nobody waits: a full mailbox is told to the producer. A producer that stops after reserving
/// keeps later records from being read, not from being written, until it goes on. If it was killed,
/// the reader notices by its process id and passes over the record (skip_dead).
///
/// A SIGKILL between the advance of `tail` (R2) and the store of the state (R3) leaves a record
/// that says nothing. Then its claim does:
///
///     producer                                 reader, at a record without a state
///     R1  claim.place = tail (release)         L1  look at tail (acquire): it is beyond the record
///     R2  tail += cells (exchange, release)    L2  of all processes, look for claims of the place
///     R3  state = reserved                     L3  one, of a dead process: it is its; pass over it
///
/// Whoever has made the exchange at a place has claimed it before, and claims nothing else before
/// R3. Others may claim it as well, whose exchange fails; if they live they move on, so that the
/// reader looks again later. Two of the dead cannot be told from one another: the mailbox stays
/// stalled. Invariant: the reader knows every process that may write.
///
/// `Cells`: cells_for(bytes), and first_word(position), of which the first word of a record is its
/// state. Where all records are one cell long, `laps` may be true: a state then says in which lap
/// of the ring it was written, so that one of the lap before counts as zero and the reader writes
/// to no cell: whoever sends next does not wait for that write.
template <typename Words, typename Cells>
class BasicMailboxPlaces {
 public:
  using Ends = BasicMailboxEnds<Words>;
  using Claim = BasicMailboxClaim<Words>;

  // State of a record: phase in the lowest bits, bytes (or the lap) up to bit 31, the producer's
  // pid above.
  enum class Phase : std::uint8_t {
    free,
    reserved,
    committed,
    discarded,
    laden,    // see BasicLadenPlaces: committed, but for a store that it carries
    recalled  // that store is its producer's again
  };
  static Phase phase_of(std::uint64_t state) { return static_cast<Phase>(state & phase_mask); }
  static std::uint32_t bytes_of(std::uint64_t state) {
    return static_cast<std::uint32_t>(state) >> phase_bits;
  }

  /// `count` cells; `reader`: a number that no other mailbox's has.
  BasicMailboxPlaces(Ends& ends, Cells cells, std::uint64_t count, std::uint64_t reader)
      : ends_(&ends), cells_(cells), count_(count), reader_(reader) {}

  // Producers.

  /// A position for a record of so many bytes, or nothing when the mailbox is full. `pid` is the
  /// caller's process, the claim its only one. `head`: where the caller has seen the reader last;
  /// looked at again where that is not enough, so that the usual producer does not wait for the
  /// line that the reader writes.
  std::optional<std::uint64_t> reserve(Claim& claim, std::int32_t pid, std::uint32_t bytes,
                                       std::uint64_t& head) {
    const std::uint64_t cells = cells_.cells_for(bytes);
    claim.place.store(0, std::memory_order_relaxed);
    // Release: the old place is gone before, so that it is no claim here.
    claim.reader.store(reader_, std::memory_order_release);
    claim.bytes.store(bytes, std::memory_order_relaxed);
    std::uint64_t tail = 0;
    for (typename Words::Loop loop;; loop.again()) {
      tail = ends_->tail.load(std::memory_order_relaxed);
      if (full(tail + cells, head)) {
        head = look_at_head();
        if (full(tail + cells, head)) {
          claim.place.store(0, std::memory_order_relaxed);
          return std::nullopt;
        }
      }
      claim.place.store(tail + 1, std::memory_order_release);
      // Release: pairs with the reader's look at `tail` in unsaid(), which must find the claim.
      if (ends_->tail.compare_exchange_strong(tail, tail + cells, std::memory_order_release)) break;
    }
    cells_.first_word(tail).store(state_of(tail, bytes, pid, Phase::reserved),
                                  std::memory_order_relaxed);
    return tail;
  }
  /// Acquire: the zeroes that the reader left in the cells before it come before what a producer
  /// writes there.
  std::uint64_t look_at_head() const { return ends_->head.load(std::memory_order_acquire); }
  void publish(std::uint64_t position, Phase phase) {
    auto&& state = cells_.first_word(position);
    const std::uint64_t reserved = state.load(std::memory_order_relaxed);
    // Pairs with the acquire in state_at_front().
    state.store((reserved & ~phase_mask) | static_cast<std::uint64_t>(phase),
                std::memory_order_release);
  }

  // The reader.

  std::uint64_t front() const { return ends_->head.load(std::memory_order_relaxed); }
  std::uint64_t state_at_front() const { return look(front(), std::memory_order_acquire); }
  /// The record at the front is done with.
  void release_front(std::uint32_t bytes) {
    const std::uint64_t begin = front();
    const std::uint64_t end = begin + cells_.cells_for(bytes);
    for (std::uint64_t p = begin; p != end && !Cells::laps; ++p) {
      cells_.first_word(p).store(0, std::memory_order_relaxed);
    }
    // Pairs with the acquire in reserve().
    ends_->head.store(end, std::memory_order_release);
  }
  /// Something is reserved and not yet read.
  bool due() const { return ends_->tail.load(std::memory_order_relaxed) != front(); }
  /// Something is reserved and not yet committed, with nothing readable before it.
  bool stalled() const {
    const std::uint64_t head = front();
    const Phase phase = phase_of(look(head, std::memory_order_relaxed));
    return phase == Phase::reserved || phase == Phase::recalled ||
           (phase == Phase::free && ends_->tail.load(std::memory_order_relaxed) != head);
  }
  /// Passes over the record at the front if its producer died before it committed: alive(pid) is
  /// asked. True if so.
  template <typename Alive>
  bool skip_dead(Alive&& alive) {
    const std::uint64_t state = look(front(), std::memory_order_relaxed);
    if (phase_of(state) != Phase::reserved) return false;
    if (alive(static_cast<std::int32_t>(state >> 32))) return false;
    // Look again: it may have committed just before it died.
    const std::uint64_t last = state_at_front();
    if (phase_of(last) == Phase::reserved) release_front(bytes_of(last));
    return true;
  }
  /// The same of a record that does not say whose it is: calls each(visit), which calls
  /// visit(claim, alive) for every process that may write here; alive() is asked of some.
  template <typename Each>
  bool skip_claimed(Each&& each) {
    const std::uint64_t head = front();
    if (!unsaid(head)) return false;
    int dead = 0;
    bool living = false;
    std::uint32_t bytes = 0;
    each([&](const Claim& claim, auto&& alive) {
      if (claim.place.load(std::memory_order_acquire) != head + 1 ||
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
    // Look again: it may have said so just before it died.
    if (living || dead != 1 || !unsaid(head)) return false;
    release_front(bytes);
    return true;
  }

 protected:
  /// The state of a record of so many bytes at the position, of the producer with this pid.
  std::uint64_t state_of(std::uint64_t position, std::uint32_t bytes, std::int32_t pid,
                         Phase phase) const {
    const std::uint64_t owner = static_cast<std::uint64_t>(static_cast<std::uint32_t>(pid)) << 32;
    return owner | std::uint64_t{mark(position, bytes)} << phase_bits |
           static_cast<std::uint64_t>(phase);
  }

  /// The state of the record at a position; 0: there is none yet.
  std::uint64_t look(std::uint64_t position, std::memory_order order) const {
    const std::uint64_t state = cells_.first_word(position).load(order);
    return Cells::laps && bytes_of(state) != mark(position, 0) ? 0 : state;
  }

  Ends* ends_;
  Cells cells_;

 private:
  static constexpr unsigned phase_bits = 3;
  static constexpr std::uint64_t phase_mask = (std::uint64_t{1} << phase_bits) - 1;

  /// What a record's state says besides its phase and its producer.
  std::uint32_t mark(std::uint64_t position, std::uint32_t bytes) const {
    if constexpr (!Cells::laps) return bytes;
    // Zero is the lap of memory that nobody has written.
    return static_cast<std::uint32_t>(position / count_ + 1) & (~std::uint32_t{0} >> phase_bits);
  }
  /// Cells up to `end` are not all free. An old head only makes the mailbox look fuller. A head
  /// beyond an old tail (others were here in between) makes the difference negative, and the
  /// exchange fail.
  bool full(std::uint64_t end, std::uint64_t head) const {
    return static_cast<std::int64_t>(end - head) > static_cast<std::int64_t>(count_);
  }
  /// The record at this position, the front, is reserved and has no state.
  bool unsaid(std::uint64_t head) const {
    return ends_->tail.load(std::memory_order_acquire) != head &&
           phase_of(look(head, std::memory_order_acquire)) == Phase::free;
  }

  std::uint64_t count_;
  std::uint64_t reader_;
};

}  // namespace oriel
