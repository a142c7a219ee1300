// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/lock/asymmetric.hpp"
#include "core/lock/patience.hpp"
#include "transport/shm/mailbox_places.hpp"

namespace oriel {

/// Records that carry bytes for the reader's memory (N5). The reader stores them there when it
/// takes the record, which saves it the line in which they would lie otherwise. A producer that
/// cannot wait for that takes the records back and stores the bytes itself. A template over its
/// words, as the places are.
///
///     reader, at a laden record          producer, of its records
///     L1  taking = position + 1          P1  state = recalled, if laden (compare-exchange)
///     L2  look at the state again        P2  fence of all peers
///     L3  laden: store the bytes,        P3  look at taking, then at head (acquire)
///         head = position + 1 (release)      head is beyond it: it is done
///     L4  else: taking = 0 (release),        taking it: look again
///         look again later                   else: store the bytes,
///                                        P4  state = committed (release)
///
/// Invariant: the bytes of a record are stored once, by the reader between L2 and L3 or by the
/// producer between P3 and P4. Either the producer sees L1 in P3 and waits for L3 or L4, or the
/// reader sees P1 in L2 and leaves the record (L1 is kept before L2 by P2: see
/// store_before_look()). L3 to P3 and P4 to the reader's next look carry the bytes. P3 looks at
/// `taking` first: one that has moved on brings the head behind which it did.
///
/// The producer waits for the few instructions from L1 to L3 or L4, as long as the reader lives;
/// the reader waits for nobody. Where a producer was killed between P1 and P4 the reader makes the
/// record laden again, and stores the bytes, perhaps a second time: nobody can have stored others
/// there meanwhile. The exchange of P1 can only meet a
/// state of the producer's own in this lap, or of a later lap, which it leaves alone.
template <typename Words, typename Cells>
class BasicLadenPlaces : public BasicMailboxPlaces<Words, Cells> {
  using Base = BasicMailboxPlaces<Words, Cells>;
  static_assert(Cells::laps, "a state has to say to which lap it belongs");

 public:
  using Base::Base;
  using typename Base::Phase;
  using Sharers = typename Words::Sharers;

  /// The reader, where the front is laden. True: its bytes are to be stored, before
  /// release_front(). False: its producer takes it back. `asymmetric`: all producers' fences reach
  /// the reader.
  bool begin_store(bool asymmetric) {
    const std::uint64_t position = this->front();
    store_before_look<Words, std::uint64_t>(this->ends_->taking, position + 1, asymmetric);
    const std::uint64_t state = this->look(position, std::memory_order_seq_cst);
    if (Base::phase_of(state) == Phase::laden) return true;
    end_store();
    return false;
  }
  /// They have not been stored; the record stays.
  void end_store() { this->ends_->taking.store(0, std::memory_order_release); }

  /// A record at the front whose producer was killed while it took it back is laden again:
  /// alive(pid) is asked. True if so.
  template <typename Alive>
  bool revive_dead(Alive&& alive) {
    const std::uint64_t position = this->front();
    const std::uint64_t state = this->look(position, std::memory_order_relaxed);
    const auto pid = static_cast<std::int32_t>(state >> 32);
    if (Base::phase_of(state) != Phase::recalled || alive(pid)) return false;
    // Look again: it may have committed just before it died.
    if (Base::phase_of(this->state_at_front()) == Phase::recalled) {
      this->cells_.first_word(position).store(this->state_of(position, 0, pid, Phase::laden),
                                              std::memory_order_relaxed);
    }
    return true;
  }

  /// The producer begins to take records of its own back, that were laden and may have been taken.
  /// True: a fence of all peers has to follow. `pid`: as it has reserved them.
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
  /// Returns when the bytes of all these are in the reader's memory, by store(position) where the
  /// reader has not stored them. False: the reader has died before. `reader`: its name among the
  /// sharers.
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
