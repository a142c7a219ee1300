// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/pieces/handle_words.hpp"

namespace oriel {

/// A memory handle of some rank, as the process sees it that has been given it.
struct HandleView {
  int target = 0;
  HandleName name;
  std::uint64_t bytes = 0;           // that may be used
  std::uint64_t disp_unit = 1;       // of these
  const HandleSlot* slot = nullptr;  // of a mapped rank
  std::byte* base = nullptr;         // of memory that can be loaded and stored here,
  std::uint64_t address = 0;         // or that is one system call away; 0: neither

  bool alive() const { return slot->token.load(std::memory_order_acquire) == name.token; }
};

}  // namespace oriel
