// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/pool.hpp"
#include "core/remote/message.hpp"
#include "core/transport/transport.hpp"

namespace oriel {

class Server;

/// A long put or get that its target carries out by direct transfers of its own, between its memory
/// and the origin's registered buffer.
struct Rendezvous {
  Server* server = nullptr;
  Message message;
  RemoteMemory registered;
  std::byte* first_byte = nullptr;  // of its first byte in our memory
  std::uint64_t begun = 0;          // bytes of the transfers that have begun
  std::uint64_t over = 0;           // bytes of the transfers that are over
  Error error = Error::none;
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    begun = over = 0;
    error = Error::none;
  }

  std::uint64_t remaining() const { return error == Error::none ? message.count - begun : 0; }
  bool finished() const { return remaining() == 0 && over == begun; }
};

/// The rendezvous of a process at which it is the target. The tokens of their transfers differ from
/// those of operations and plans.
using RendezvousTable = Pool<Rendezvous, std::uint64_t{1} << 31>;

}  // namespace oriel
