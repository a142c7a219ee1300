// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <string>

#include "support/check.hpp"

namespace support {

/// An ORIEL_ call, found at run time: the test programs are linked with the host MPI only, and
/// Oriel comes by preloading. Its twin for tools must be there, too.
template <class Function>
Function exported(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == nullptr) {
    fail(__FILE__, __LINE__, std::string(name) + " is not exported by the preloaded library.");
  }
  if (dlsym(RTLD_DEFAULT, (std::string("P") + name).c_str()) == nullptr) {
    fail(__FILE__, __LINE__, std::string("P") + name + " is not exported.");
  }
  return reinterpret_cast<Function>(symbol);
}

}  // namespace support
