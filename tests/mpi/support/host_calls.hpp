// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <string>

#include "support/check.hpp"

namespace support {

/// The library that a name comes from which nobody interposes: the host MPI's own.
inline void* host_library() {
  Dl_info found{};
  if (dladdr(dlsym(RTLD_DEFAULT, "MPI_Type_size"), &found) == 0) {
    fail(__FILE__, __LINE__, "the host MPI is not found.");
  }
  return dlopen(found.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

/// RMA calls of the host MPI itself (`host_library()`), past whoever interposes them, or those that
/// programs get (RTLD_DEFAULT).
struct RmaCalls {
  explicit RmaCalls(void* from) : library(from) {}
  void* library;
#define ORIEL_TEST_CALL(name) decltype(&MPI_##name) name = find<decltype(&MPI_##name)>("MPI_" #name)
  ORIEL_TEST_CALL(Win_allocate);
  ORIEL_TEST_CALL(Win_free);
  ORIEL_TEST_CALL(Win_lock);
  ORIEL_TEST_CALL(Win_unlock);
  ORIEL_TEST_CALL(Accumulate);
  ORIEL_TEST_CALL(Get_accumulate);
  ORIEL_TEST_CALL(Fetch_and_op);
  ORIEL_TEST_CALL(Compare_and_swap);
#undef ORIEL_TEST_CALL

 private:
  template <class Function>
  Function find(const char* name) const {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) fail(__FILE__, __LINE__, std::string(name) + " is not found.");
    return reinterpret_cast<Function>(symbol);
  }
};

}  // namespace support
