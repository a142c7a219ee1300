// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alone.hpp"
#include "attaching.hpp"
#include "bench/row.hpp"
#include "exposures/duplicate.hpp"
#include "exposures/handle.hpp"
#include "exposures/kinds.hpp"
#include "exposures/own_memory.hpp"
#include "exposures/windows_api.hpp"
#include "new_window_row.hpp"
#include "opening.hpp"
#include "options.hpp"
#include "put_row.hpp"

namespace windows {

using exposures::Duplicate;
using exposures::Exposure;
using exposures::Handle;
using exposures::Source;

/// The ranks of puts: rank 0 puts to the last one.
struct Pair {
  int rank;  // the caller's
  int target;
};

struct Put {
  std::string name;
  std::function<std::unique_ptr<bench::Row>(std::size_t bytes)> make;
};

/// Every kind of window that is put to.
inline std::vector<Put> puts(const Options& options, Pair pair) {
  const auto [rank, target] = pair;
  std::vector<Put> all;
  for (const exposures::Kind& kind : exposures::kinds()) {
    all.push_back({std::string(kind.name), [=](std::size_t bytes) {
                     return std::make_unique<PutRow<Exposure>>(kind.make(bytes, target), bytes,
                                                               rank, target);
                   }});
  }
  if (exposures::WindowsApi().complete()) {
    all.push_back({"handle-alloc-new", [=](std::size_t bytes) {
                     auto handle = std::make_unique<Handle>(Source::mpi, bytes, target);
                     return std::make_unique<NewWindowRow>(std::move(handle), bytes, rank, target);
                   }});
  }
  std::erase_if(all, [&](const Put& put) { return !options.windows.includes(put.name); });
  return all;
}

struct Cost {
  std::string name;
  bool local;  // rank 0 makes it alone
  std::function<std::unique_ptr<bench::Row>()> make;
};

/// What is timed without any put.
inline std::vector<Cost> costs(const Options& options, Pair pair) {
  constexpr std::size_t bytes = 4096;
  const auto [rank, target] = pair;
  std::vector<Cost> all;
  for (const exposures::Kind& kind : exposures::kinds()) {
    if (!options.windows.includes(kind.name)) continue;
    all.push_back({std::string(kind.name), false,
                   [=] { return std::make_unique<Opening>(kind.make(bytes, target)); }});
  }
  const bool carried = exposures::WindowsApi().complete();
  if (carried && options.windows.includes("duplicate")) {
    all.push_back({"duplicate-renewed", true, [=] {
                     return std::make_unique<Alone<Duplicate, &Duplicate::renew>>(
                         std::make_unique<Duplicate>(bytes), rank);
                   }});
  }
  for (const auto& [ending, source] : {std::pair("", Source::malloc), {"-alloc", Source::mpi}}) {
    const std::string suffix = ending;
    if (options.windows.includes("dynamic" + suffix)) {
      all.push_back(
          {"attach" + suffix, false, [=] { return std::make_unique<Attaching>(source, bytes); }});
    }
    if (!carried || !options.windows.includes("handle" + suffix)) continue;
    all.push_back({"handle-renewed" + suffix, true, [=] {
                     return std::make_unique<Alone<Handle, &Handle::renew_handle>>(
                         std::make_unique<Handle>(source, bytes, 0), rank);
                   }});
    all.push_back({"handle-window" + suffix, true, [=] {
                     return std::make_unique<Alone<Handle, &Handle::renew_window>>(
                         std::make_unique<Handle>(source, bytes, target), rank);
                   }});
  }
  return all;
}

}  // namespace windows
