// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/operation.hpp"

namespace oriel {

/// The steps of the protocol as messages, for peers that are not mapped. The first four carry the
/// word that a mapped peer would store into our Slot.
enum class MessageKind : std::uint8_t {
  granted,
  done,
  fence,
  lock_granted,
  lock,       // word: 1 exclusive, 0 shared
  unlock,     // likewise
  operation,  // carry out and reply
  reply       // to an operation: complete at the target, with what it fetched
};

/// Header of every message. An operation is followed by `blocks` Blocks (the target datatype; none:
/// `count` bytes in one run), the compare value of compare_and_swap, and the origin's data in one
/// piece; a reply by the fetched data.
struct Message {
  std::uint32_t version = current_version;
  MessageKind kind = MessageKind::granted;
  OperationKind operation = OperationKind::put;
  Op op = Op::replace;
  Basic basic = Basic::none;
  std::uint32_t window = 0;
  std::int32_t origin = 0;
  std::uint64_t word = 0;     // the step's word; operation and reply: the origin's pool index
  std::uint64_t offset = 0;   // operation: bytes from the start of the target's window
  std::uint64_t count = 0;    // operation: elements of the target datatype
  std::int64_t extent = 0;    // of the target datatype
  std::uint64_t data = 0;     // bytes of data at the end of the message
  std::uint64_t fetched = 0;  // operation: bytes that the reply shall carry
  std::uint64_t op_code = 0;
  std::uint64_t type_code = 0;
  std::uint32_t element = 0;
  std::uint32_t blocks = 0;
  Error error = Error::none;  // reply

  static constexpr std::uint32_t current_version = 1;
};

static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) == 96);

}  // namespace oriel
