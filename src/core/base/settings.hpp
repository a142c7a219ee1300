// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace oriel {

/// An environment variable that changes what the library does.
struct Setting {
  const char* name;
  const char* kind;  // "bool", "int", "text"
  const char* default_value;
  const char* help;
};

/// All settings: `oriel info` prints this table.
std::span<const Setting> settings();

/// The value in the environment, or the default of the table. In a program with more rights than
/// its caller (setuid, file capabilities) it is always the default, because settings name files
/// that are written and libraries that are loaded. An unknown name is a programming error.
/// setting_text() is empty if the setting has no value.
const char* setting_text(const char* name);
bool setting_bool(const char* name);
long setting_int(const char* name);

}  // namespace oriel
