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
  Vector room;
  std::size_t used = 0;  // of a buffer for several messages
  fi_addr_t source = FI_ADDR_UNSPEC;
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
  std::uint64_t flags = 0;
  void* context = nullptr;
};

/// A message that has arrived and is kept.
struct Message {
  Header header;
  std::vector<std::byte> payload;
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  void* claim = nullptr;  // the context of the look that has claimed it

  Message(const Header& given, const std::byte* bytes) : header(given) {
    if (given.fetch == 0) payload.assign(bytes, bytes + given.length);
  }
};

/// Posted receives and messages that no receive was posted for, each in their order.
struct Receives {
  std::list<Receive> posted;
  std::list<Message> unexpected;

  static bool match(const Receive& receive, const Header& header, fi_addr_t source) {
    return (receive.source == FI_ADDR_UNSPEC || receive.source == source) &&
           ((receive.tag ^ header.tag) & ~receive.ignore) == 0;
  }
  std::list<Receive>::iterator find_receive(const Header& header, fi_addr_t source) {
    auto each = posted.begin();
    while (each != posted.end() && !match(*each, header, source)) ++each;
    return each;
  }
  std::list<Message>::iterator find_message(const Receive& receive) {
    const bool claimed = (receive.flags & FI_CLAIM) != 0 && (receive.flags & FI_PEEK) == 0;
    auto each = unexpected.begin();
    while (each != unexpected.end() &&
           !(claimed ? each->claim == receive.context
                     : each->claim == nullptr && match(receive, each->header, each->source))) {
      ++each;
    }
    return each;
  }
};

}  // namespace card
