// SPDX-License-Identifier: BSD-3-Clause
#include "manners.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <sstream>

namespace awkward {

bool has(const char* manner) {
  static const std::set<std::string> named = [] {
    const char* text = std::getenv("ORIEL_TEST_FABRIC");
    std::istringstream list(text != nullptr ? text : "");
    std::set<std::string> names;
    for (std::string name; std::getline(list, name, ',');) names.insert(name);
    return names;
  }();
  return named.contains(manner);
}

void met(const std::string& manner) {
  static std::set<std::string> said;
  if (said.insert(manner).second) std::fprintf(stderr, "fabric: %s\n", manner.c_str());
}

void refuse(const char* sentence) {
  std::fprintf(stderr, "fabric: refused: %s\n", sentence);
  std::abort();
}

bool chance(unsigned percent) {
  static std::minstd_rand random;
  return random() % 100 < percent;
}

bool keeps_no_order() {
  return has("unordered_writes") || has("ignores_order") || has("late_delivery") ||
         has("looks_only");
}

void* real_symbol(const char* name) {
  static void* library = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(::dlerror());
  return ::dlsym(library, name);
}

}  // namespace awkward
