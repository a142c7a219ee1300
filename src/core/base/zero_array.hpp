// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

namespace oriel {

/// Zeroed memory, aligned to a cache line. From 64 KB on, the system allocates each page when it is
/// first touched.
class ZeroedPages {
 public:
  /// Throws std::bad_alloc.
  explicit ZeroedPages(std::size_t bytes);
  ~ZeroedPages();
  ZeroedPages(const ZeroedPages&) = delete;
  ZeroedPages& operator=(const ZeroedPages&) = delete;

  void* data() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// An array whose elements are zero bytes until they are written. A large array takes memory page
/// by page as it is written, so elements of ranks that are never used take none (B8).
template <typename T>
class ZeroArray {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  explicit ZeroArray(std::size_t size) : pages_(size * sizeof(T)), size_(size) {}

  std::size_t size() const { return size_; }
  T* data() { return elements(); }
  T& operator[](int index) { return elements()[static_cast<std::size_t>(index)]; }
  const T& operator[](int index) const { return elements()[static_cast<std::size_t>(index)]; }

 private:
  T* elements() const { return static_cast<T*>(pages_.data()); }

  ZeroedPages pages_;
  std::size_t size_;
};

}  // namespace oriel
