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
  std::byte* place = nullptr;  // of its first byte in our memory
  std::uint64_t begun = 0;     // bytes of the transfers that have begun
  std::uint64_t over = 0;      // bytes of the transfers that are over
  Error error = Error::none;
  std::uint32_t pool_index = 0;
  std::uint32_t generation = 0;

  void reset() {
    begun = over = 0;
    error = Error::none;
  }

  std::uint64_t left() const { return error == Error::none ? message.count - begun : 0; }
  bool finished() const { return left() == 0 && over == begun; }
};

/// The rendezvous of a process at which it is the target.
class RendezvousTable {
 public:
  Rendezvous& acquire() { return pool_.acquire(); }
  void release(Rendezvous& one) { pool_.release(one); }
  /// The token of its transfers, different from that of every operation: no index of a pool reaches
  /// the bit `beyond_any_index`.
  static std::uint64_t token(const Rendezvous& one) {
    return Pool<Rendezvous>::token(one) | beyond_any_index;
  }
  /// The rendezvous of a token; null if there is none or it is over.
  Rendezvous* find(std::uint64_t token) {
    return (token & beyond_any_index) != 0 ? pool_.find(token & ~beyond_any_index) : nullptr;
  }

 private:
  static constexpr std::uint64_t beyond_any_index = std::uint64_t{1} << 31;

  Pool<Rendezvous> pool_;
};

}  // namespace oriel
