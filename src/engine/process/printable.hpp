// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel {

/// A name with spaces in the place of what ends a line or a field, or controls a terminal: a
/// program may name a window as it likes.
std::string printable(std::string name);

}  // namespace oriel
