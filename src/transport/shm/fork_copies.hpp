// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oriel {

/// Whole pages that are mapped shared, and their place in the file behind them.
struct SharedPages {
  std::byte* begin;
  std::uint64_t bytes;
  int file;
  std::uint64_t offset;
};

/// Shared memory of which the child of a fork gets a private copy, with the contents at the fork.
/// The child copies it while the forking thread waits. vfork and posix_spawn run no handlers and
/// need none; the child of a bare clone shares the memory with its parent.
///
/// An object of this class owns such memory, from join() to leave().
class ForkCopies {
 public:
  virtual ~ForkCopies() = default;

 protected:
  /// Before there is such memory: another thread may be within a fork.
  void join();
  void leave();

  /// Adds the memory of which a child gets copies, and holds it as it is until after_fork(). Called
  /// in the thread that forks.
  virtual void before_fork(std::vector<SharedPages>& copied) = 0;
  virtual void after_fork(bool in_child) = 0;

 private:
  static void before_any_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();
};

}  // namespace oriel
