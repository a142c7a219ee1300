// SPDX-License-Identifier: BSD-3-Clause
#include "core/operation/layout.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>

#include "core/operation/address.hpp"

namespace oriel {

Layout::Layout(const std::vector<Block>& blocks, std::int64_t extent, Basic basic)
    : extent_(extent), basic_(basic) {
  static std::atomic<std::uint64_t> made{0};
  id_ = made.fetch_add(1, std::memory_order_relaxed) + 1;
  for (const Block& block : blocks) {
    if (block.length == 0) continue;
    if (!blocks_.empty() &&
        blocks_.back().offset + static_cast<std::int64_t>(blocks_.back().length) == block.offset) {
      blocks_.back().length += block.length;
    } else {
      blocks_.push_back(block);
    }
  }
  blocks_.shrink_to_fit();
  before_.reserve(blocks_.size());
  for (const Block& block : blocks_) {
    const std::int64_t end = block.offset + static_cast<std::int64_t>(block.length);
    low_ = size_ == 0 ? block.offset : std::min(low_, block.offset);
    high_ = size_ == 0 ? end : std::max(high_, end);
    before_.push_back(size_);
    size_ += block.length;
  }
  contiguous_ =
      blocks_.size() == 1 && blocks_[0].offset == 0 && extent_ == static_cast<std::int64_t>(size_);
  short_contiguous_ = contiguous_ && size_ >> 31 == 0;
  if (blocks_.empty()) return;
  stride_ = blocks_.size() == 1 ? extent : blocks_[1].offset - blocks_[0].offset;
  const auto breaks = [this](const Block& one, const Block& next) {
    return next.length != one.length || next.offset - one.offset != stride_;
  };
  even_ = std::ranges::adjacent_find(blocks_, breaks) == blocks_.end();
  evenly_repeated_ = even_ && extent == stride_ * static_cast<std::int64_t>(blocks_.size());
}

LayoutRef Layout::lasting(const std::vector<Block>& blocks, std::int64_t extent, Basic basic) {
  static std::mutex mutex;
  static auto& all = *new std::vector<Layout*>();  // used until the process ends
  auto made = std::make_unique<Layout>(blocks, extent, basic);
  const auto same = [&](const Layout* other) {
    return other->extent_ == extent && other->basic_ == basic &&
           std::ranges::equal(other->blocks_, made->blocks_, [](const Block& a, const Block& b) {
             return a.offset == b.offset && a.length == b.length;
           });
  };
  const std::lock_guard guard(mutex);
  const auto found = std::ranges::find_if(all, same);
  if (found != all.end()) return LayoutRef(*found);
  made->lasting_ = true;
  all.push_back(made.release());
  return LayoutRef(all.back());
}

std::size_t Layout::block_of(std::uint64_t byte) const {
  const auto behind = std::upper_bound(before_.begin(), before_.end(), byte);
  return static_cast<std::size_t>(behind - before_.begin()) - 1;
}

bool Layout::within(std::uint64_t count, std::int64_t start, std::uint64_t size) const {
  const auto [low, high] = bounds(count);
  std::int64_t first = 0;
  std::int64_t last = 0;
  return !__builtin_add_overflow(start, low, &first) &&
         !__builtin_add_overflow(start, high, &last) && first >= 0 &&
         static_cast<std::uint64_t>(last) <= size;
}

std::pair<std::int64_t, std::int64_t> Layout::bounds(std::uint64_t count) const {
  if (count == 0 || size_ == 0) return {0, 0};
  // A bound that does not fit into 64 bits is outside every window and must not wrap into one.
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t last = 0;
  std::int64_t low = low_;
  std::int64_t high = high_;
  if (__builtin_mul_overflow(count - 1, extent_, &last)) {
    last = extent_ < 0 ? Limits::min() : Limits::max();
  }
  if (last < 0 && __builtin_add_overflow(low_, last, &low)) low = Limits::min();
  if (last > 0 && __builtin_add_overflow(high_, last, &high)) high = Limits::max();
  return {low, high};
}

BlockCursor::BlockCursor(const Layout& layout, std::uint64_t count)
    : layout_(&layout), remaining_(count * layout.size()), whole_(layout.contiguous()) {
  if (remaining_ != 0) load();
}

void BlockCursor::skip(std::uint64_t bytes) {
  if (bytes <= run_) {
    if (bytes != 0) advance(bytes);
    return;
  }
  // Skip from the current element's first byte: add the bytes of the element that are already
  // behind us.
  remaining_ -= bytes;
  if (remaining_ == 0) {
    run_ = 0;
    return;
  }
  bytes += layout_->bytes_before(block_) +
           static_cast<std::uint64_t>(offset_ - element_ - layout_->blocks()[block_].offset);
  element_ += static_cast<std::int64_t>(bytes / layout_->size()) * layout_->extent();
  bytes %= layout_->size();
  block_ = layout_->block_of(bytes);
  load();
  bytes -= layout_->bytes_before(block_);
  run_ -= bytes;
  offset_ += static_cast<std::int64_t>(bytes);
}

void Buffer::pack(std::uint64_t first, std::uint64_t bytes, std::byte* to) const {
  BlockCursor cursor(elements());
  cursor.skip(first);
  for_each_run(cursor, bytes, [&](std::int64_t offset, std::uint64_t run) {
    std::memcpy(to, at(address, offset), run);
    to += run;
  });
}

void Buffer::unpack(std::uint64_t first, std::uint64_t bytes, const std::byte* from) const {
  BlockCursor cursor(elements());
  cursor.skip(first);
  for_each_run(cursor, bytes, [&](std::int64_t offset, std::uint64_t run) {
    std::memcpy(at(address, offset), from, run);
    from += run;
  });
}

Buffer bytes_at(void* address, std::uint64_t bytes) {
  static const LayoutRef byte = Layout::lasting({{0, 1}}, 1, Basic::u8);
  return {address, bytes, byte};
}

}  // namespace oriel
