// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace oriel {

/// Zeroed memory, aligned to a cache line. The system allocates large ones page by page, as they
/// are touched.
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

}  // namespace oriel
