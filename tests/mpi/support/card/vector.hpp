// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace card {

/// A few runs of our memory.
struct Vector {
  static constexpr std::size_t most = 4;

  std::array<iovec, most> runs{};
  std::size_t count = 0;

  Vector() = default;
  Vector(const void* begin, std::size_t bytes) : count(1) {
    runs[0] = {const_cast<void*>(begin), bytes};
  }
  Vector(const iovec* given, std::size_t given_count) : count(std::min(given_count, most)) {
    std::copy_n(given, count, runs.begin());
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += runs[i].iov_len;
    return sum;
  }
  /// The bytes from `offset` on, at most `length` of them.
  Vector part(std::size_t offset, std::size_t length) const {
    Vector some;
    for (std::size_t i = 0; i < count && length != 0; ++i) {
      const std::size_t skipped = std::min(offset, runs[i].iov_len);
      const std::size_t taken = std::min(length, runs[i].iov_len - skipped);
      offset -= skipped;
      length -= taken;
      if (taken == 0) continue;
      some.runs[some.count++] = {static_cast<std::byte*>(runs[i].iov_base) + skipped, taken};
    }
    return some;
  }
  void copy_to(std::byte* place) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (runs[i].iov_len != 0) std::memcpy(place, runs[i].iov_base, runs[i].iov_len);
      place += runs[i].iov_len;
    }
  }
  void copy_from(const std::byte* place) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (runs[i].iov_len != 0) std::memcpy(runs[i].iov_base, place, runs[i].iov_len);
      place += runs[i].iov_len;
    }
  }
};

}  // namespace card
