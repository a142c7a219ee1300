// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace oriel::test {

/// How often this test program has allocated memory by `new`.
std::size_t allocations();

}  // namespace oriel::test
