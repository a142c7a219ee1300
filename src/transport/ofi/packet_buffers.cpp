// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/packet_buffers.hpp"

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/base/zero_array.hpp"

namespace oriel {
namespace {

// 256 KB of short buffers, 1 MB of long ones.
constexpr std::size_t short_per_slab = 32;
constexpr std::size_t long_per_slab = 4;
// The least time between two calls of trim() that do anything.
constexpr std::uint64_t trim_interval = 1'000'000'000;

}  // namespace

/// Buffers that are registered together.
struct PacketSlab {
  PacketPool& pool;
  ZeroedPages memory;
  std::vector<PacketBuffer> buffers;
  std::size_t used = 0;
  fid_mr* registration = nullptr;

  PacketSlab(PacketPool& owner, std::size_t bytes, std::size_t count)
      : pool(owner), memory(bytes * count), buffers(count) {}
  ~PacketSlab() { close_object(registration); }
};

/// The buffers of one length.
struct PacketPool {
  OfiEndpoint& endpoint;
  const std::size_t most_bytes;
  const std::size_t per_slab;
  std::vector<std::unique_ptr<PacketSlab>> slabs;
  std::vector<PacketBuffer*> free;
  std::size_t total = 0;
  std::size_t most_used = 0;  // since the last call of trim()

  /// The bytes of a buffer: a packet is padded to 8 bytes.
  std::size_t bytes() const {
    return std::min<std::uint64_t>(most_bytes, endpoint.facts().longest_message) / 8 * 8;
  }
  std::size_t used() const { return total - free.size(); }
  bool add_slab(std::size_t count, std::string& error);
  void trim();
};

bool PacketPool::add_slab(std::size_t count, std::string& error) {
  auto slab = std::make_unique<PacketSlab>(*this, bytes(), count);
  auto* memory = static_cast<std::byte*>(slab->memory.data());
  void* descriptor = nullptr;
  if (endpoint.local_registration()) {
    const std::size_t all = bytes() * count;
    const int code = endpoint.register_memory(memory, all, FI_SEND | FI_RECV | FI_READ | FI_WRITE,
                                              slab->registration);
    if (code != 0) {
      error =
          endpoint.refusal("to register " + std::to_string(all) + " bytes of packet buffers", code);
      if (const int kind = std::abs(code);
          kind == FI_ENOMEM || kind == FI_EAGAIN || kind == FI_EPERM) {
        error += "; raise `ulimit -l`";
      }
      // A shorter slab may still be within the limit.
      return count > 1 && add_slab(count / 2, error);
    }
    descriptor = fi_mr_desc(slab->registration);
  }
  for (PacketBuffer& buffer : slab->buffers) {
    buffer.data = memory;
    buffer.descriptor = descriptor;
    buffer.slab = slab.get();
    free.push_back(&buffer);
    memory += bytes();
  }
  total += count;
  slabs.push_back(std::move(slab));
  return true;
}

/// Frees unused slabs that exceed the largest number of buffers in use since the last call.
void PacketPool::trim() {
  std::erase_if(slabs, [&](const std::unique_ptr<PacketSlab>& slab) {
    const std::size_t count = slab->buffers.size();
    if (slab->used != 0 || total - count < most_used) return false;
    std::erase_if(free, [&](const PacketBuffer* buffer) { return buffer->slab == slab.get(); });
    total -= count;
    return true;
  });
  most_used = used();
}

PacketBuffers::PacketBuffers(OfiEndpoint& endpoint)
    : short_(new PacketPool{endpoint, short_bytes, short_per_slab, {}, {}}),
      long_(new PacketPool{endpoint, most_bytes, long_per_slab, {}, {}}) {}

PacketBuffers::~PacketBuffers() = default;

std::size_t PacketBuffers::long_bytes() const {
  return long_->bytes();
}

std::size_t PacketBuffers::bytes_of(const PacketBuffer& buffer) {
  return buffer.slab->pool.bytes();
}

PacketBuffer* PacketBuffers::acquire(PacketPool& pool, std::string& error) {
  if (pool.free.empty() && !pool.add_slab(pool.per_slab, error)) return nullptr;
  PacketBuffer* buffer = pool.free.back();
  pool.free.pop_back();
  ++buffer->slab->used;
  pool.most_used = std::max(pool.most_used, pool.used());
  return buffer;
}

bool PacketBuffers::reserve_long(std::size_t count, std::string& error) {
  while (long_->free.size() < count) {
    if (!long_->add_slab(count - long_->free.size(), error)) return false;
  }
  return true;
}

void PacketBuffers::release(PacketBuffer& buffer) {
  --buffer.slab->used;
  buffer.slab->pool.free.push_back(&buffer);
}

void PacketBuffers::trim(std::uint64_t now) {
  if (now - trimmed_ < trim_interval) return;
  trimmed_ = now;
  short_->trim();
  long_->trim();
}

}  // namespace oriel
