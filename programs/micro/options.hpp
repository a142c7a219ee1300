// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/choice.hpp"
#include "bench/failure.hpp"
#include "bench/number.hpp"

namespace micro {

/// Windows and messages are measured by separate runs: a program without windows must not pay for
/// the library, and after the first window it is no longer such a program.
enum class Subject { windows, messages };

struct Options {
  Subject subject = Subject::windows;
  std::int64_t batches = 9;
  std::int64_t batch_us = 4000;  // how long one batch of rounds takes at least
  bool crowded = false;          // the ranks share cores: these have no distance
  bool all = false;              // every operation in every kind of synchronization
  bench::Choice rows;
  std::vector<std::size_t> sizes;  // bytes; none: as the catalogue says

  Options(int argc, char** argv) {
    for (const auto& [name, value] : bench::arguments(argc, argv)) {
      if (name == "--measure" && value == "windows") {
        subject = Subject::windows;
      } else if (name == "--measure" && value == "messages") {
        subject = Subject::messages;
      } else if (name == "--batches") {
        batches = bench::number(name, value);
      } else if (name == "--batch-us") {
        batch_us = bench::number(name, value);
      } else if (name == "--bytes") {
        sizes.push_back(static_cast<std::size_t>(bench::number(name, value)));
      } else if (name == "--catalogue" && (value == "usual" || value == "all")) {
        all = value == "all";
      } else if (name == "--crowded" && (value == "no" || value == "yes")) {
        crowded = value == "yes";
      } else if (name == "--row") {
        rows.add(value);
      } else {
        bench::fail("the option " + std::string(name) + " " + std::string(value) +
                    " is unknown; use --measure windows or messages, --catalogue usual or all, "
                    "--crowded no or yes, --batches N, --batch-us MICROSECONDS, --row NAME and "
                    "--bytes N (again for more).");
      }
    }
  }

  std::vector<std::size_t> sizes_or(std::vector<std::size_t> usual) const {
    return sizes.empty() ? std::move(usual) : sizes;
  }
};

}  // namespace micro
