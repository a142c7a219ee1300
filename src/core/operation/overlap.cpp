// SPDX-License-Identifier: BSD-3-Clause
#include "core/operation/overlap.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace oriel {
namespace {

struct Span {
  std::uintptr_t first;
  std::uintptr_t behind;
  std::size_t buffer;
};

std::uintptr_t start_of(const Buffer& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.address);
}

bool empty(const Buffer& buffer) {
  return buffer.count == 0 || buffer.layout->size() == 0;
}

/// From the lowest byte to one past the highest byte.
Span bounds_of(const Buffer& buffer, std::size_t number) {
  const auto [low, high] = buffer.layout->bounds(buffer.count);
  const std::uintptr_t start = start_of(buffer);
  return {start + static_cast<std::uintptr_t>(low), start + static_cast<std::uintptr_t>(high),
          number};
}

/// Calls visit(first, bytes) for each run until a call returns true.
template <typename Visit>
void for_runs(const Buffer& buffer, Visit&& visit) {
  for (BlockCursor cursor(buffer.elements()); !cursor.finished();) {
    const std::uint64_t run = cursor.run();
    if (visit(start_of(buffer) + static_cast<std::uintptr_t>(cursor.offset()), run)) return;
    cursor.advance(run);
  }
}

std::uint64_t runs_of(const Buffer& buffer) {
  return buffer.layout->contiguous() ? 1 : buffer.count * buffer.layout->blocks().size();
}

std::uint64_t size_of(std::int64_t distance) {
  const auto size = static_cast<std::uint64_t>(distance);
  return distance < 0 ? 0 - size : size;
}

/// One bit for each unit of an area.
class Map {
 public:
  explicit Map(std::uint64_t units) : words_(units / 64 + 1) {}

  /// Marks `units` units. Returns the first of them that was marked already, or nullopt if none
  /// was.
  std::optional<std::uint64_t> mark(std::uint64_t first, std::uint64_t units,
                                    std::uint64_t& steps) {
    while (units != 0) {
      const std::uint64_t bit = first % 64;
      const std::uint64_t here = std::min(units, 64 - bit);
      const std::uint64_t bits = (~std::uint64_t{0} >> (64 - here)) << bit;
      std::uint64_t& word = words_[first / 64];
      ++steps;
      if ((word & bits) != 0) {
        return first - bit + static_cast<std::uint64_t>(__builtin_ctzll(word & bits));
      }
      word |= bits;
      first += here;
      units -= here;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// The area of all buffers, in units that divide the distances and lengths of all runs.
struct Area {
  explicit Area(std::span<const Buffer> buffers) {
    std::uintptr_t behind = 0;
    bool wraps = false;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (empty(buffers[i])) continue;
      const Span bounds = bounds_of(buffers[i], i);
      first = std::min(first, bounds.first);
      behind = std::max(behind, bounds.behind);
      wraps |= bounds.behind < bounds.first;
      runs += runs_of(buffers[i]);
    }
    const Layout* known = nullptr;
    for (const Buffer& buffer : buffers) {
      if (empty(buffer)) continue;
      const Layout& layout = *buffer.layout;
      unit = std::gcd(unit, size_of(static_cast<std::int64_t>(start_of(buffer) - first)));
      unit = std::gcd(unit, size_of(layout.extent()));
      if (&layout == std::exchange(known, &layout)) continue;
      for (const Block& block : layout.blocks()) {
        unit = std::gcd(std::gcd(unit, size_of(block.offset)), block.length);
      }
    }
    // No program has memory beyond the last address, so such displacements are invalid.
    // find_overlap() then sorts the runs.
    units = wraps ? std::numeric_limits<std::uint64_t>::max() : (behind - first) / unit;
  }

  std::uintptr_t first = std::numeric_limits<std::uintptr_t>::max();
  std::uint64_t unit = 0;
  std::uint64_t units = 0;
  std::uint64_t runs = 0;
};

bool bounds_meet(std::span<const Buffer> buffers) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (empty(buffers[i])) continue;
    spans.push_back(bounds_of(buffers[i], i));
  }
  std::ranges::sort(spans, {}, &Span::first);
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first < spans[i - 1].behind) return true;
  }
  return false;
}

/// The pair of `later` and the first buffer that also has the byte: itself, if no earlier buffer
/// has.
BufferPair pair_with(std::size_t later, std::uintptr_t byte, std::span<const Buffer> buffers,
                     std::uint64_t& steps) {
  std::size_t earlier = 0;
  for (bool has = false; earlier < later; ++earlier) {
    if (empty(buffers[earlier])) continue;
    for_runs(buffers[earlier], [&](std::uintptr_t first, std::uint64_t bytes) {
      ++steps;
      return has = byte - first < bytes;
    });
    if (has) break;
  }
  return {earlier, later};
}

std::optional<BufferPair> find_in_map(std::span<const Buffer> buffers, const Area& area,
                                      std::uint64_t& steps) {
  Map map(area.units);
  std::optional<BufferPair> found;
  for (std::size_t i = 0; i < buffers.size() && !found; ++i) {
    if (empty(buffers[i])) continue;
    for_runs(buffers[i], [&](std::uintptr_t first, std::uint64_t bytes) {
      const auto marked = map.mark((first - area.first) / area.unit, bytes / area.unit, steps);
      if (marked) found = pair_with(i, area.first + *marked * area.unit, buffers, steps);
      return found.has_value();
    });
  }
  return found;
}

std::optional<BufferPair> find_by_sorting(std::span<const Buffer> buffers, std::uint64_t& steps) {
  std::vector<Span> runs;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (empty(buffers[i])) continue;
    for_runs(buffers[i], [&](std::uintptr_t first, std::uint64_t bytes) {
      runs.push_back({first, first + bytes, i});
      return false;
    });
  }
  std::ranges::sort(runs, [&steps](const Span& one, const Span& other) {
    ++steps;
    return one.first < other.first;
  });
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].first < runs[i - 1].behind) {
      return BufferPair(std::minmax(runs[i - 1].buffer, runs[i].buffer));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<BufferPair> find_overlap(std::span<const Buffer> buffers, std::uint64_t* steps) {
  std::uint64_t counted = 0;
  std::uint64_t& count = steps != nullptr ? *steps : counted;
  count = 0;
  // The bounds of most buffers do not overlap.
  if (!bounds_meet(buffers)) return std::nullopt;
  const Area area(buffers);
  // The map takes no more memory than a list of the runs would.
  constexpr std::uint64_t units_per_run = 8 * sizeof(Span);
  return area.units / units_per_run <= area.runs ? find_in_map(buffers, area, count)
                                                 : find_by_sorting(buffers, count);
}

}  // namespace oriel
