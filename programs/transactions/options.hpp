// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/choice.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "bench/window.hpp"

namespace transactions {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 9;
  std::int64_t batch_us = 20'000;     // at least
  std::int64_t limit_s = 5;           // of a variant; no batch begins later
  std::int64_t words = 1024;          // of each rank, in the window
  std::vector<std::int64_t> compute;  // microseconds behind each transaction, besides none
  bench::Choice variants;

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--window" && bench::is_memory(value, memory)) continue;
      if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--batch-us") {
        batch_us = bench::number(name, value);
      } else if (name == "--limit-s") {
        limit_s = bench::number(name, value);
      } else if (name == "--words") {
        words = bench::number(name, value);
      } else if (name == "--compute-us") {
        compute.push_back(bench::number(name, value));
      } else if (name == "--variant") {
        variants.add(value);
      } else {
        bench::fail("the option " + std::string(name) + " " + std::string(value) +
                    " is unknown; use --window allocated or created, --batches N, --batch-us US, "
                    "--limit-s S, --words N, --compute-us US, --variant NAME.");
      }
    }
  }
};

}  // namespace transactions
