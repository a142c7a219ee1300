// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/fortran_layer.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace oriel::boundary {
namespace {

using Loads = decltype(dl_phdr_info::dlpi_adds);

/// How many objects have been loaded so far.
Loads loads() {
  Loads counted = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* first, std::size_t, void* result) {
        *static_cast<Loads*>(result) = first->dlpi_adds;
        return 1;  // all say the same
      },
      &counted);
  return counted;
}

std::vector<std::string> objects() {
  std::vector<std::string> names;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        static_cast<std::vector<std::string>*>(result)->emplace_back(object->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

/// A function of the Fortran layer's, as compilers spell it; null: neither this object nor one that
/// it needs has it. Objects that were loaded for themselves are asked one by one: nobody else finds
/// their names.
const void* fortran_function(const std::string& object) {
  static constexpr std::array names{"mpi_win_set_attr_", "mpi_win_set_attr", "mpi_win_set_attr__",
                                    "MPI_WIN_SET_ATTR"};
  void* opened = ::dlopen(object.empty() ? nullptr : object.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (opened == nullptr) return nullptr;  // the kernel's
  const void* found = nullptr;
  for (const char* name : names) {
    if (found == nullptr) found = ::dlsym(opened, name);
  }
  ::dlclose(opened);
  return found;
}

}  // namespace

bool fortran_layer_loaded() {
  static std::atomic<bool> found{false};
  static std::atomic<Loads> looked_through{0};
  if (found.load(std::memory_order_relaxed)) return true;
  const Loads now = loads();
  if (looked_through.load(std::memory_order_acquire) == now) return false;
  const auto has_one = [](const std::string& object) {
    return fortran_function(object) != nullptr;
  };
  if (std::ranges::any_of(objects(), has_one)) {
    found.store(true, std::memory_order_relaxed);
    return true;
  }
  looked_through.store(now, std::memory_order_release);
  return false;
}

bool in_fortran_layer(const void* code) {
  Dl_info caller{};
  Dl_info layer{};
  if (::dladdr(code, &caller) == 0) return false;
  const void* function = fortran_function(caller.dli_fname);
  return function != nullptr && ::dladdr(function, &layer) != 0 &&
         layer.dli_fbase == caller.dli_fbase;
}

}  // namespace oriel::boundary
