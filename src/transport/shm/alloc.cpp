// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/alloc.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace oriel {
namespace {

std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

/// Mappings begin at pages; what needs more has to be aligned inside one.
constexpr std::size_t page_alignment = 4096;

}  // namespace

void* SegmentAllocator::allocate(std::size_t bytes, std::size_t alignment, std::string& error) {
  if (bytes <= largest_small && alignment <= page_alignment) {
    const std::size_t unit = std::bit_ceil(std::max({bytes, alignment, smallest}));
    const auto size_class = static_cast<std::size_t>(std::countr_zero(unit / smallest));
    return allocate_small(size_class, error);
  }
  return allocate_large(bytes, alignment, error);
}

void* SegmentAllocator::allocate_small(std::size_t size_class, std::string& error) {
  std::vector<std::byte*>& pieces = free_[size_class];
  if (pieces.empty()) {
    Holding holding;
    holding.segment = Segment::create(shared_segment, error);
    holding.unit = smallest << size_class;
    if (!holding.segment) return nullptr;
    std::byte* base = holding.segment.data();
    const std::size_t count = shared_segment / holding.unit;
    holding.used.resize(count);
    // Lowest address on top, so that a program with little memory touches few pages.
    for (std::size_t i = count; i-- > 0;) pieces.push_back(base + i * holding.unit);
    holdings_.emplace(number(base), std::move(holding));
  }
  std::byte* piece = pieces.back();
  pieces.pop_back();
  auto holding = holdings_.find(holding_of(piece)->first);
  holding->second.used[(number(piece) - holding->first) / holding->second.unit] = true;
  return piece;
}

void* SegmentAllocator::allocate_large(std::size_t bytes, std::size_t alignment,
                                       std::string& error) {
  const std::size_t slack = alignment > page_alignment ? alignment : 0;
  if (bytes + slack < bytes) {
    error = "Cannot allocate " + std::to_string(bytes) + " bytes: more than an address can say.";
    return nullptr;
  }
  Holding holding;
  holding.segment = Segment::create(bytes + slack, error);
  if (!holding.segment) return nullptr;
  std::byte* base = holding.segment.data();
  holding.piece = base + (-number(base) & (alignment - 1));
  std::byte* piece = holding.piece;
  holdings_.emplace(number(base), std::move(holding));
  return piece;
}

bool SegmentAllocator::free(void* pointer) {
  const auto found = holding_of(pointer);
  if (found == holdings_.end()) return false;
  const auto holding = holdings_.find(found->first);
  if (holding->second.unit == 0) {
    if (pointer != holding->second.piece) return false;
    holdings_.erase(holding);
    return true;
  }
  const std::size_t offset = number(pointer) - holding->first;
  const std::size_t index = offset / holding->second.unit;
  if (offset % holding->second.unit != 0 || !holding->second.used[index]) return false;
  holding->second.used[index] = false;
  free_[static_cast<std::size_t>(std::countr_zero(holding->second.unit / smallest))].push_back(
      static_cast<std::byte*>(pointer));
  return true;
}

std::optional<SegmentAllocator::Place> SegmentAllocator::find(const void* address,
                                                              std::size_t bytes) const {
  const auto holding = holding_of(address);
  if (holding == holdings_.end()) return std::nullopt;
  const std::size_t offset = number(address) - holding->first;
  if (bytes > holding->second.segment.bytes() - offset) return std::nullopt;
  return Place{holding->second.segment.name(), offset};
}

SegmentAllocator::Holdings::const_iterator SegmentAllocator::holding_of(const void* address) const {
  auto after = holdings_.upper_bound(number(address));
  if (after == holdings_.begin()) return holdings_.end();
  --after;
  const bool inside = number(address) - after->first < after->second.segment.bytes();
  return inside ? after : holdings_.end();
}

}  // namespace oriel
