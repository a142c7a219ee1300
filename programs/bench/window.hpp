// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "failure.hpp"

namespace bench {

enum class Memory { allocated, created };

inline std::string_view name_of(Memory memory) {
  switch (memory) {
    case Memory::allocated:
      return "allocated";
    case Memory::created:
      return "created";
  }
  return "unknown";
}

/// Whether the value of --window names a kind of memory; which.
inline bool is_memory(std::string_view value, Memory& memory) {
  for (const Memory one : {Memory::allocated, Memory::created}) {
    if (value != name_of(one)) continue;
    memory = one;
    return true;
  }
  return false;
}

/// A window over all ranks: its memory is the MPI library's (MPI_Win_allocate), or private memory
/// from malloc, given to MPI_Win_create.
class Window {
 public:
  Window(Memory memory, std::size_t bytes) {
    const auto size = static_cast<MPI_Aint>(bytes);
    if (memory == Memory::allocated) {
      MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base_, &win_);
      return;
    }
    private_ = std::malloc(bytes);
    if (!private_) fail("there is no memory for a window of " + std::to_string(bytes) + " bytes.");
    base_ = private_;
    MPI_Win_create(base_, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
  }
  ~Window() {
    MPI_Win_free(&win_);
    std::free(private_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win handle() const { return win_; }
  void* base() const { return base_; }

 private:
  MPI_Win win_ = MPI_WIN_NULL;
  void* base_ = nullptr;
  void* private_ = nullptr;
};

/// While one lives, a rank may read and write its own part of the window by loads and stores.
class OwnPart {
 public:
  OwnPart(const Window& window, int rank) : OwnPart(window.handle(), rank) {}
  OwnPart(MPI_Win win, int rank) : win_(win), rank_(rank) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, win_);
  }
  ~OwnPart() { MPI_Win_unlock(rank_, win_); }
  OwnPart(const OwnPart&) = delete;
  OwnPart& operator=(const OwnPart&) = delete;

 private:
  MPI_Win win_;
  int rank_;
};

}  // namespace bench
