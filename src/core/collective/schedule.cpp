// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/schedule.hpp"

#include <algorithm>
#include <vector>

namespace oriel {

Buffer together(std::span<const Stretch> parts) {
  std::vector<Block> blocks;
  void* start = nullptr;
  Basic basic = Basic::none;
  std::uint64_t bytes = 0;
  for (const Stretch& part : parts) {
    const std::uint64_t whole = bytes_in(part);
    const std::uint64_t remaining =
        part.first < whole ? std::min(part.bytes, whole - part.first) : 0;
    if (remaining == 0) continue;
    if (bytes == 0) {
      start = part.address;
      basic = part.layout->basic();
    }
    if (basic != part.layout->basic()) basic = Basic::none;
    bytes += remaining;
    const auto distance = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(part.address) -
                                                    reinterpret_cast<std::uintptr_t>(start));
    BlockCursor cursor(part.elements());
    cursor.skip(part.first);
    for_each_run(cursor, remaining, [&](std::int64_t offset, std::uint64_t run) {
      blocks.push_back({distance + offset, run});
    });
  }
  if (bytes == 0) return {};
  return {start, 1, LayoutRef(new Layout(blocks, static_cast<std::int64_t>(bytes), basic))};
}

Buffer together(std::span<const Buffer> buffers, std::span<const int> numbers) {
  std::vector<Stretch> parts;
  parts.reserve(numbers.size());
  for (const int number : numbers) parts.emplace_back(buffers[static_cast<std::size_t>(number)]);
  return together(parts);
}

}  // namespace oriel
