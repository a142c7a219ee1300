// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "bench/row.hpp"
#include "bench/window.hpp"
#include "domain.hpp"

namespace stencil {

/// Iterations of one variant on one domain.
template <typename Variant>
class StencilRow final : public bench::Row {
 public:
  StencilRow(const Domain& domain, bench::Memory memory) : variant_(domain, memory) {}

  bool plays() const override { return true; }

  void play(std::int64_t iterations) override {
    const std::int64_t end = iteration_ + iterations;
    for (; iteration_ < end; ++iteration_) variant_.iterate(iteration_);
  }

  void check() override {}  // every row is checked as it is computed

 private:
  Variant variant_;
  std::int64_t iteration_ = 0;
};

}  // namespace stencil
