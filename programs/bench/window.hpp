// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "failure.hpp"

namespace bench {

/// The owner of a window's memory: the MPI library (MPI_Win_allocate), or the program, given to
/// MPI_Win_create: whole pages; or pages of a private mapping of a file, which are never adopted.
enum class Memory { allocated, created, private_file };

inline std::string_view name_of(Memory memory) {
  switch (memory) {
    case Memory::allocated:
      return "allocated";
    case Memory::created:
      return "created";
    case Memory::private_file:
      return "private";
  }
  return "unknown";
}

/// Whether the value of --window names a kind of memory; which.
inline bool is_memory(std::string_view value, Memory& memory) {
  for (const Memory one : {Memory::allocated, Memory::created, Memory::private_file}) {
    if (value != name_of(one)) continue;
    memory = one;
    return true;
  }
  return false;
}

/// Whole pages of this process's own memory.
class OwnPages {
 public:
  OwnPages(Memory memory, std::size_t bytes) : bytes_(whole_pages(bytes)) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    int file = -1;
    if (memory == Memory::private_file) {
      flags = MAP_PRIVATE;
      file = ::memfd_create("private", 0);
      if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes_)) != 0) {
        fail("a file in memory of " + std::to_string(bytes_) + " bytes could not be made.");
      }
    }
    base_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags, file, 0);
    if (file >= 0) ::close(file);
    if (base_ == MAP_FAILED) {
      fail("there is no memory for a window of " + std::to_string(bytes) + " bytes.");
    }
  }
  ~OwnPages() { ::munmap(base_, bytes_); }
  OwnPages(const OwnPages&) = delete;
  OwnPages& operator=(const OwnPages&) = delete;

  void* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static std::size_t whole_pages(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
  }

  std::size_t bytes_;
  void* base_ = nullptr;
};

/// A window over all ranks. The program's own memory, and with it the window's size, is rounded up
/// to whole pages.
class Window {
 public:
  Window(Memory memory, std::size_t bytes) {
    if (memory == Memory::allocated) {
      MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base_,
                       &win_);
      return;
    }
    own_.emplace(memory, bytes);
    base_ = own_->base();
    MPI_Win_create(base_, static_cast<MPI_Aint>(own_->bytes()), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win_);
  }
  ~Window() { MPI_Win_free(&win_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win handle() const { return win_; }
  void* base() const { return base_; }

 private:
  std::optional<OwnPages> own_;
  MPI_Win win_ = MPI_WIN_NULL;
  void* base_ = nullptr;
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
