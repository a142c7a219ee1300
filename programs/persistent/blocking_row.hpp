// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "checked_row.hpp"
#include "success.hpp"

namespace persistent {

class BlockingRow final : public CheckedRow {
 public:
  using CheckedRow::CheckedRow;

  void play(std::int64_t rounds) override {
    play_rounds(rounds, [this] { expect_success(collective_.blocking(), variant_.c_str()); });
  }
};

}  // namespace persistent
