// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// The report of a notified operation to its target: origin, tag and number of bytes. It arrives
/// after the operation has taken effect.
struct Notification {
  std::int32_t source = 0;  // rank in the window's group
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
};

/// How an operation notifies its target.
enum class NotifyKind : std::uint8_t {
  none,
  tag,     // a Notification with this number as its tag
  counter  // adds 1 to the Counter with this number as its index
};

/// The notification that an operation requests, or none.
struct NotifyArg {
  NotifyKind kind = NotifyKind::none;
  std::int32_t number = 0;
  std::uint64_t bytes = 0;  // for a tag: of the operation as the program called it

  bool wanted() const { return kind != NotifyKind::none; }
};

/// A short store into a mapped peer's window memory, which a notification announces.
struct NotifyStore {
  void* to = nullptr;  // address in this process; null: only the target can make the store
  const void* from = nullptr;
  std::uint32_t bytes = 0;
  /// The store may travel in the notification; the target then makes the store when it receives the
  /// notification. An origin that needs the store to be made calls NodeServices::begin_recall() and
  /// finish_recall().
  bool may_inline = false;
  /// Earlier stores may be inlined and not made yet; the origin must not make this store before
  /// they are made.
  bool after_inlined = false;
  std::uint64_t offset = 0;  // of an inlined store, in the target's window memory

  /// `inlines`: the target may make the store, if it is short enough.
  static NotifyStore make(void* to, const void* from, std::uint64_t bytes, std::uint64_t offset,
                          bool inlines) {
    NotifyStore store{to, from, static_cast<std::uint32_t>(bytes)};
    store.may_inline = inlines && bytes != 0 && bytes <= most_inlined;
    store.offset = offset;
    return store;
  }

  /// A longer store is made before the line of the queue is reserved: otherwise a slow or killed
  /// origin would delay the notifications behind its line.
  static constexpr std::uint32_t most_bytes = 256;
  /// The space for a store in a notification's cache line.
  static constexpr std::uint32_t most_inlined = 32;
};

/// The result of sending a notification, with the store that it announces.
enum class NotifyOutcome : std::uint8_t {
  not_now,  // nothing was done: the queue is full, or the store must not be made this way
  stored,
  inlined  // the target makes the store
};

/// Why an inlined store is recalled.
enum class RecallFor : std::uint8_t {
  completion,  // a flush, or a call that closes an epoch
  order        // another operation, which the store must precede
};

/// A notification in a queue, with the number of its window in the target's process.
struct NotifyRecord {
  std::uint32_t window = 0;
  Notification notification;
};

/// Receives the steps by which a program receives the notifications of a window.
class NotificationSink {
 public:
  NotificationSink() = default;
  /// A request has taken the notification.
  virtual void matched(const Notification& notification) const = 0;
  /// The program or a request has read a counter, which has grown by `more` since the last read.
  virtual void counted(std::int32_t counter, std::uint64_t more) const = 0;

 protected:
  NotificationSink(const NotificationSink&) = default;
  NotificationSink& operator=(const NotificationSink&) = default;
  ~NotificationSink() = default;
};

}  // namespace oriel
