// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/remote/message.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/operation_context.hpp"
#include "transport/packet/packet.hpp"

namespace oriel {

struct PacketPool;
struct PacketSlab;

/// A buffer of one packet, being sent or posted to receive, or of a direct transfer that is short,
/// or whose memory cannot be registered.
struct PacketBuffer : OperationContext {
  std::byte* data = nullptr;
  void* descriptor = nullptr;  // of its memory registration, if the provider requires one
  PacketSlab* slab = nullptr;
};

/// The buffers of an endpoint's packets, and those to which its direct transfers are copied: short
/// ones, with which packets are opened, and long ones. They are allocated, and registered if the
/// provider requires it, in slabs. A peer has a buffer only while its packet is open or in flight.
class PacketBuffers {
 public:
  static constexpr std::size_t short_bytes = std::size_t{8} * 1024;
  /// Any message fits into a packet of its own, if the provider accepts so long a packet.
  static constexpr std::size_t most_bytes = std::size_t{258} * 1024;
  static_assert(most_bytes >= sizeof(PacketHeader) + PacketWriter::space_for(Message::most_bytes));

  explicit PacketBuffers(OfiEndpoint& endpoint);
  ~PacketBuffers();

  /// The bytes of a long buffer.
  std::size_t long_bytes() const;
  static std::size_t bytes_of(const PacketBuffer& buffer);

  /// Null if the provider does not accept more memory; `error` is a clause then.
  PacketBuffer* acquire_short(std::string& error) { return acquire(*short_, error); }
  PacketBuffer* acquire_long(std::string& error) { return acquire(*long_, error); }
  /// Allocates so many long buffers in one slab. False: as null above.
  bool reserve_long(std::size_t count, std::string& error);
  static void release(PacketBuffer& buffer);

  /// Gives back slabs that have not been used for some time, a second at least. `now`: nanoseconds.
  void trim(std::uint64_t now);

 private:
  static PacketBuffer* acquire(PacketPool& pool, std::string& error);

  std::unique_ptr<PacketPool> short_;
  std::unique_ptr<PacketPool> long_;
  std::uint64_t trimmed_ = 0;  // nanoseconds
};

}  // namespace oriel
