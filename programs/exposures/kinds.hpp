// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "allocated.hpp"
#include "created.hpp"
#include "duplicate.hpp"
#include "dynamic.hpp"
#include "exposure.hpp"
#include "handle.hpp"
#include "own_memory.hpp"
#include "windows_api.hpp"

namespace exposures {

struct Kind {
  std::string_view name;
  std::function<std::unique_ptr<Exposure>(std::size_t bytes, int target)> make;
};

/// Every kind of window, from rank to rank of the job, that the library or the host alone has.
inline std::vector<Kind> kinds() {
  std::vector<Kind> all{
      {"allocated", [](std::size_t bytes, int) { return std::make_unique<Allocated>(bytes); }},
      {"created",
       [](std::size_t bytes, int) { return std::make_unique<Created>(Source::malloc, bytes); }},
      {"created-alloc",
       [](std::size_t bytes, int) { return std::make_unique<Created>(Source::mpi, bytes); }},
      {"dynamic",
       [](std::size_t bytes, int) { return std::make_unique<Dynamic>(Source::malloc, bytes); }},
      {"dynamic-alloc",
       [](std::size_t bytes, int) { return std::make_unique<Dynamic>(Source::mpi, bytes); }},
  };
  if (!WindowsApi().complete()) return all;
  all.push_back(
      {"duplicate", [](std::size_t bytes, int) { return std::make_unique<Duplicate>(bytes); }});
  all.push_back({"handle", [](std::size_t bytes, int target) {
                   return std::make_unique<Handle>(Source::malloc, bytes, target);
                 }});
  all.push_back({"handle-alloc", [](std::size_t bytes, int target) {
                   return std::make_unique<Handle>(Source::mpi, bytes, target);
                 }});
  return all;
}

}  // namespace exposures
