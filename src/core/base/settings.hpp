// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace oriel {

/// One environment variable that changes what the library does.
struct Setting {
  const char* name;
  const char* kind;  // "bool", "int", "text"
  const char* default_value;
  const char* help;
};

/// All of them: `oriel info` prints this table, the boundary reads values through it.
std::span<const Setting> settings();

/// Values from the environment, or the default of the table; always the default in a program with
/// more rights than its caller (setuid, file capabilities): settings name files that are written,
/// and libraries that are loaded. An unknown name is a programming error.
/// The text itself; empty where nothing is set.
const char* setting_text(const char* name);
bool setting_bool(const char* name);
long setting_int(const char* name);

}  // namespace oriel
