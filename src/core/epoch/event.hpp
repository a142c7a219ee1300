// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "core/epoch/event_kind.hpp"  // made from python/oriel/wait_states/event_table.py

namespace oriel {

/// The reason why a call waits.
enum class WaitReason : std::uint8_t {
  lock,          // until a lock is held that the call must hold when it returns
  unlock,        // until operations are complete at the target
  fence,         // until all ranks have entered it
  complete,      // until targets are exposed and operations are complete
  exposure,      // until origins have completed
  flush,         // until operations are complete, or their buffers may be reused
  notification,  // until one has arrived
  request,       // until a request completes
  collective,    // for making or freeing a persistent collective
  window         // for making or freeing a window, or for a collective call on it
};
inline constexpr int wait_reasons = static_cast<int>(WaitReason::window) + 1;
constexpr const char* name_of(WaitReason reason) {
  constexpr const char* names[] = {"lock",  "unlock",       "fence",   "complete",   "exposure",
                                   "flush", "notification", "request", "collective", "window"};
  static_assert(std::size(names) == wait_reasons);
  return names[static_cast<int>(reason)];
}

/// A wait of a call.
struct Wait {
  WaitReason reason;
  int rank = -1;             // the awaited rank; -1: several, or any rank
  std::uint64_t number = 0;  // of this process's waits; 0: the wait is not reported
};

/// The place in which a rank has served an origin: a call that does not wait, one that waits, or
/// the progress agent.
enum class ServedIn : std::uint8_t { call, wait, agent };

/// The part of this rank in a transfer of a persistent collective.
enum class TransferSide : std::uint8_t { sent, received };

/// An event of this process. The table of events (python/oriel/wait_states/event_table.py) says for
/// each kind when it is reported, and what the members mean. It is recorded as it is here.
struct Event {
  std::uint64_t time = 0;    // in nanoseconds of CLOCK_MONOTONIC; 0: when it is reported
  std::uint64_t number = 0;  // of a fence: that of the call; of another epoch: of its opening
  std::uint32_t window = 0;  // its number in this process; 0: no particular window
  std::int32_t rank = -1;    // the peer concerned; -1: several, or none
  std::uint32_t id = 0;      // of the begin of a wait: the call site, which the Recorder numbers
  EventKind kind = EventKind::end;
  std::uint8_t detail = 0;  // a value of an enumeration
  std::uint16_t flags = 0;
};
static_assert(sizeof(Event) == 32 && std::is_trivially_copyable_v<Event>);

/// For Event::detail.
template <typename Named>
constexpr std::uint8_t detail_of(Named value) {
  return static_cast<std::uint8_t>(value);
}

/// Writes the event's name and members, without time and window, as snprintf does.
int write_text(const Event& event, char* text, std::size_t size);

}  // namespace oriel
