// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/base/copies.hpp"
#include "core/base/shared_words.hpp"
#include "core/lock/sharers.hpp"
#include "core/notify/notification.hpp"
#include "transport/shm/mailbox.hpp"
#include "transport/shm/mailbox_ring.hpp"

namespace oriel {

/// A producer's state for one notification queue: the reader's position as last loaded, and the
/// laden lines that the reader may not have taken.
class NotifySender {
 public:
  /// A line with a store for the reader to make.
  struct Laden {
    std::uint64_t position;
    std::uint32_t window;  // its number in the reader's process
  };

  std::uint64_t head = 0;

  /// True if the next store may be inlined. False for a while after a recall that costs more than
  /// inlining gains: the program flushes before the reader has taken the line, or mixes such puts
  /// with other operations. The pause doubles with each such recall, so that a program that always
  /// does so pays for a few only.
  bool inlines() {
    if (pause_ == 0) [[likely]]
      return true;
    --pause_;
    return false;
  }
  /// How many times inlining has paused.
  std::uint64_t pauses() const { return pauses_; }
  bool full() const { return laden_.size() == laden_.capacity(); }
  /// Makes space for a laden line. `now`: the reader's position. The space is bounded, because the
  /// queue has a limited number of lines that have not been taken.
  void make_space(std::uint64_t now) {
    head = now;
    std::erase_if(laden_, [this](const Laden& line) { return line.position < head; });
    if (2 * laden_.size() >= laden_.capacity()) {
      laden_.reserve(std::max(least_kept, 2 * laden_.capacity()));
    }
  }
  void add_laden(Laden line) { laden_.push_back(line); }
  /// Removes the laden lines of the window from those kept, and returns the positions of the ones
  /// that the reader has not taken. `now`: the reader's position.
  const std::vector<std::uint64_t>& remove_laden(std::uint32_t window, std::uint64_t now) {
    head = now;
    recalled_.clear();
    std::erase_if(laden_, [&](const Laden& line) {
      const bool recalls = line.position >= head && line.window == window;
      if (recalls) recalled_.push_back(line.position);
      return recalls || line.position < head;
    });
    return recalled_;
  }
  /// The positions that remove_laden() returned, oldest first.
  const std::vector<std::uint64_t>& recalled() const { return recalled_; }
  /// `costly`: stores had to be recalled, or were checked for an operation that must follow them.
  void record_recall(bool costly) {
    penalty_ = costly ? std::min(2 * penalty_ + least_pause, most_pause) : penalty_ / 2;
    if (!costly) return;
    pause_ = penalty_;
    ++pauses_;
  }

 private:
  // A fence of all peers takes some microseconds; an inlined store saves the reader one cache miss.
  // 64 inlined stores save about as much as one fence costs.
  static constexpr std::uint32_t least_pause = 64;
  static constexpr std::uint32_t most_pause = 1U << 20;

  static constexpr std::size_t least_kept = 64;

  std::vector<Laden> laden_;
  std::vector<std::uint64_t> recalled_;
  std::uint32_t pause_ = 0;
  std::uint32_t penalty_ = 0;
  std::uint64_t pauses_ = 0;
};

/// One notification, in one cache line, with the store that it announces if the reader makes that
/// store (N5). The state is the first word, as in every record of a mailbox.
struct alignas(cache_line) NotifyLine {
  std::uint64_t state;  // see BasicMailboxRing; zero until the line is reserved
  std::uint32_t window;
  std::int32_t source;
  std::int32_t tag;
  std::uint32_t laden_bytes;      // bytes of the operation, whose store the line carries; 0: none
  std::uint64_t bytes_or_offset;  // offset of that store in the window; else bytes of the operation
  std::byte laden[NotifyStore::most_inlined];
};

static_assert(sizeof(NotifyLine) == cache_line && std::is_trivially_copyable_v<NotifyLine>);

/// A ring of NotifyLines in shared memory, each of which is one record.
class NotifyLines : public RingCells<NotifyLine> {
 public:
  static constexpr bool laps = true;

  using RingCells::RingCells;
  static std::uint64_t cells_for(std::uint32_t /*bytes*/) { return 1; }
  std::atomic_ref<std::uint64_t> first_word(std::uint64_t position) const {
    return std::atomic_ref(at(position).state);
  }
};

/// The two ends of the queue. `pressed` is 1 if a producer has found the queue full since the owner
/// last cleared it.
struct NotifyEnds {
  MailboxEnds ring;
  alignas(cache_line) std::atomic<std::uint32_t> pressed{0};
};

static_assert(sizeof(NotifyEnds) == 3 * cache_line && std::is_standard_layout_v<NotifyEnds>);

/// The notifications for one process of a node, from any number of producers. The protocol is
/// BasicLadenRing. put() reports a full queue to the producer, so no notification is lost.
class NotifyQueue : private BasicLadenRing<SharedWords, NotifyLines> {
 public:
  /// `reader`: a number that no other queue or mailbox has.
  NotifyQueue(NotifyEnds& ends, std::span<NotifyLine> lines, std::uint64_t reader)
      : BasicLadenRing(ends.ring, NotifyLines(lines), lines.size(), reader),
        pressed_(ends.pressed) {}

  /// NotifyOutcome::not_now: the queue is full, or the store can only be inlined while the sender
  /// does not inline. `pid` is the caller's process, `claim` the only claim of that process.
  /// Release: the caller's earlier writes, and the store. The store is made after the line is
  /// reserved, so that the cache misses on both overlap.
  NotifyOutcome put(MailboxClaim& claim, std::int32_t pid, NotifySender& sender,
                    const NotifyRecord& record, const NotifyStore& store) {
    const bool inlined = store.may_inline && sender.inlines();
    if (!inlined && store.bytes != 0 && (store.to == nullptr || store.after_inlined)) {
      return NotifyOutcome::not_now;
    }
    const auto position = reserve(claim, pid, 0, sender.head);
    if (!position) {
      pressed_.store(1, std::memory_order_relaxed);
      return NotifyOutcome::not_now;
    }
    NotifyLine& line = cells_.at(*position);
    line.window = record.window;
    line.source = record.notification.source;
    line.tag = record.notification.tag;
    if (inlined) {
      line.laden_bytes = store.bytes;
      line.bytes_or_offset = store.offset;
      short_copy(line.laden, store.from, store.bytes);
      publish(*position, Phase::laden);
      if (sender.full()) [[unlikely]]
        sender.make_space(load_head());
      sender.add_laden({*position, record.window});
      return NotifyOutcome::inlined;
    }
    if (store.bytes != 0) {
      __builtin_prefetch(&line, 1);
      short_copy(store.to, store.from, store.bytes);
    }
    line.laden_bytes = 0;
    line.bytes_or_offset = record.notification.bytes;
    publish(*position, Phase::committed);
    return NotifyOutcome::stored;
  }
  /// Begins to recall the stores that the caller has inlined for the reader's window number
  /// `window`. True if a fence of all peers must follow.
  bool begin_recall(std::int32_t pid, NotifySender& sender, std::uint32_t window,
                    RecallFor reason) {
    const bool marked = BasicLadenRing::begin_recall(sender.remove_laden(window, load_head()), pid);
    sender.record_recall(marked || reason == RecallFor::order);
    return marked;
  }
  /// Returns when all recalled stores have been made, by the reader or by `maker`. False if the
  /// reader has ended.
  bool finish_recall(std::int32_t pid, NotifySender& sender, Sharers& sharers, std::uint32_t reader,
                     StoreMaker& maker) {
    return BasicLadenRing::finish_recall(
        sender.recalled(), pid, sharers, reader, [&](std::uint64_t position) {
          const NotifyLine& line = cells_.at(position);
          maker.make(std::span<const std::byte>(line.laden, line.laden_bytes),
                     line.bytes_or_offset);
        });
  }

  /// Passes the oldest notification to the reader, if there is one. Acquire: the earlier writes of
  /// its producer. `asymmetric`: see store_before_load().
  bool deliver(NotifyReader& reader, bool asymmetric) {
    const Phase phase = phase_of(state_at_front());
    if (phase != Phase::committed && phase != Phase::laden) return false;
    if (phase == Phase::laden && !begin_store(asymmetric)) return false;
    const NotifyLine& line = cells_.at(front());
    const std::uint32_t window = line.window;
    // Recalling the store does not change these fields, because the producer may die meanwhile.
    const bool carries = line.laden_bytes != 0;
    const Notification notification{line.source, line.tag,
                                    carries ? line.laden_bytes : line.bytes_or_offset};
    if (phase == Phase::laden) {
      if (!reader.store(window, line.bytes_or_offset, {line.laden, line.laden_bytes})) {
        end_store();
        return false;
      }
    }
    // Clear before freeing the line: a producer that finds the queue full later sets it again.
    if (pressed_.load(std::memory_order_relaxed) != 0) {
      pressed_.store(0, std::memory_order_relaxed);
    }
    release_front(0);
    reader.deliver({window, notification});
    return true;
  }

  using BasicMailboxRing::due;
  // Recovery from killed producers: see BasicMailboxRing and BasicLadenRing.
  using BasicMailboxRing::skip_claimed;
  using BasicMailboxRing::stalled;
  template <typename Alive>
  bool skip_dead(Alive&& alive) {
    return revive_dead(alive) || BasicMailboxRing::skip_dead(alive);
  }

 private:
  std::atomic<std::uint32_t>& pressed_;
};

}  // namespace oriel
