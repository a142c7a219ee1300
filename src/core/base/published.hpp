// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace oriel {

/// A word of one process that whoever holds its lock writes, and that its other threads read
/// without. Zero bytes are one that holds zero, for arrays that begin as such: std::atomic is not
/// promised to be copied as bytes.
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

/// Sets a word, or bits of it, that are usually set already: its line then stays with all who read
/// it.
inline void raise(Published<bool>& word) {
  if (!word.load()) word.store(true);
}
template <typename Bits>
void raise(Published<Bits>& word, Bits bits) {
  if ((word.load() & bits) != bits) word.store(word.load() | bits);
}

}  // namespace oriel
