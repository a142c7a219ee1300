// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

namespace exposures {

/// A kind of window as one rank has it: while it is open, the other ranks can access memory of this
/// rank. Can be opened again once it is closed.
class Exposure {
 public:
  Exposure() = default;
  virtual ~Exposure() = default;
  Exposure(const Exposure&) = delete;
  Exposure& operator=(const Exposure&) = delete;

  /// All that a program does before another rank may put. Collective, and so is `close`.
  virtual void open() = 0;
  virtual void close() = 0;

  /// What operations are called with.
  MPI_Win window() const { return window_; }
  /// What is locked for them, and for a rank's own memory.
  virtual MPI_Win locked() const { return window_; }
  std::byte* base() const { return base_; }
  /// Where `rank`'s memory begins, as a displacement for operations. Collective.
  virtual MPI_Aint start(int) const { return 0; }

 protected:
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* base_ = nullptr;
};

}  // namespace exposures
