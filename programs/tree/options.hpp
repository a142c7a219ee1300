// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/choice.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "bench/window.hpp"

namespace tree {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 9;
  std::int64_t batch_us = 10000;  // how long one batch of rounds takes at least
  int arity = 16;
  std::vector<std::size_t> sizes;  // bytes of a contribution
  bench::Choice variants;

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--window" && bench::is_memory(value, memory)) continue;
      if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--batch-us") {
        batch_us = bench::number(name, value);
      } else if (name == "--arity") {
        arity = static_cast<int>(std::min<std::int64_t>(bench::number(name, value), most_children));
      } else if (name == "--bytes") {
        sizes.push_back(whole_words(bench::number(name, value)));
      } else if (name == "--variant") {
        variants.add(value);
      } else {
        bench::fail("the option " + std::string(name) + " " + std::string(value) +
                    " is unknown; use --window allocated or created, --batches N, "
                    "--batch-us MICROSECONDS, --arity N, --bytes N (again for more sizes), "
                    "--variant NAME (again for more).");
      }
    }
    if (sizes.empty()) sizes = {8, 64, 512, 4 << 10};
  }

 private:
  static constexpr std::int64_t most_children = 1 << 20;  // more than there are ranks
  static constexpr std::int64_t most_bytes = 1 << 20;

  static std::size_t whole_words(std::int64_t bytes) {
    if (bytes % static_cast<std::int64_t>(sizeof(double)) == 0 && bytes <= most_bytes) {
      return static_cast<std::size_t>(bytes);
    }
    bench::fail("a contribution consists of doubles and has " + std::to_string(most_bytes) +
                " bytes at most, so that --bytes " + std::to_string(bytes) + " is not possible.");
  }
};

}  // namespace tree
