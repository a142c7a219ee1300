// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "segment.hpp"

namespace card {

/// An endpoint that can be reached, and the memory of its process.
class Peer {
 public:
  /// The endpoint with this address, or null. One object for each address, which stays.
  static Peer* find(const Address& address);

  Peer(const Address& address, Segment* segment) : address_(address), segment_(segment) {}

  const Address& address() const { return address_; }
  Segment& segment() { return *segment_; }

  /// Copies between our memory and the peer's. 0, or libfabric's code.
  int write(const iovec* local, std::size_t count, std::uint64_t remote, std::uint64_t bytes);
  int read(const iovec* local, std::size_t count, std::uint64_t remote, std::uint64_t bytes);
  /// The place in the peer's memory that a key and an address name. 0, or libfabric's code.
  int resolve(std::uint64_t key, std::uint64_t address, std::uint64_t bytes, std::uint64_t access,
              std::uint64_t& place) const;
  /// Puts a message into the peer's ring and wakes its process. Returns whether there was room.
  bool put(const Header& header, const std::byte* payload, std::uint64_t bytes);

 private:
  int copy(bool write, const iovec* local, std::size_t count, std::uint64_t remote,
           std::uint64_t bytes) const;
  void wake();

  Address address_;
  Segment* segment_;
  int wake_up_ = -1;  // the peer's descriptor, as ours
};

}  // namespace card
