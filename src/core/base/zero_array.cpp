// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/zero_array.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "core/base/shared_words.hpp"

namespace oriel {
namespace {

// For fewer bytes the heap is cheaper than two system calls and a page fault.
constexpr std::size_t least_mapped = std::size_t{64} * 1024;

bool mapped(std::size_t bytes) {
  return bytes >= least_mapped;
}

}  // namespace

ZeroedPages::ZeroedPages(std::size_t bytes) : bytes_(bytes) {
  if (!mapped(bytes)) {
    data_ = std::memset(::operator new(bytes, std::align_val_t{cache_line}), 0, bytes);
    return;
  }
  data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data_ == MAP_FAILED) throw std::bad_alloc();
  // A huge page would allocate memory for the neighbours of every rank that is used.
  ::madvise(data_, bytes, MADV_NOHUGEPAGE);
}

ZeroedPages::~ZeroedPages() {
  if (mapped(bytes_)) {
    ::munmap(data_, bytes_);
  } else {
    ::operator delete(data_, std::align_val_t{cache_line});
  }
}

}  // namespace oriel
