// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "payload.hpp"

namespace notify {

struct Options {
  std::int64_t batches = 7;
  std::int64_t batch_us = 3000;       // how long one batch of round trips takes at least
  std::int64_t most = 1'000'000;      // notifications that wait, at most
  std::vector<std::string> measures;  // none: all
  std::vector<std::string> rows;      // of the round trips; none: all
  std::vector<std::size_t> sizes;     // bytes

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--measure") {
        measures.push_back(measure(value));
      } else if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--batch-us") {
        batch_us = bench::number(name, value);
      } else if (name == "--most") {
        most = bench::number(name, value);
      } else if (name == "--bytes") {
        sizes.push_back(whole_words(static_cast<std::size_t>(bench::number(name, value))));
      } else if (name == "--row") {
        rows.emplace_back(value);
      } else {
        bench::fail("the option " + std::string(name) +
                    " is unknown; use --measure NAME, --row NAME, --bytes N (each again for more), "
                    "--batches N, --batch-us MICROSECONDS, --most NOTIFICATIONS.");
      }
    }
    if (sizes.empty()) {
      sizes = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 4 << 20};
    }
  }

  bool measured(std::string_view measure) const { return holds(measures, measure); }
  bool plays(std::string_view row) const { return holds(rows, row); }

 private:
  static bool holds(const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }
  static std::string measure(std::string_view value) {
    for (const std::string_view known : {"put", "get", "overlap", "calls", "matching", "misses"}) {
      if (value == known) return std::string(value);
    }
    bench::fail("there is no measure \"" + std::string(value) +
                "\"; use put, get, overlap, calls, matching or misses.");
  }
  static std::size_t whole_words(std::size_t bytes) {
    if (bytes % sizeof(Word) == 0) return bytes;
    bench::fail("a payload consists of words of " + std::to_string(sizeof(Word)) +
                " bytes, so that --bytes " + std::to_string(bytes) + " is not possible.");
  }
};

}  // namespace notify
