// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/remote/message.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/operation_context.hpp"
#include "transport/packet/packet.hpp"

namespace oriel {

/// A buffer of one packet, being sent or posted to receive, or of a direct transfer between memory
/// that cannot be registered.
struct PacketBuffer : OperationContext {
  std::byte* data = nullptr;
  void* descriptor = nullptr;  // of its memory registration, if the provider requires one
};

/// The buffers of all packets of an endpoint. They are allocated, and registered if the provider
/// requires it, in slabs.
class PacketBuffers {
 public:
  /// Any message fits into a packet of its own.
  static constexpr std::size_t packet_bytes = std::size_t{258} * 1024;
  static_assert(packet_bytes >=
                sizeof(PacketHeader) + PacketWriter::space_for(Message::most_bytes));

  explicit PacketBuffers(OfiEndpoint& endpoint);
  ~PacketBuffers();

  /// Null if the provider does not accept more memory; `error` is a clause then.
  PacketBuffer* acquire(std::string& error);
  void release(PacketBuffer& buffer) { free_.push_back(&buffer); }

 private:
  struct Slab;
  bool add_slab(std::string& error);

  OfiEndpoint& endpoint_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<PacketBuffer*> free_;
};

}  // namespace oriel
