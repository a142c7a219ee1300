// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace oriel::boundary {

/// MPI_T's outputs: a null pointer asks for none.
template <typename T>
void put_out(T* out, const T& value) {
  if (out != nullptr) *out = value;
}

/// A string: as much of it as fits into `*length` characters, with its end. `*length` becomes the
/// length of the whole string with its end.
inline void put_out(std::string_view text, char* out, int* length) {
  if (length == nullptr) return;
  if (out != nullptr && *length > 0) {
    const std::size_t fits = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(out, text.data(), fits);
    out[fits] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

}  // namespace oriel::boundary
