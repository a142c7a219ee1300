// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bench/failure.hpp"

namespace patterns {

/// What the words of a transfer hold; different for every transfer of every turn.
inline std::uint32_t word_of(std::uint32_t seed, std::size_t index) {
  return seed * 2654435761u + static_cast<std::uint32_t>(index);
}

/// A window with the same memory on every rank, and with one info key set where `key` is given.
class Window {
 public:
  Window(std::size_t bytes, const char* key) {
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
      MPI_Info_create(&info);
      MPI_Info_set(info, key, "1");
    }
    void* base = nullptr;
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, info, MPI_COMM_WORLD, &base, &win_);
    if (key) MPI_Info_free(&info);
    MPI_Win_set_name(win_, key ? key : "no flag");  // in reports
    words_ = {static_cast<std::uint32_t*>(base), bytes / sizeof(std::uint32_t)};
    for (std::uint32_t& word : words_) word = 0;
  }
  ~Window() { MPI_Win_free(&win_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win handle() const { return win_; }

  /// Ends the job where one byte of a transfer did not arrive.
  void check(std::size_t offset, std::size_t bytes, std::uint32_t seed, int rank,
             int origin) const {
    const std::size_t first = offset / sizeof(std::uint32_t);
    for (std::size_t index = 0; index < bytes / sizeof(std::uint32_t); ++index) {
      if (words_[first + index] == word_of(seed, index)) continue;
      bench::fail("after its epoch the window of rank " + std::to_string(rank) +
                  " does not hold what rank " + std::to_string(origin) + " put: the word at byte " +
                  std::to_string((first + index) * sizeof(std::uint32_t)) + " is " +
                  std::to_string(words_[first + index]) + " and should be " +
                  std::to_string(word_of(seed, index)) + ".");
    }
  }

 private:
  MPI_Win win_ = MPI_WIN_NULL;
  std::span<std::uint32_t> words_;
};

}  // namespace patterns
