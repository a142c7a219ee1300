// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <cstddef>

namespace oriel {

/// While it lives, no other thread of this process changes these pages: one that would, also within
/// a system call, waits until this object goes. They may be mapped anew meanwhile; who waits then
/// finds what is there. By userfaultfd, which the system may reserve for privileged processes.
///
/// The thread that has made it must not write to the pages, nor read one that was never touched: it
/// would wait for itself. So its signals wait, too.
class FrozenPages {
 public:
  /// Whole pages of private memory without a file, or of shared memory.
  FrozenPages(std::byte* begin, std::size_t bytes);
  ~FrozenPages();
  FrozenPages(const FrozenPages&) = delete;
  FrozenPages& operator=(const FrozenPages&) = delete;

  /// False: the system does not permit it, and nobody is held up.
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
  sigset_t signals_;  // those of the thread before
};

/// How many threads of this process run, the calling one included.
std::size_t running_threads();

}  // namespace oriel
