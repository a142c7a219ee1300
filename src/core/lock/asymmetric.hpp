// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace oriel {

/// Stores a word and keeps the store before later loads, on the frequent side of a handshake.
/// `asymmetric`: the rare side calls Sharers::fence() between its own store and its load of `word`;
/// then a compiler barrier is enough on this side.
template <typename Words, typename Value>
void store_before_look(typename Words::template Atomic<Value>& word,
                       std::type_identity_t<Value> value, bool asymmetric) {
  if (asymmetric) [[likely]] {
    word.store(value, std::memory_order_release);
    Words::store_then_look();
  } else {
    word.exchange(value, std::memory_order_seq_cst);
  }
}

}  // namespace oriel
