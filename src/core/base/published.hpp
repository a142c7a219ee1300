// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace oriel {

/// A word of one process that its threads read without the process's lock; where nothing else is
/// said, whoever holds that writes it. Zero bytes are one that holds zero, for arrays that begin as
/// such: std::atomic is not promised to be copied as bytes.
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

/// Sets a word that is usually set already: its line then stays with all who read it. Without the
/// lock as well.
inline void mark(Published<bool>& word) {
  if (!word.load()) word.store(true);
}
/// Likewise bits of it; with the lock.
template <typename Bits>
void mark(Published<Bits>& word, Bits bits) {
  if ((word.load() & bits) != bits) word.store(word.load() | bits);
}

}  // namespace oriel
