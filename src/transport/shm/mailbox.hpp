// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "core/base/shared_words.hpp"
#include "transport/shm/mailbox_ring.hpp"

namespace oriel {

struct alignas(cache_line) MailboxCell {
  std::byte bytes[cache_line];
};

/// The header of a record, in its first cell; the fragment's bytes follow it directly. A record
/// contains a whole message or a fragment of one.
struct MailboxRecord {
  std::uint64_t state;   // see BasicMailboxRing; zero until the producer has stored it
  std::uint64_t source;  // ProcessName::id of the sender
  std::uint64_t total;   // bytes of the whole message
  std::uint64_t offset;  // of this fragment in the message
};

using MailboxEnds = BasicMailboxEnds<SharedWords>;
using MailboxClaim = BasicMailboxClaim<SharedWords>;

static_assert(sizeof(MailboxEnds) == 2 * cache_line && std::is_standard_layout_v<MailboxEnds>);
static_assert(sizeof(MailboxClaim) == cache_line);
static_assert(sizeof(MailboxCell) == cache_line && sizeof(MailboxRecord) == 32);
static_assert(std::is_trivially_copyable_v<MailboxRecord>);
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

/// The cells of a ring in shared memory.
template <typename Cell>
class RingCells {
 public:
  /// The number of cells is a power of two.
  explicit RingCells(std::span<Cell> cells) : cells_(cells.data()), count_(cells.size()) {}

  std::uint64_t count() const { return count_; }
  Cell& at(std::uint64_t position) const { return cells_[position & (count_ - 1)]; }

 private:
  Cell* cells_;
  std::uint64_t count_;
};

/// The cells of a mailbox.
class MailboxCells : public RingCells<MailboxCell> {
 public:
  static constexpr bool laps = false;

  using RingCells::RingCells;
  static std::uint64_t cells_for(std::uint32_t bytes) {
    return (sizeof(MailboxRecord) + bytes + cache_line - 1) / cache_line;
  }
  /// The state of a record, if one begins at this position; otherwise any bytes.
  std::atomic_ref<std::uint64_t> first_word(std::uint64_t position) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at(position).bytes));
  }
  std::byte* bytes() const { return at(0).bytes; }
};

/// A queue of records from any number of producers to one reader, in shared memory. The protocol is
/// BasicMailboxRing.
class Mailbox : private BasicMailboxRing<SharedWords, MailboxCells> {
 public:
  struct Reservation {
    std::uint64_t position;
    std::uint32_t bytes;
  };
  struct Fragment {
    std::uint64_t position;
    std::uint32_t bytes;
    std::uint64_t source, total, offset;
  };

  /// The number of cells is a power of two. `reader`: a number that no other mailbox has.
  Mailbox(MailboxEnds& ends, std::span<MailboxCell> cells, std::uint64_t reader)
      : BasicMailboxRing(ends, MailboxCells(cells), cells.size(), reader) {}

  /// The most bytes of a record's fragment. A record is at most an eighth of the ring, so that
  /// several producers of long messages and the reader can work at the same time.
  std::uint32_t largest_fragment() const {
    return static_cast<std::uint32_t>(cells_.count() * cache_line / 8 - sizeof(MailboxRecord));
  }

  // For producers.

  /// Reserves space for a fragment; nullopt if the mailbox is full. `pid` is the caller's process,
  /// `claim` the only claim of that process.
  std::optional<Reservation> reserve(MailboxClaim& claim, std::int32_t pid, std::uint64_t source,
                                     std::uint64_t total, std::uint64_t offset,
                                     std::uint32_t bytes);
  void fill(const Reservation& reservation, std::uint32_t at, std::span<const std::byte> bytes);
  void commit(const Reservation& reservation) { publish(reservation.position, Phase::committed); }

  // For the reader.

  /// The oldest fragment, if it is committed. It stays in the mailbox until release().
  std::optional<Fragment> peek();
  void copy(const Fragment& fragment, std::byte* to) const;
  void release(const Fragment& fragment) { release_front(fragment.bytes); }
  using BasicMailboxRing::skip_claimed;
  using BasicMailboxRing::skip_dead;
  using BasicMailboxRing::stalled;
};

}  // namespace oriel
