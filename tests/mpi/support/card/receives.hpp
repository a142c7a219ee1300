// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "segment.hpp"
#include "vector.hpp"

namespace card {

/// A posted receive.
struct Receive {
  static constexpr std::uint64_t any_origin = 0;

  Vector room;
  // Of a buffer for several messages:
  std::size_t used = 0;
  std::uint64_t due = 0;  // the end of the last message in it
  std::uint64_t origin = any_origin;
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
  std::uint64_t flags = 0;
  void* context = nullptr;
};

/// A message that has arrived and is kept.
struct Message {
  Header header;
  std::vector<std::byte> payload;
  void* claim = nullptr;  // the context of the look that has claimed it

  Message(const Header& given, const std::byte* bytes) : header(given) {
    if (given.fetch == 0) payload.assign(bytes, bytes + given.length);
  }
};

/// Posted receives and messages that no receive was posted for, each in their order. Both name an
/// origin by its id, because a message may arrive before its origin's address has been inserted.
struct Receives {
  std::list<Receive> posted;
  std::list<Message> unexpected;

  static bool match(const Receive& receive, const Header& header) {
    return (receive.origin == Receive::any_origin || receive.origin == header.origin.id) &&
           ((receive.tag ^ header.tag) & ~receive.ignore) == 0;
  }
  std::list<Receive>::iterator find_receive(const Header& header) {
    auto each = posted.begin();
    while (each != posted.end() && !match(*each, header)) ++each;
    return each;
  }
  std::list<Message>::iterator find_message(const Receive& receive) {
    const bool claimed = (receive.flags & FI_CLAIM) != 0 && (receive.flags & FI_PEEK) == 0;
    auto each = unexpected.begin();
    while (each != unexpected.end() &&
           !(claimed ? each->claim == receive.context
                     : each->claim == nullptr && match(receive, each->header))) {
      ++each;
    }
    return each;
  }
};

}  // namespace card
