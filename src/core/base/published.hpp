// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

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

/// The version of some words that one thread at a time changes, and that other threads read as a
/// whole without waiting for it. It is odd while they are being changed.
///
///     changer                                    reader
///       version += 1: odd                          v = version                      acquire
///       each word                     release      each word                        acquire
///       version += 1                  release      version is v, and even? no: has read nothing
///
/// Invariant: a reader that has read a word of a change has acquired the odd version or a later
/// one. Its second load of the version returns that version or a later one.
template <template <typename> class Word>
class BasicVersion {
 public:
  /// Sets the version, which must be even. Called before there are readers.
  void begin(std::uint64_t version) { version_.store(version, std::memory_order_relaxed); }

  std::uint64_t begin_read() const { return version_.load(std::memory_order_acquire); }
  /// True if all words that were read since begin_read() returned `begun` are of that version.
  bool is_unchanged(std::uint64_t begun) const {
    return begun % 2 == 0 && version_.load(std::memory_order_relaxed) == begun;
  }

  /// `store_words` stores the words.
  template <typename StoreWords>
  void change(StoreWords&& store_words) {
    const std::uint64_t before = version_.load(std::memory_order_relaxed);
    version_.store(before + 1, std::memory_order_relaxed);
    store_words();
    version_.store(before + 2, std::memory_order_release);
  }

  /// For the checker, which gives the word a name.
  const Word<std::uint64_t>& word() const { return version_; }

 private:
  Word<std::uint64_t> version_{};
};
/// Zero bytes are a valid version.
using Version = BasicVersion<Published>;

}  // namespace oriel
