// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "failure.hpp"

namespace bench {

/// What is put: any number of bytes, of which the first and the last few hold the put's number, so
/// that the target can tell which one it holds and whether it is whole.
class NumberedBytes {
 public:
  explicit NumberedBytes(std::size_t bytes) : bytes_(bytes) {
    for (std::size_t index = 0; index < bytes; ++index) {
      bytes_[index] = static_cast<std::byte>(index * 40503u >> 3);
    }
  }

  const std::byte* data() const { return bytes_.data(); }
  int count() const { return static_cast<int>(bytes_.size()); }

  void number(std::int64_t value) {
    const std::size_t length = std::min(sizeof value, bytes_.size());
    std::memcpy(bytes_.data(), &value, length);
    std::memcpy(bytes_.data() + bytes_.size() - length, &value, length);
  }

  /// Ends the job unless the target, as `whose` names it, holds these bytes.
  void expect(std::span<const std::byte> found, const std::string& whose) const {
    const auto [expected, other] = std::mismatch(bytes_.begin(), bytes_.end(), found.begin());
    if (expected == bytes_.end()) return;
    fail("after the last put byte " + std::to_string(expected - bytes_.begin()) + " of " +
         std::to_string(bytes_.size()) + " in " + whose + " is " +
         std::to_string(std::to_integer<int>(*other)) + " and should be " +
         std::to_string(std::to_integer<int>(*expected)) + ".");
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace bench
