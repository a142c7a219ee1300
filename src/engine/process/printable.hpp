// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel {

/// `name` with spaces in place of characters that end a line or a field, or control a terminal: a
/// program may give a window any name.
std::string printable(std::string name);

}  // namespace oriel
