// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace oriel {

/// A word of one process that threads read without the process's lock. Only the holder of that lock
/// writes it, unless its declaration says otherwise. Zero bytes are a valid word that holds zero,
/// for arrays of zero bytes; std::atomic makes no such promise.
template <typename T>
class Published {
 public:
  T load(std::memory_order order = std::memory_order_relaxed) const {
    return std::atomic_ref<T>(value_).load(order);
  }
  void store(T value, std::memory_order order = std::memory_order_relaxed) {
    std::atomic_ref<T>(value_).store(value, order);
  }

 private:
  alignas(std::atomic_ref<T>::required_alignment) mutable T value_{};
};

/// Sets a word that is usually set already. A word that is set is not written, so its cache line
/// stays with all its readers. Needs no lock.
inline void mark(Published<bool>& word) {
  if (!word.load()) word.store(true);
}
/// Sets bits of a word that are usually set already. The caller holds the process's lock.
template <typename Bits>
void mark(Published<Bits>& word, Bits bits) {
  if ((word.load() & bits) != bits) word.store(word.load() | bits);
}

}  // namespace oriel
