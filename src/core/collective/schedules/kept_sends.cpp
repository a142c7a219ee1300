// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedules/kept_sends.hpp"

#include "core/collective/schedules/buffers_together.hpp"

namespace oriel {

std::uint64_t KeptSends::bytes(int rank, std::span<const Buffer> buffers) {
  std::uint64_t all = 0;
  for (const Buffer& buffer : buffers) all += bytes_in(buffer);
  return all - bytes_in(buffers[static_cast<std::size_t>(rank)]);
}

KeptSends::KeptSends(int rank, std::span<const Buffer> buffers, std::byte* memory)
    : sends(buffers.size()) {
  for (std::size_t other = 0; other < buffers.size(); ++other) {
    if (other == static_cast<std::size_t>(rank)) continue;
    const std::uint64_t block = bytes_in(buffers[other]);
    sends[other] = bytes_at(memory, block);
    if (block == 0) continue;
    memory += block;
    copies.push_back({buffers[other], sends[other], Schedule::before_all});
  }
}

}  // namespace oriel
