// SPDX-License-Identifier: BSD-3-Clause
// Prints the table of settings as JSON for `oriel info`. The texts contain no character that JSON
// escapes.
#include <cstdio>

#include "core/base/settings.hpp"

int main() {
  const char* separator = "[";
  for (const oriel::Setting& setting : oriel::settings()) {
    std::printf("%s\n  {\"name\": \"%s\", \"kind\": \"%s\", \"default\": \"%s\", \"help\": \"%s\"}",
                separator, setting.name, setting.kind, setting.default_value, setting.help);
    separator = ",";
  }
  std::printf("\n]\n");
  return 0;
}
