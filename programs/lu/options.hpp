// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "bench/window.hpp"

namespace lu {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 3;  // of one factorization each
  std::vector<int> orders;

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--window" && bench::is_memory(value, memory)) continue;
      if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--order") {
        orders.push_back(static_cast<int>(bench::number(name, value, largest_order)));
      } else {
        bench::fail("the option " + std::string(name) + " " + std::string(value) +
                    " is unknown; use --window allocated or created, --batches N, --order N (again "
                    "for more orders).");
      }
    }
    if (orders.empty()) orders = {256, 512};
  }

 private:
  static constexpr std::int64_t largest_order = 32768;  // a call takes up to 2^31 elements
};

}  // namespace lu
