// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oriel {

/// Whole pages that are mapped shared, and their place in the mapped file.
struct SharedPages {
  std::byte* begin;
  std::uint64_t bytes;
  int file;
  std::uint64_t offset;
};

/// An owner of shared memory of which the child of a fork gets a private copy, with the contents at
/// the fork. The child makes the copy while the forking thread waits. vfork and posix_spawn run no
/// handlers and need none. The child of a bare clone shares the memory with its parent.
///
/// before_fork() and after_fork() are called from join() to leave().
class ForkCopies {
 public:
  virtual ~ForkCopies() = default;

 protected:
  /// Must be called before there is such memory, because another thread may be within a fork.
  void join();
  void leave();

  /// Adds the memory to be copied to `copied`, and keeps it allocated until after_fork(). Both are
  /// called in the thread that forks.
  virtual void before_fork(std::vector<SharedPages>& copied) = 0;
  virtual void after_fork(bool in_child) = 0;

 private:
  static void before_any_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
};

}  // namespace oriel
