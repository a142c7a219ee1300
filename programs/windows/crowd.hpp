// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "exposures/allocated.hpp"

namespace windows {

/// Other windows that are alive meanwhile. Collective.
class Crowd {
 public:
  explicit Crowd(std::int64_t count) {
    while (std::ssize(windows_) < count) windows_.emplace_back(bytes).open();
  }
  ~Crowd() {
    for (exposures::Allocated& window : windows_) window.close();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  static constexpr std::size_t bytes = 64;

  std::deque<exposures::Allocated> windows_;
};

}  // namespace windows
