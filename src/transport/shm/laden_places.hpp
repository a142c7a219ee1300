// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/shared_words.hpp"
#include "core/lock/sharers.hpp"
#include "transport/shm/mailbox_places.hpp"

namespace oriel {

/// A queue whose records can carry bytes for the reader's memory (N5): such a record is laden. The
/// reader stores the bytes when it takes the record, which saves it the miss on the line that the
/// producer would have written. A producer that cannot wait for that recalls its records and stores
/// the bytes itself. A template over its words, as BasicMailboxPlaces is.
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
/// - P2 keeps L1 before L2 (store_before_look()). So either the producer sees L1 in P3 and waits
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
class BasicLadenPlaces : public BasicMailboxPlaces<Words, Cells> {
  using Base = BasicMailboxPlaces<Words, Cells>;
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
    store_before_look<Words, std::uint64_t>(this->ends_->taking, position + 1, asymmetric);
    const std::uint64_t state = this->look(position, std::memory_order_seq_cst);
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
    const std::uint64_t state = this->look(position, std::memory_order_relaxed);
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
    const std::uint64_t head = this->look_at_head();
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
        if (this->look_at_head() > position) break;
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
