// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "bench/window.hpp"
#include "cells.hpp"

namespace halo {

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 9;
  std::int64_t batch_us = 4000;    // how long one batch of steps takes at least
  std::vector<std::size_t> sizes;  // bytes of one message

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--window" && bench::is_memory(value, memory)) continue;
      if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--batch-us") {
        batch_us = bench::number(name, value);
      } else if (name == "--bytes") {
        sizes.push_back(whole_words(static_cast<std::size_t>(bench::number(name, value))));
      } else {
        bench::fail("the option " + std::string(name) + " " + std::string(value) +
                    " is unknown; use --window allocated or created, --batches N, "
                    "--batch-us MICROSECONDS, --bytes N (again for more sizes).");
      }
    }
    if (sizes.empty()) sizes = {16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10};
  }

 private:
  static std::size_t whole_words(std::size_t bytes) {
    if (bytes % sizeof(Word) == 0) return bytes;
    bench::fail("a message consists of words of " + std::to_string(sizeof(Word)) +
                " bytes, so that --bytes " + std::to_string(bytes) + " is not possible.");
  }
};

}  // namespace halo
