// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/choice.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"
#include "payload.hpp"

namespace notify {

struct Options {
  std::int64_t batches = 7;
  std::int64_t batch_us = 3000;   // how long one batch of round trips takes at least
  std::int64_t most = 1'000'000;  // notifications that wait, at most
  bench::Choice measures;
  bench::Choice rows;               // of the round trips
  std::vector<std::size_t> sizes;   // bytes
  std::optional<std::string> pvar;  // a counter of MPI_T that is started

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--measure") {
        measures.add(measure(value));
      } else if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--batch-us") {
        batch_us = bench::number(name, value);
      } else if (name == "--most") {
        most = bench::number(name, value);
      } else if (name == "--bytes") {
        sizes.push_back(whole_words(static_cast<std::size_t>(bench::number(name, value))));
      } else if (name == "--row") {
        rows.add(value);
      } else if (name == "--pvar") {
        pvar = value;
      } else {
        bench::fail("the option " + std::string(name) +
                    " is unknown; use --measure NAME, --row NAME, --bytes N (each again for more), "
                    "--batches N, --batch-us MICROSECONDS, --most NOTIFICATIONS, --pvar COUNTER.");
      }
    }
    if (sizes.empty()) {
      sizes = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 4 << 20};
    }
  }

 private:
  static std::string_view measure(std::string_view value) {
    for (const std::string_view known :
         {"put", "get", "overlap", "epochs", "calls", "matching", "misses"}) {
      if (value == known) return value;
    }
    bench::fail("there is no measure \"" + std::string(value) +
                "\"; use put, get, overlap, epochs, calls, matching or misses.");
  }
  static std::size_t whole_words(std::size_t bytes) {
    if (bytes % sizeof(Word) == 0) return bytes;
    bench::fail("a payload consists of words of " + std::to_string(sizeof(Word)) +
                " bytes, so that --bytes " + std::to_string(bytes) + " is not possible.");
  }
};

}  // namespace notify
