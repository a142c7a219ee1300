// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/fence_count.hpp"

#include <algorithm>
#include <bit>

namespace oriel {

FenceCount::FenceCount(int rank, int ranks)
    : rank_(rank),
      ranks_(ranks),
      steps_(static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks - 1)))) {}

std::uint64_t FenceCount::enter() {
  Call& one = current();
  one.entered = true;
  one.next = steps_;
  return call();
}

std::size_t FenceCount::end_of(unsigned number) const {
  return std::min(std::size_t{2} << number, static_cast<std::size_t>(ranks_));
}

FenceCount::Step FenceCount::step(Call& one, unsigned number) const {
  const std::size_t first = std::size_t{1} << number;
  return {target(number), number, std::span(one.counts).subspan(first, end_of(number) - first)};
}

bool FenceCount::arrived(std::uint64_t call, int origin, unsigned number, std::uint64_t first,
                         bool last, std::span<const std::uint32_t> counts) {
  if (number >= steps_) return false;
  const std::size_t distance_back = std::size_t{1} << number;
  const std::size_t total = end_of(number) - distance_back;
  if (origin != this->origin(number) || first > total || counts.size() > total - first ||
      last != (first + counts.size() == total)) {
    return false;
  }
  Call* one = expected(call);
  if (one == nullptr || (one->steps_in >> number & 1) != 0) return false;
  for (std::size_t i = 0; i < counts.size(); ++i) one->counts[first + i] += counts[i];
  if (last) one->steps_in |= std::uint64_t{1} << number;
  return true;
}

bool FenceCount::marked(std::uint64_t call) {
  Call* one = expected(call);
  if (one == nullptr) return false;
  ++one->marks;
  return true;
}

void FenceCount::end() {
  Call& one = current();
  one.entered = false;
  one.steps_in = 0;
  one.marks = 0;
  std::fill(one.counts.begin(), one.counts.end(), 0);
  ++ended_calls_;
}

}  // namespace oriel
