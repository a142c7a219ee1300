// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include "bench/failure.hpp"

namespace exposures {

/// Where a program has the memory from that it gives to a window.
enum class Source { malloc, mpi };

class OwnMemory {
 public:
  OwnMemory(Source source, std::size_t bytes) : source_(source), bytes_(bytes) {
    if (source == Source::mpi) {
      MPI_Alloc_mem(size(), MPI_INFO_NULL, &base_);
    } else {
      base_ = static_cast<std::byte*>(std::malloc(bytes));
    }
    if (!base_) {
      bench::fail("there is no memory for a window of " + std::to_string(bytes) + " bytes.");
    }
  }
  ~OwnMemory() {
    if (source_ == Source::mpi) {
      MPI_Free_mem(base_);
    } else {
      std::free(base_);
    }
  }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  std::byte* base() const { return base_; }
  MPI_Aint size() const { return static_cast<MPI_Aint>(bytes_); }

 private:
  Source source_;
  std::size_t bytes_;
  std::byte* base_ = nullptr;
};

}  // namespace exposures
