// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace oriel::boundary {

/// Stores an output of a call of MPI_T, unless the program has passed a null pointer for it.
template <typename T>
void put_out(T* out, const T& value) {
  if (out != nullptr) *out = value;
}

/// Stores as much of a string as fits into `*length` characters, including its terminating null.
/// `*length` becomes the length of the whole string including the null.
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
