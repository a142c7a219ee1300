// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "bench/window.hpp"

namespace progress {

struct Options {
  std::vector<bench::Memory> windows;
  std::int64_t operations = 100'000;
  std::int64_t busy_ms = 3000;  // how long the target computes
  std::int64_t limit_s = 30;    // after which the origin gives up the rest of its operations

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--window") {
        windows.push_back(window(value));
      } else if (name == "--operations") {
        operations = bench::number(name, value);
      } else if (name == "--busy-ms") {
        busy_ms = bench::number(name, value);
      } else if (name == "--limit-s") {
        limit_s = bench::number(name, value);
      } else {
        bench::fail("the option " + std::string(name) +
                    " is unknown; use --window NAME (again for more windows), --operations N, "
                    "--busy-ms MILLISECONDS, --limit-s SECONDS.");
      }
    }
    if (windows.empty()) windows = {bench::Memory::allocated, bench::Memory::created};
  }

 private:
  static bench::Memory window(std::string_view value) {
    for (const bench::Memory memory :
         {bench::Memory::allocated, bench::Memory::created, bench::Memory::attached}) {
      if (value == bench::name_of(memory)) return memory;
    }
    bench::fail("there is no window \"" + std::string(value) +
                "\"; use allocated, created or dynamic.");
  }
};

}  // namespace progress
