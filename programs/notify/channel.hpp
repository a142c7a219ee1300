// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "bench/window.hpp"
#include "job.hpp"
#include "payload.hpp"

namespace notify {

/// A window of so many words on either rank, and who is at its other end.
class Channel {
 public:
  Channel(const Job& job, std::size_t bytes)
      : job_(job),
        words_(bytes / sizeof(Word)),
        window_(bench::Memory::allocated, bytes > 0 ? bytes : sizeof(Word)) {}

  const Job& job() const { return job_; }
  int partner() const { return job_.partner; }
  MPI_Win win() const { return window_.handle(); }
  std::size_t size() const { return words_; }
  std::span<Word> own_part() const { return {static_cast<Word*>(window_.base()), words_}; }

 private:
  Job job_;
  std::size_t words_;
  bench::Window window_;
};

}  // namespace notify
