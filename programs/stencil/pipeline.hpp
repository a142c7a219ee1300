// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "bench/window.hpp"
#include "domain.hpp"
#include "grid.hpp"
#include "slots.hpp"

namespace stencil {

/// An iteration where every rank synchronizes with its two neighbours only, by a `Link`. Each rank
/// is as many rows behind its left one as the link lets it be.
template <typename Link>
class Pipeline {
 public:
  Pipeline(const Domain& domain, bench::Memory memory)
      : domain_(domain), grid_(domain), link_(domain, memory) {}

  void iterate(std::int64_t iteration) {
    link_.begin(iteration);
    const double* edge = nullptr;
    for (int row = 1; row < domain_.rows(); ++row) {
      const double left = domain_.leftmost() ? row : link_.receive(row);
      edge = grid_.compute(row, left, iteration);
      if (!domain_.rightmost()) link_.send(row, edge);
    }
    if (domain_.rightmost()) link_.send(corner_slot, edge);
    if (domain_.leftmost()) grid_.begin_with(link_.receive(corner_slot));
    link_.end();
  }

 private:
  const Domain& domain_;
  Grid grid_;
  Link link_;
};

}  // namespace stencil
