// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "core/base/cache_line.hpp"

namespace oriel {

/// The two ends of a mailbox in shared memory, counted in cells since its creation. Zeroed memory
/// is an empty mailbox. Each has its own cache line: the reader writes one, the producers the
/// other.
struct MailboxEnds {
  alignas(cache_line) std::atomic<std::uint64_t> head{0};  // first cell not yet free; the reader's
  alignas(cache_line) std::atomic<std::uint64_t> tail{0};  // first cell not yet reserved
};

struct alignas(cache_line) MailboxCell {
  std::byte bytes[cache_line];
};

/// Beginning of every record, in its first cell; the fragment's bytes follow at once. A record
/// carries a whole message or a fragment of one.
struct MailboxRecord {
  std::uint64_t state;   // see Mailbox; zero while nobody has reserved the cell
  std::uint64_t source;  // who sends
  std::uint64_t total;   // bytes of the whole message
  std::uint64_t offset;  // of this fragment in it
};

static_assert(sizeof(MailboxEnds) == 2 * cache_line && std::is_standard_layout_v<MailboxEnds>);
static_assert(sizeof(MailboxCell) == cache_line && sizeof(MailboxRecord) == 32);
static_assert(std::is_trivially_copyable_v<MailboxRecord>);
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

/// Queue of records from any number of producers to one reader, in shared memory: a ring of cells.
///
/// A producer reserves cells by advancing `tail`, fills them without looking at anybody, and
/// commits by one release store into the record's state, which the reader acquires. Records are
/// read in order of reservation, so those of one producer keep theirs. The reader zeroes the first
/// word of each cell that it is through with and then releases `head`; producers acquire it. So the
/// first word of every free cell is zero, whatever was in it before, and a reader that meets zero
/// knows that the record there is not begun.
///
/// Nobody waits: a full mailbox is told to the producer. A producer that stops after reserving
/// keeps later records from being read, not from being written, until it goes on. If it was killed,
/// the reader notices by its process id and passes over the record (skip_dead). The one gap is a
/// SIGKILL in the two instructions between the advance of `tail` and the store of the state: then
/// nothing tells how long the record would have been, and this mailbox stays stalled; nothing is
/// corrupted.
class Mailbox {
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

  Mailbox(MailboxEnds& ends, std::span<MailboxCell> cells)  // a power of two of them
      : ends_(&ends), cells_(cells.data()), count_(cells.size()) {}

  /// More does not fit into one record. An eighth of the ring, so that several producers of long
  /// messages and the reader work at the same time.
  std::uint32_t largest_fragment() const {
    return static_cast<std::uint32_t>(count_ * cache_line / 8 - sizeof(MailboxRecord));
  }

  // Producers.

  /// Room for a fragment, or nothing when the mailbox is full. `pid` is the caller's process.
  std::optional<Reservation> reserve(std::int32_t pid, std::uint64_t source, std::uint64_t total,
                                     std::uint64_t offset, std::uint32_t bytes);
  void fill(const Reservation& reservation, std::uint32_t at, std::span<const std::byte> bytes);
  void commit(const Reservation& reservation) { publish(reservation, Phase::committed); }
  /// The reader passes over it.
  void discard(const Reservation& reservation) { publish(reservation, Phase::discarded); }

  // The reader.

  /// The oldest fragment if it is committed; it stays until released.
  std::optional<Fragment> peek();
  void copy(const Fragment& fragment, std::byte* to) const;
  void release(const Fragment& fragment) { free_cells(fragment.position, fragment.bytes); }
  /// Something is reserved and not yet committed, with nothing readable before it.
  bool stalled() const;
  /// Passes over the record at the front if its producer died before it committed. True if so.
  bool skip_dead();

 private:
  // State of a record: phase in bits 0 and 1, bytes in bits 2 to 31, the producer's pid above.
  enum class Phase : std::uint8_t { free = 0, reserved = 1, committed = 2, discarded = 3 };
  static Phase phase_of(std::uint64_t state) { return static_cast<Phase>(state & 3); }
  static std::uint32_t bytes_of(std::uint64_t state) {
    return static_cast<std::uint32_t>(state) >> 2;
  }

  MailboxCell& cell(std::uint64_t position) const { return cells_[position & (count_ - 1)]; }
  std::atomic_ref<std::uint64_t> first_word(std::uint64_t position) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(cell(position).bytes));
  }
  static std::uint64_t cells_for(std::uint32_t bytes) {
    return (sizeof(MailboxRecord) + bytes + cache_line - 1) / cache_line;
  }
  void publish(const Reservation& reservation, Phase phase);
  void free_cells(std::uint64_t position, std::uint32_t bytes);

  MailboxEnds* ends_;
  MailboxCell* cells_;
  std::uint64_t count_;
};

}  // namespace oriel
