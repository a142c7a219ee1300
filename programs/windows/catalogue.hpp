// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "allocated.hpp"
#include "attaching.hpp"
#include "bench/row.hpp"
#include "created.hpp"
#include "dynamic.hpp"
#include "opening.hpp"
#include "options.hpp"
#include "own_memory.hpp"

namespace windows {

struct Kind {
  std::string_view name;
  std::function<std::unique_ptr<Exposure>(std::size_t bytes)> make;
};

/// Every kind of window that is put to, and whose making is timed.
inline std::vector<Kind> kinds(const Options& options) {
  std::vector<Kind> all{
      {"allocated", [](std::size_t bytes) { return std::make_unique<Allocated>(bytes); }},
      {"created",
       [](std::size_t bytes) { return std::make_unique<Created>(Source::malloc, bytes); }},
      {"created-alloc",
       [](std::size_t bytes) { return std::make_unique<Created>(Source::mpi, bytes); }},
      {"dynamic",
       [](std::size_t bytes) { return std::make_unique<Dynamic>(Source::malloc, bytes); }},
      {"dynamic-alloc",
       [](std::size_t bytes) { return std::make_unique<Dynamic>(Source::mpi, bytes); }},
  };
  std::erase_if(all, [&](const Kind& kind) { return !options.windows.includes(kind.name); });
  return all;
}

struct Cost {
  std::string_view name;
  std::function<std::unique_ptr<bench::Row>()> make;
};

/// What is timed without any put.
inline std::vector<Cost> costs(const Options& options) {
  constexpr std::size_t bytes = 4096;
  std::vector<Cost> all;
  for (const Kind& kind : kinds(options)) {
    all.push_back({kind.name, [=] { return std::make_unique<Opening>(kind.make(bytes)); }});
  }
  if (options.windows.includes("dynamic")) {
    all.push_back({"attach", [=] { return std::make_unique<Attaching>(Source::malloc, bytes); }});
  }
  if (options.windows.includes("dynamic-alloc")) {
    all.push_back(
        {"attach-alloc", [=] { return std::make_unique<Attaching>(Source::mpi, bytes); }});
  }
  return all;
}

}  // namespace windows
