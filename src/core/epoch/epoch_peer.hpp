// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/published.hpp"
#include "core/base/shared_words.hpp"
#include "core/base/zero_array.hpp"
#include "core/epoch/epoch.hpp"
#include "core/epoch/link.hpp"

namespace oriel {

/// Operations of this rank whose calls are over and that have not taken effect: see
/// Link::recall().
struct Postponed {
  static constexpr std::uint8_t inlined_stores = 1;  // in the target's notification queue
  static constexpr std::uint8_t aggregated_puts = 2;
  static constexpr std::uint8_t aggregated_gets = 4;
};

/// The access epochs of one origin to one target that are complete, in one word that the origin
/// stores and the target reads (E8). With the reorder keys a later epoch may complete before an
/// earlier one, so a count alone would delay the report of the later one. The word is therefore a
/// count of complete epochs without a gap, and a bitmap of those behind the first gap. An epoch
/// more than `reach` behind the gap cannot be reported yet; its origin tries again.
class DoneWord {
 public:
  static constexpr unsigned reach = 20;

  constexpr DoneWord() = default;
  explicit constexpr DoneWord(std::uint64_t word) : word_(word) {}
  constexpr std::uint64_t word() const { return word_; }

  constexpr bool covers(std::uint64_t id) const {
    const std::uint64_t count = word_ >> reach;
    if (id <= count) return true;
    const std::uint64_t ahead = id - count - 1;
    return ahead < reach && ((word_ >> ahead) & 1) != 0;
  }

  /// Adds an epoch; false if it is out of reach for now.
  constexpr bool add(std::uint64_t id) {
    std::uint64_t count = word_ >> reach;
    std::uint64_t bits = word_ & ((std::uint64_t{1} << reach) - 1);
    const std::uint64_t ahead = id - count - 1;
    if (ahead >= reach) return false;
    bits |= std::uint64_t{1} << ahead;
    while ((bits & 1) != 0) {
      bits >>= 1;
      ++count;
    }
    word_ = (count << reach) | bits;
    return true;
  }

 private:
  std::uint64_t word_ = 0;
};

/// One rank as all epochs of a window see it. Zero bytes are a valid object for a rank that has not
/// been used. The members that the hot path reads come first, in one cache line. The hot path reads
/// them without a lock: Link::make_ready() stores `ready` with release after the members that
/// `ready` covers, which are `base`, `size`, `disp_unit` and Peer::member. These do not change
/// while `ready` is set.
struct alignas(cache_line) EpochPeer {
  Published<Target*> ready;   // set while the open epoch's operations may access memory directly:
  std::byte* base = nullptr;  // the address of that memory,
  std::uint64_t size = 0;     // and its bytes; 0: attached pieces, or reached by system calls
  std::uint32_t disp_unit = 0;
  Published<std::uint8_t> postponed;    // a set of Postponed
  Published<std::uint8_t> short_moves;  // puts and gets in a row: see Aggregation
  bool queue_full = false;              // the last notification found no space
  /// Threads with an operation on the general path since a flush last found none of theirs
  /// outstanding.
  Published<ThreadSet> outstanding;
  Link* link = nullptr;      // see EpochPeers::link()
  Epoch* lock = nullptr;     // our open lock epoch
  Epoch* locking = nullptr;  // our epoch that has our entry in the rank's lock queue
  Epoch* touched = nullptr;  // the open start, fence or lock_all epoch with a Target for it

  Target* target = nullptr;     // that Target
  std::uint64_t accesses = 0;   // accesses requested to it (paper: a_l)
  std::uint64_t exposures = 0;  // exposures opened to it (paper: e_l)
  DoneWord done;                // access epochs to it that we have completed
  // Weak unlocks leave operations at the rank without a question. The numbers of these unlocks: all
  // of them, those that a later question covers, and those whose answer has arrived.
  std::uint64_t weak_sent = 0;
  std::uint64_t weak_asked = 0;
  std::uint64_t weak_answered = 0;
  Target* notified = nullptr;  // of the window's notified epoch; null before the first access

  /// The rank's Target in the hot lock_all epoch; null before the epoch's first operation to it.
  Target* hot_target = nullptr;

  // Our one entry in the rank's lock queue: see Epochs::entitle_next().
  EpochQueue locks;  // our lock epochs that wait for it
  /// The lock epoch that may use the entry, until the rank has been told that the epoch is over.
  Epoch* entitled = nullptr;

  // Notifications to the rank that found its queue full, of all epochs: how many there have been,
  // and how many of them have been sent since. They are sent in this order, before any other one.
  std::uint32_t notifications_held = 0;
  std::uint32_t notifications_sent = 0;
  /// True if our entry is not free for an epoch that is opened now.
  bool entry_wanted() const { return entitled != nullptr || locking != nullptr || !locks.empty(); }
  /// True if the epoch, which is active, may request the rank's lock.
  bool may_lock(const Epoch& epoch) const {
    if (locking != nullptr) return false;
    if (entitled != nullptr) return entitled == &epoch;
    return locks.empty() || epoch.opened_at < locks.first()->opened_at;
  }
  /// True if a flush has to recall operations.
  bool has_postponed(bool local) const {
    const std::uint8_t all = postponed.load(std::memory_order_acquire);
    return (local ? all & Postponed::aggregated_gets : all) != 0;
  }
  bool holds_notifications() const { return notifications_held != notifications_sent; }
  /// True if weak unlocks have left operations that may not be complete there.
  bool weak_unanswered() const { return weak_answered < weak_sent; }
};

/// The ranks of a window as its epochs see them.
class EpochPeers {
 public:
  /// The bytes of the record of a rank, a Peer, of which the EpochPeer is the first part.
  static constexpr std::size_t record_bytes = 4 * cache_line;

  /// `mapped_ranks`: in ascending order.
  EpochPeers(int ranks, std::span<const int> mapped_ranks)
      : records_(static_cast<std::size_t>(ranks) * record_bytes),
        ranks_(ranks),
        mapped_ranks_(mapped_ranks) {}
  /// Sets the links of mapped and of remote ranks. `remote` is null if all ranks are mapped. Must
  /// come before the first link().
  void set_links(Link& mapped, Link* remote) {
    mapped_link_ = &mapped;
    remote_link_ = remote;
  }

  int ranks() const { return ranks_; }
  bool valid(int rank) const {
    return static_cast<unsigned>(rank) < static_cast<unsigned>(ranks());
  }
  EpochPeer& operator[](int rank) { return *record(rank); }
  const EpochPeer& operator[](int rank) const { return *record(rank); }

  /// The link of a rank, chosen when the rank is first used.
  Link& link(int rank) {
    Link*& chosen = record(rank)->link;
    if (chosen == nullptr) [[unlikely]]
      chosen = std::ranges::binary_search(mapped_ranks_, rank) ? mapped_link_ : remote_link_;
    return *chosen;
  }
  /// Calls Link::recall_all(), which concerns mapped ranks only.
  void recall_all(Epoch& epoch) { mapped_link_->recall_all(epoch); }
  /// Calls Link::push(), which concerns remote ranks only.
  void push(bool urgent) {
    if (remote_link_ != nullptr) remote_link_->push(urgent);
  }

 private:
  EpochPeer* record(int rank) const {
    auto* const first = static_cast<std::byte*>(records_.data());
    return reinterpret_cast<EpochPeer*>(first + static_cast<std::size_t>(rank) * record_bytes);
  }

  ZeroedPages records_;
  int ranks_;
  std::span<const int> mapped_ranks_;
  Link* mapped_link_ = nullptr;
  Link* remote_link_ = nullptr;
};

}  // namespace oriel
