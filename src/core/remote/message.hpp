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

/// The protocol steps that are messages, for remote peers. Messages from one process to another
/// arrive in the order of sending, and share packets where possible.
enum class MessageKind : std::uint8_t {
  // The word that a mapped peer would store into our Slot:
  granted,
  done,
  lock_granted,
  // Of a lock epoch, with `exclusive`:
  lock,
  unlock,      // `acknowledge`: a reply is wanted
  operation,   // to be carried out
  reply,       // to an operation: all operations of the origin up to this one are complete
  count,       // a step of FenceCount; word: number of the fence call
  late_query,  // asks which ranks keep the receiver from sending step `stamp` of fence call `word`
  late_ranks,  // the answer, for the same step and call; data: numbers of ranks
  mark,        // all the origin's operations before fence call `word` have been sent
  layout,      // a datatype of the target, or a piece of it, used by later operations
  notify,      // a notification of an operation whose bytes have been moved, or that has no bytes
  exchange,    // stamp: the round; data: the words
  barrier,     // stamp: the step
  rendezvous,  // a long put or get, which the target carries out by direct transfers of its own
  // Of persistent collectives (core/collective), with word: number of the plan:
  plan_space,    // a rank's receive from this message's receiver; element: its order among these,
                 // first: its number, count: bytes
  plan_started,  // the origin has begun a use; stamp: its number
  plan_bytes     // data; stamp: the use, element: number of the receive, first: bytes before these,
                 // last
};

/// Returns whether the receiver serves the origin when it handles the message: the origin may wait
/// for that.
constexpr bool serves_origin(MessageKind kind) {
  return kind == MessageKind::lock || kind == MessageKind::unlock ||
         kind == MessageKind::operation || kind == MessageKind::notify ||
         kind == MessageKind::rendezvous || kind == MessageKind::count || kind == MessageKind::mark;
}

/// The condition under which the target carries out a message of an access epoch. The target holds
/// the message back until then, so the origin need not know.
enum class Gate : std::uint8_t {
  none,
  exposure,  // stamp: number of the access between the two ranks
  fence,     // stamp: number of the fence call that opened the epoch
  lock,      // the lock that the origin requested before; stamp: the last fence that the origin has
             // ended
  open       // no condition: an access of the notified epoch
};

/// The position of a message in an operation of several messages that takes effect as one update
/// (Atomicity). The target keeps their data until the last one has arrived.
enum class Assembly : std::uint8_t {
  none,     // the message is carried out by itself
  more,     // further messages of the operation follow
  complete  // the last one; its `count` without a layout: bytes of the operation
};

/// The header of every message. Zero words at its end are not sent, so seldom used members come
/// last. Behind the header follow, for an operation: the compare value of compare_and_swap and the
/// origin's contiguous data; a reply: the fetched data; a count: its numbers; late_ranks: the
/// ranks; a layout: Blocks; an exchange: its words; a rendezvous: the RemoteMemory of the origin's
/// buffer; a plan_space: that of the receive's buffer, if it is registered.
struct Message {
  std::uint8_t version = current_version;
  std::uint8_t words = most_words;  // of 8 bytes: those of this header that are sent
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
  std::int32_t notify_number = 0;  // operation: of its last piece, the NotifyArg's number
  NotifyKind notifies =
      NotifyKind::none;  // operation: of its last piece, the NotifyArg's kind; notify: its kind
  Assembly assembly = Assembly::none;
  std::array<std::uint8_t, 2> reserved{};
  std::uint64_t notified_bytes = 0;  // see Notification
  // operation: see Operation::handle; 0: none.
  std::uint64_t handle_token = 0;
  std::uint32_t handle_slot = 0;
  std::uint32_t reserved_too = 0;

  static constexpr std::uint8_t current_version = 14;
  static constexpr std::uint8_t most_words = 15;
  /// The most bytes of data. An accumulate of 4 MB takes 0.6 ms over TCP in messages of this
  /// size, and 1.6 ms in messages of an eighth of it, because each send passes through both kernels
  /// by itself.
  static constexpr std::uint64_t most_data = std::uint64_t{256} * 1024;
  /// The most bytes of a message with its header; compare values are short.
  static constexpr std::uint64_t most_bytes = most_data + 1024;
  /// Approximate memory, besides its data, of a message that the target holds back.
  static constexpr std::uint64_t held_bytes = 64;

  /// Stores the notification request in the header, if one is wanted.
  void notify(const NotifyArg& wanted);
  /// Sets `words`, and returns the header as it is sent.
  std::span<const std::byte> trim();
  /// Reads the header from the front of `bytes` and removes it there. False if there is no valid
  /// header.
  bool read_header(std::span<const std::byte>& bytes);
};

static_assert(std::is_trivially_copyable_v<Message> &&
              sizeof(Message) == std::size_t{8} * Message::most_words);
static_assert(Limits{}.fragment <= Message::most_data);
static_assert(std::has_unique_object_representations_v<Message>, "no uninitialized byte is sent");

}  // namespace oriel
