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

/// A long put or get at its target, which carries it out by direct transfers of its own, between
/// its memory and what the origin has lent.
struct Rendezvous {
  Server* server = nullptr;
  Message message;
  RemoteMemory registered;
  std::byte* place = nullptr;  // of its first byte here
  std::uint64_t begun = 0;     // bytes, of transfers that have begun,
  std::uint64_t over = 0;      // and of those that are over
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

/// Those of a process.
class RendezvousTable {
 public:
  Rendezvous& acquire() { return pool_.acquire(); }
  void release(Rendezvous& one) { pool_.release(one); }
  /// A name for its transfers, which is that of no operation: no pool has so many objects.
  static std::uint64_t token(const Rendezvous& one) {
    return Pool<Rendezvous>::token(one) | beyond_any_index;
  }
  /// Null: the name is not of one, or of one that is over.
  Rendezvous* find(std::uint64_t token) {
    return (token & beyond_any_index) != 0 ? pool_.find(token & ~beyond_any_index) : nullptr;
  }

 private:
  static constexpr std::uint64_t beyond_any_index = std::uint64_t{1} << 31;

  Pool<Rendezvous> pool_;
};

}  // namespace oriel
