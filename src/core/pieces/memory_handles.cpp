// SPDX-License-Identifier: BSD-3-Clause
#include "core/pieces/memory_handles.hpp"

#include <atomic>
#include <cstdint>
#include <new>
#include <random>

#include "core/pieces/shared_pieces.hpp"

namespace oriel {
namespace {

std::uint64_t somewhere() {
  std::random_device random;
  constexpr unsigned half = 32;
  return (std::uint64_t{random()} << half) | random();
}

/// Tokens begin at a random number, so that a token of an earlier process is hardly ever equal to
/// one of this process. All windows of the program share the sequence, because a random number
/// takes longer than making a window.
std::uint64_t next_token() {
  static std::atomic<std::uint64_t> tokens = somewhere();
  std::uint64_t token = 0;  // 0: no token
  while (token == 0) token = mix_bits(tokens.fetch_add(1, std::memory_order_relaxed));
  return token;
}

}  // namespace

OwnHandles::~OwnHandles() {
  for (HandleSlot* segment : segments_) {
    if (segment != nullptr) services_.unshare(reinterpret_cast<std::byte*>(segment));
  }
}

bool OwnHandles::reserve_slot(std::uint32_t& slot) {
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
    return true;
  }
  if (used_ == HandleRoot::most_slots) return false;
  const std::size_t segment = DoublingSegments::spot(used_).segment;
  if (segments_[segment] == nullptr) {
    ArenaLocation location;
    std::byte* memory =
        services_.share(DoublingSegments::entries(segment) * sizeof(HandleSlot), location);
    if (memory == nullptr) return false;
    segments_[segment] = std::launder(reinterpret_cast<HandleSlot*>(memory));
    root_.segments[segment].set(location);
  }
  slot = used_++;
  return true;
}

Error OwnHandles::create(const MemoryRange& memory, HandleName& name, FailureReason& reason) {
  std::uint32_t slot = 0;
  if (!reserve_slot(slot)) {
    return reason.fail(
        Error::attach,
        "there is no shared memory left to note the memory handle in, or there are millions");
  }
  HandleSlot& made = at(slot);
  made.memory.set(memory);
  name = {next_token(), slot};
  made.token.store(name.token, std::memory_order_release);
  return Error::none;
}

Error OwnHandles::release(const HandleName& name) {
  if (!name.given() || name.slot >= used_ ||
      at(name.slot).token.load(std::memory_order_relaxed) != name.token) {
    return Error::base;
  }
  at(name.slot).token.store(0, std::memory_order_release);
  free_.push_back(name.slot);
  return Error::none;
}

}  // namespace oriel
