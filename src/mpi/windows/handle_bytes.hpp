// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "core/pieces/shared_pieces.hpp"

namespace oriel::mpi {

/// A memory handle as it is sent between processes (Q5). It is valid only if the owner's slot has
/// an equal token.
struct HandleBytes {
  std::uint64_t magic = handle_magic;
  std::uint32_t version = 1;
  std::int32_t rank = 0;     // of the owner, in the window's group
  std::uint32_t window = 0;  // number of the window at the owner
  std::uint32_t slot = 0;
  std::uint64_t token = 0;
  std::uint64_t bytes = 0;  // of memory
  std::uint64_t check = 0;  // of all fields before

  static constexpr std::uint64_t handle_magic = 0x4f7269656c4d4831;  // "OrielMH1"

  void seal() { check = sum(); }
  bool sound() const { return magic == handle_magic && version == 1 && check == sum(); }

  static HandleBytes from(const void* bytes) {
    HandleBytes made;
    std::memcpy(&made, bytes, sizeof made);
    return made;
  }

 private:
  /// Detects bytes that are not a handle, or not a complete one.
  std::uint64_t sum() const {
    std::uint64_t result = 0;
    for (const std::uint64_t word : {magic, std::uint64_t{version} << 32 | std::uint32_t(rank),
                                     std::uint64_t{window} << 32 | slot, token, bytes}) {
      result = mix_bits(result ^ word);
    }
    return result;
  }
};
static_assert(std::is_trivially_copyable_v<HandleBytes> && sizeof(HandleBytes) == 48);

}  // namespace oriel::mpi
