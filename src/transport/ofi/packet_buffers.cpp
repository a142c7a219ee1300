// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/packet_buffers.hpp"

#include <rdma/fi_domain.h>

#include <array>
#include <string>
#include <utility>

namespace oriel {
namespace {

constexpr std::size_t buffers_per_slab = 16;

}  // namespace

/// Buffers that are registered together.
struct PacketBuffers::Slab {
  std::unique_ptr<std::byte[]> memory;
  fid_mr* registration = nullptr;
  std::array<PacketBuffer, buffers_per_slab> buffers;

  ~Slab() { close_object(registration); }
};

PacketBuffers::PacketBuffers(OfiEndpoint& endpoint) : endpoint_(endpoint) {}
PacketBuffers::~PacketBuffers() = default;

bool PacketBuffers::add_slab(std::string& error) {
  auto slab = std::make_unique<Slab>();
  slab->memory.reset(new std::byte[packet_bytes * buffers_per_slab]);
  void* descriptor = nullptr;
  if (endpoint_.local_registration()) {
    const int code =
        endpoint_.register_memory(slab->memory.get(), packet_bytes * buffers_per_slab,
                                  FI_SEND | FI_RECV | FI_READ | FI_WRITE, slab->registration);
    if (code != 0) {
      error = endpoint_.refusal("to register " + std::to_string(packet_bytes * buffers_per_slab) +
                                    " bytes of packet buffers",
                                code) +
              "; raise `ulimit -l`";
      return false;
    }
    descriptor = fi_mr_desc(slab->registration);
  }
  for (std::size_t i = 0; i < buffers_per_slab; ++i) {
    PacketBuffer& buffer = slab->buffers[i];
    buffer.data = slab->memory.get() + i * packet_bytes;
    buffer.descriptor = descriptor;
    free_.push_back(&buffer);
  }
  slabs_.push_back(std::move(slab));
  return true;
}

PacketBuffer* PacketBuffers::acquire(std::string& error) {
  if (free_.empty() && !add_slab(error)) return nullptr;
  PacketBuffer* buffer = free_.back();
  free_.pop_back();
  return buffer;
}

}  // namespace oriel
