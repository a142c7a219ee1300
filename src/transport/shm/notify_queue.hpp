// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "core/base/cache_line.hpp"
#include "core/notify/notification.hpp"
#include "transport/shm/liveness.hpp"
#include "transport/shm/mailbox.hpp"
#include "transport/shm/mailbox_places.hpp"

namespace oriel {

/// One notification, in one cache line (N5). The state comes first, as in every record of a
/// mailbox.
struct alignas(cache_line) NotifyLine {
  std::uint64_t state;  // see BasicMailboxPlaces; zero while nobody has reserved the line
  std::uint32_t window;
  std::int32_t source;
  std::int32_t tag;
  std::uint32_t reserved;
  std::uint64_t bytes;
};

static_assert(sizeof(NotifyLine) == cache_line && std::is_trivially_copyable_v<NotifyLine>);

/// A ring of such lines in shared memory, each a record of its own.
class NotifyLines {
 public:
  static constexpr bool laps = true;

  explicit NotifyLines(std::span<NotifyLine> lines)  // a power of two of them
      : lines_(lines.data()), count_(lines.size()) {}

  std::uint64_t count() const { return count_; }
  static std::uint64_t cells_for(std::uint32_t /*bytes*/) { return 1; }
  NotifyLine& at(std::uint64_t position) const { return lines_[position & (count_ - 1)]; }
  std::atomic_ref<std::uint64_t> first_word(std::uint64_t position) const {
    return std::atomic_ref(at(position).state);
  }

 private:
  NotifyLine* lines_;
  std::uint64_t count_;
};

/// The two ends of the queue, and whether somebody has found it full since its owner looked last.
struct NotifyEnds {
  MailboxEnds places;
  alignas(cache_line) std::atomic<std::uint32_t> pressed{0};
};

static_assert(sizeof(NotifyEnds) == 3 * cache_line && std::is_standard_layout_v<NotifyEnds>);

/// Notifications for one process of a node, from any number of producers: who may touch what is
/// BasicMailboxPlaces's. A full queue is told to the producer; nothing is lost.
class NotifyQueue {
 public:
  using Places = BasicMailboxPlaces<SharedWords, NotifyLines>;
  using Phase = Places::Phase;

  /// `reader`: a number that no other queue or mailbox has.
  NotifyQueue(NotifyEnds& ends, std::span<NotifyLine> lines, std::uint64_t reader)
      : ends_(&ends), lines_(lines), places_(ends.places, lines_, lines.size(), reader) {}

  /// False: the queue is full, and nothing has been stored. `pid` is the caller's process, the
  /// claim its only one, `head` what it knows of the reader. Released with the line: all that the
  /// caller has written before, and the store. That is made once the line is ours: the two lines
  /// that are missing here then come at the same time.
  bool put(MailboxClaim& claim, std::int32_t pid, std::uint64_t& head, const NotifyRecord& record,
           const NotifyStore& store) {
    const auto position = places_.reserve(claim, pid, 0, head);
    if (!position) {
      ends_->pressed.store(1, std::memory_order_relaxed);
      return false;
    }
    NotifyLine& line = lines_.at(*position);
    if (store.bytes != 0) {
      __builtin_prefetch(&line, 1);
      std::memmove(store.to, store.from, store.bytes);
    }
    line.window = record.window;
    line.source = record.notification.source;
    line.tag = record.notification.tag;
    line.bytes = record.notification.bytes;
    places_.publish(*position, Phase::committed);
    return true;
  }

  /// The oldest one, if it is there. Acquired with it: what its producer had written before.
  bool take(NotifyRecord& record) {
    if (Places::phase_of(places_.state_at_front()) != Phase::committed) return false;
    // Before there is room: who finds none after that says so again.
    if (ends_->pressed.load(std::memory_order_relaxed) != 0) {
      ends_->pressed.store(0, std::memory_order_relaxed);
    }
    const NotifyLine& line = lines_.at(places_.front());
    record = {line.window, {line.source, line.tag, line.bytes}};
    places_.release_front(0);
    return true;
  }

  /// See BasicMailboxPlaces: a producer that was killed.
  bool stalled() const { return places_.stalled(); }
  bool skip_dead() {
    return places_.skip_dead([](std::int32_t pid) { return process_alive(pid, 0); });
  }
  template <typename Each>
  bool skip_claimed(Each&& each) {
    return places_.skip_claimed(each);
  }

 private:
  NotifyEnds* ends_;
  NotifyLines lines_;
  Places places_;
};

}  // namespace oriel
