// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "exposures/handle.hpp"
#include "put_row.hpp"

namespace windows {

/// The same by memory handle, with a window of its own for each put.
class NewWindowRow final : public PutRow<exposures::Handle> {
 public:
  using PutRow::PutRow;

  void play(std::int64_t rounds) override {
    for (std::int64_t round = 0; round < rounds; ++round) {
      put_and_flush(exposure().window());
      exposure().renew_window();
    }
  }
};

}  // namespace windows
