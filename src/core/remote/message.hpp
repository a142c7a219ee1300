// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/base/limits.hpp"
#include "core/operation/operation.hpp"

namespace oriel {

/// The steps of the protocol as messages, for peers that are not mapped. Those of one process to
/// another arrive in the order of sending, and travel together where they can.
enum class MessageKind : std::uint8_t {
  // The word that a mapped peer would store into our Slot.
  granted,
  done,
  lock_granted,
  // Of a lock epoch; `exclusive`.
  lock,
  unlock,      // `acknowledge`: a reply is wanted
  operation,   // to be carried out
  reply,       // to an operation: all of the origin's operations up to this one are complete
  count,       // a step of FenceCount; word: number of the fence call
  mark,        // the origin's last operation before fence call `word` has been sent
  layout,      // a datatype of the target, or a piece of it, for operations that follow
  notify,      // of an operation whose bytes are there, or of none
  exchange,    // stamp: the round; data: the words
  barrier,     // stamp: the step
  rendezvous,  // a long put or get, which the target carries out by direct transfers of its own
  // Of persistent collectives (core/collective); word: number of the plan.
  plan_space,    // a rank expects something; element: its order among what it expects from the
                 // receiver of this message, first: its number, count: bytes
  plan_started,  // stamp: number of the use that the origin has begun
  plan_bytes     // stamp: the use, element: number of the receive, first: bytes before these, last
};

/// Whether the receiver serves the origin by it: the origin may wait for what the receiver does.
constexpr bool serves_origin(MessageKind kind) {
  switch (kind) {
    case MessageKind::lock:
    case MessageKind::unlock:
    case MessageKind::operation:
    case MessageKind::notify:
    case MessageKind::rendezvous:
    case MessageKind::count:
    case MessageKind::mark:
      return true;
    case MessageKind::granted:
    case MessageKind::done:
    case MessageKind::lock_granted:
    case MessageKind::reply:
    case MessageKind::layout:
    case MessageKind::exchange:
    case MessageKind::barrier:
    case MessageKind::plan_space:
    case MessageKind::plan_started:
    case MessageKind::plan_bytes:
      return false;
  }
  return false;
}

/// What must be open at the target before a message of an access epoch is carried out. The origin
/// need not know: the target holds the message back until then.
enum class Gate : std::uint8_t {
  none,
  exposure,  // stamp: number of the access between the two ranks
  fence,     // stamp: number of the fence call that opened the epoch
  lock,      // the lock that the origin asked for before; stamp: the last fence it has closed
  open       // nothing: an access of the notified epoch
};

/// Of an operation in several messages that takes place as one update (Atomicity): the target keeps
/// their data until the last one is there.
enum class Assembly : std::uint8_t {
  none,     // the message is carried out by itself
  more,     // others of the operation follow
  complete  // the last one; its `count` without a layout: bytes of the operation
};

/// Header of every message; zeros at its end are not sent, so what is seldom needed comes last. An
/// operation is followed by the compare value of compare_and_swap and the origin's data in one
/// piece; a reply by the fetched data; a count by its numbers; a layout by Blocks; an exchange by
/// its words; a rendezvous by the RemoteMemory that the origin lends, a plan_space by that which
/// may be written, if any.
struct Message {
  std::uint8_t version = current_version;
  std::uint8_t words = most_words;  // of 8 bytes, that are sent of this header
  MessageKind kind = MessageKind::granted;
  Gate gate = Gate::none;
  OperationKind operation = OperationKind::put;
  Op op = Op::replace;
  Basic basic = Basic::none;
  Error error = Error::none;  // reply
  std::uint32_t window = 0;   // its number at the receiver
  std::int32_t origin = 0;
  std::uint32_t data = 0;     // bytes of data at the end of the message
  std::uint32_t fetched = 0;  // operation: bytes that the reply shall carry
  std::uint64_t word =
      0;  // the step's word; operation, unlock and reply: the origin's token, see Pool
  std::uint64_t stamp = 0;       // see Gate
  std::uint64_t offset = 0;      // operation: bytes from the start of the target's window
  std::uint8_t exclusive = 0;    // lock, unlock
  std::uint8_t acknowledge = 0;  // a reply is wanted
  std::uint8_t last = 0;         // count, layout: the last piece
  std::uint8_t joins = 0;        // lock: see LockLine::acquire()
  std::uint32_t element = 0;
  std::uint64_t first = 0;   // bytes of the operation (or entries of the count) before this piece
  std::uint64_t layout = 0;  // operation: of the target; 0: one run of bytes
  std::uint64_t count = 0;   // operation: elements of the layout, see Assembly; rendezvous: bytes
  std::int64_t extent = 0;   // layout
  std::int32_t notify_number = 0;          // operation: of its last piece, the NotifyArg's number
  NotifyKind notifies = NotifyKind::none;  // likewise, its kind; notify: one there is
  Assembly assembly = Assembly::none;
  std::array<std::uint8_t, 2> reserved{};
  std::uint64_t notified_bytes = 0;  // see Notification
  // operation: see Operation::handle; 0: none.
  std::uint64_t handle_token = 0;
  std::uint32_t handle_slot = 0;
  std::uint32_t reserved_too = 0;

  static constexpr std::uint8_t current_version = 13;
  static constexpr std::uint8_t most_words = 15;
  /// Most bytes of data. An accumulate of 4 MB takes 0.6 ms over TCP in pieces of this size, 1.6 ms
  /// in eighths of it: each send goes through both kernels by itself.
  static constexpr std::uint64_t most_data = std::uint64_t{256} * 1024;
  /// Most bytes of a message, header included: compare values are short.
  static constexpr std::uint64_t most_bytes = most_data + 1024;
  /// What one that is held back takes at the target besides its data, about.
  static constexpr std::uint64_t held_bytes = 64;

  /// Tells the target of the operation when its bytes are there, if that is wanted.
  void notify(const NotifyArg& wanted);
  /// Sets `words`, and returns the header as it is sent.
  std::span<const std::byte> trim();
  /// Takes the header from the front of what has arrived, and leaves what follows it. False: there
  /// is none.
  bool take(std::span<const std::byte>& bytes);
};

static_assert(std::is_trivially_copyable_v<Message> &&
              sizeof(Message) == std::size_t{8} * Message::most_words);
static_assert(Limits{}.fragment <= Message::most_data);
static_assert(std::has_unique_object_representations_v<Message>, "no uninitialized byte is sent");

}  // namespace oriel
