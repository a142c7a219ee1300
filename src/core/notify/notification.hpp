// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// What a notified operation tells its target: that one rank's operation with a tag has taken place
/// there, and how many bytes of memory it was about.
struct Notification {
  std::int32_t source = 0;  // rank in the window's group
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
};

/// How an operation tells its target that it has taken place.
enum class NoticeKind : std::uint8_t {
  none,
  tag,     // a Notification with the number as its tag
  counter  // one more in the Counter of that index
};

/// The notice that an operation carries, or none.
struct Notice {
  NoticeKind kind = NoticeKind::none;
  std::int32_t number = 0;
  std::uint64_t bytes = 0;  // of the operation that the program has made; of tags

  bool wanted() const { return kind != NoticeKind::none; }
};

/// A short store into mapped memory that a notice announces.
struct NotifyStore {
  void* to = nullptr;
  const void* from = nullptr;
  std::uint32_t bytes = 0;

  /// More is stored before: whoever is killed meanwhile, or slow, would hold up the notifications
  /// of others behind it.
  static constexpr std::uint32_t most_bytes = 256;
};

/// A notification on its way, with the number of its window at the target's process.
struct NotifyRecord {
  std::uint32_t window = 0;
  Notification notification;
};

}  // namespace oriel
