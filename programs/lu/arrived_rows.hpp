// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "layout.hpp"

namespace lu {

/// Room for the rows of U that other ranks send.
class ArrivedRows {
 public:
  explicit ArrivedRows(const Layout& layout) : layout_(layout), values_(layout.upper_elements()) {}

  double* operator[](int row) { return &values_[layout_.place(row)]; }
  const double* operator[](int row) const { return &values_[layout_.place(row)]; }

 private:
  const Layout& layout_;
  std::vector<double> values_;
};

}  // namespace lu
