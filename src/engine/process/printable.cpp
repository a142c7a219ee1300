// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process/printable.hpp"

#include <cstddef>

namespace oriel {

std::string printable(std::string name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    // U+0080 to U+009F, in UTF-8.
    const bool control =
        byte == 0xc2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (control) {
      name.replace(i, 2, " ");
    } else if (byte < ' ' || byte == 0x7f) {
      name[i] = ' ';
    }
  }
  return name;
}

}  // namespace oriel
