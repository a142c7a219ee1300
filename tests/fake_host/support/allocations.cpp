// SPDX-License-Identifier: BSD-3-Clause
// Defines `new` and `delete` of the test program. Not in a unity file: where the compiler inlines
// only one of the two, it takes them for a mismatch.
#include "support/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
std::size_t count = 0;
}

void* operator new(std::size_t bytes) {
  ++count;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace oriel::test {

std::size_t allocations() {
  return count;
}

}  // namespace oriel::test
