// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport/shm/address_map.hpp"

namespace oriel {

/// Pages that are mapped shared, and their place in the file behind them.
struct SharedPages {
  PageRun pages;
  int file = -1;
  std::uint64_t offset = 0;

  /// Calls `copy` with first byte, counted from the pages' begin, and length of each run of pages
  /// that was ever touched, by system calls alone. False: a call has returned false.
  template <typename Copy>
  bool for_each_touched(Copy&& copy) const {
    const auto end = static_cast<off_t>(offset + pages.bytes);
    for (auto at = static_cast<off_t>(offset); at < end;) {
      const off_t data = ::lseek(file, at, SEEK_DATA);
      if (data < 0 || data >= end) break;
      const off_t hole = ::lseek(file, data, SEEK_HOLE);
      at = hole < 0 ? end : std::min(hole, end);
      if (!copy(static_cast<std::uint64_t>(data) - offset, static_cast<std::size_t>(at - data))) {
        return false;
      }
    }
    return true;
  }
};

}  // namespace oriel
