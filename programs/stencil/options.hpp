// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/choice.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "bench/window.hpp"

namespace stencil {

enum class Scaling { weak, strong };

inline std::string_view name_of(Scaling scaling) {
  return scaling == Scaling::weak ? "weak" : "strong";
}

/// The columns of a domain: of each rank (weak scaling), or of all together (strong scaling).
struct Columns {
  Scaling scaling;
  int number;

  int of_all(int ranks) const { return scaling == Scaling::weak ? number * ranks : number; }
};

struct Options {
  bench::Memory memory = bench::Memory::allocated;
  std::int64_t batches = 9;
  std::int64_t iterations = 2;  // of one batch
  std::int64_t limit_s = 10;    // after which no batch of a variant and domain is begun
  int rows = 1280;
  std::vector<Columns> columns;
  bench::Choice variants;

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--window" && bench::is_memory(value, memory)) continue;
      if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--iterations") {
        iterations = bench::number(name, value);
      } else if (name == "--limit-s") {
        limit_s = bench::number(name, value);
      } else if (name == "--rows") {
        rows = extent(name, value);
      } else if (name == "--columns-per-rank") {
        columns.push_back({Scaling::weak, extent(name, value)});
      } else if (name == "--columns") {
        columns.push_back({Scaling::strong, extent(name, value)});
      } else if (name == "--variant") {
        variants.add(value);
      } else {
        bench::fail("the option " + std::string(name) + " " + std::string(value) +
                    " is unknown; use --window allocated or created, --batches N, "
                    "--iterations N, --limit-s SECONDS, --rows N, --columns-per-rank N and "
                    "--columns N (again for "
                    "more domains), --variant NAME (again for more).");
      }
    }
    if (columns.empty()) columns = {{Scaling::weak, 1280}, {Scaling::strong, 12800}};
  }

 private:
  static constexpr int most = 1 << 16;

  static int extent(std::string_view name, std::string_view value) {
    const std::int64_t result = bench::number(name, value);
    if (2 <= result && result <= most) return static_cast<int>(result);
    bench::fail("the option " + std::string(name) + " needs a number from 2 to " +
                std::to_string(most) + ", not " + std::string(value) + ".");
  }
};

}  // namespace stencil
