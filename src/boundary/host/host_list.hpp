// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace oriel::boundary {

/// The address of a list for a call of the host, never null: MPICH 3.4, and Intel MPI up to
/// 2021.13, refuse a null pointer for a list of no elements.
template <typename Element>
Element* host_list(std::vector<Element>& elements) {
  static Element none{};
  return elements.empty() ? &none : elements.data();
}

}  // namespace oriel::boundary
