// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/row.hpp"
#include "bench/window.hpp"
#include "cells.hpp"
#include "grid.hpp"

namespace halo {

/// Steps of one kind of exchange and one size. The ghost cells are looked at after every batch.
template <typename Exchange>
class HaloRow final : public bench::Row {
 public:
  HaloRow(const Grid& grid, bench::Memory memory, std::size_t bytes)
      : cells_(grid, bytes), exchange_(grid, memory, cells_.words()) {}

  bool plays() const override { return true; }

  void prepare_batch() override {
    exchange_.look_at_ghosts(
        [](std::span<Word> ghosts) { std::fill(ghosts.begin(), ghosts.end(), -1); });
  }

  void play(std::int64_t steps) override {
    const std::int64_t end = steps_ + steps;
    for (; steps_ < end; ++steps_) {
      cells_.stamp(steps_);
      exchange_.step(cells_);
    }
    exchange_.finish();
  }

  void finish_batch() override { check(); }

  void check() override {
    exchange_.look_at_ghosts(
        [&](std::span<const Word> ghosts) { cells_.expect(ghosts, steps_ - 1); });
  }

 private:
  Cells cells_;
  Exchange exchange_;
  std::int64_t steps_ = 0;
};

}  // namespace halo
