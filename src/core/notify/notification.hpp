// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
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
enum class NotifyKind : std::uint8_t {
  none,
  tag,     // a Notification with the number as its tag
  counter  // one more in the Counter of that index
};

/// The notification that an operation carries, or none.
struct NotifyArg {
  NotifyKind kind = NotifyKind::none;
  std::int32_t number = 0;
  std::uint64_t bytes = 0;  // of the operation that the program has made; of tags

  bool wanted() const { return kind != NotifyKind::none; }
};

/// A short store into a mapped peer's window memory that a notification announces.
struct NotifyStore {
  void* to = nullptr;  // here; null: its target alone can make it
  const void* from = nullptr;
  std::uint32_t bytes = 0;
  /// The store may travel in the notification, and be made by the target when it takes that:
  /// whoever has to know that it has been made calls NodeServices::begin_recall() and
  /// finish_recall().
  bool may_inline = false;
  /// Earlier ones may be inlined and not made yet: this one may not be made here before them.
  bool after_inlined = false;
  std::uint64_t offset = 0;  // of an inlined one in the target's window memory

  /// `inlines`: its target may make it, if it is short enough.
  static NotifyStore make(void* to, const void* from, std::uint64_t bytes, std::uint64_t offset,
                          bool inlines) {
    NotifyStore store{to, from, static_cast<std::uint32_t>(bytes)};
    store.may_inline = inlines && bytes != 0 && bytes <= most_inlined;
    store.offset = offset;
    return store;
  }

  /// A longer one is made before the line is reserved: a slow or killed origin would hold up the
  /// notifications of others behind it.
  static constexpr std::uint32_t most_bytes = 256;
  /// What fits into a notification's cache line.
  static constexpr std::uint32_t most_inlined = 32;
};

/// What has come of a notification and the store that it announces.
enum class NotifyOutcome : std::uint8_t {
  not_now,  // nothing has been done: there is no space, or the store may not be made this way
  stored,
  inlined  // the store is left to the target
};

/// Why an inlined store is taken back.
enum class RecallFor : std::uint8_t {
  completion,  // a flush, or what closes an epoch
  order        // another operation that it may not come after
};

/// A notification on its way, with the number of its window at the target's process.
struct NotifyRecord {
  std::uint32_t window = 0;
  Notification notification;
};

}  // namespace oriel
