// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"

namespace bench {

/// The owner of a window's memory: the MPI library (MPI_Win_allocate), or the program, given to
/// MPI_Win_create: whole pages; or pages of the program that are attached to a window of
/// MPI_Win_create_dynamic.
enum class Memory { allocated, created, dynamic };

inline std::string_view name_of(Memory memory) {
  switch (memory) {
    case Memory::allocated:
      return "allocated";
    case Memory::created:
      return "created";
    case Memory::dynamic:
      return "dynamic";
  }
  return "unknown";
}

/// Whole pages of this process's own memory.
class OwnPages {
 public:
  explicit OwnPages(std::size_t bytes) : bytes_(whole_pages(bytes)) {
    base_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
    own_.emplace(bytes);
    base_ = own_->base();
    const auto size = static_cast<MPI_Aint>(own_->bytes());
    if (memory == Memory::dynamic) {
      MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
      MPI_Win_attach(win_, base_, size);
      gather_starts();
    } else {
      MPI_Win_create(base_, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
    }
  }
  ~Window() {
    if (!starts_.empty()) MPI_Win_detach(win_, base_);
    MPI_Win_free(&win_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win handle() const { return win_; }
  void* base() const { return base_; }
  /// The displacement at which `rank`'s memory begins.
  MPI_Aint start(int rank) const {
    return starts_.empty() ? 0 : starts_[static_cast<std::size_t>(rank)];
  }

 private:
  void gather_starts() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    starts_.resize(static_cast<std::size_t>(ranks));
    MPI_Aint mine = 0;
    MPI_Get_address(base_, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, starts_.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  }

  std::optional<OwnPages> own_;
  MPI_Win win_ = MPI_WIN_NULL;
  void* base_ = nullptr;
  std::vector<MPI_Aint> starts_;  // of a dynamic window, by rank
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
