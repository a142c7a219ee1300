// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/operation/operation.hpp"
#include "core/transport/thread_lines.hpp"

namespace oriel::boundary {

/// Gives each thread that updates without the process lock a line of its own (see ThreadUpdate),
/// and takes it back when the thread ends.
class LineKeeper {
 public:
  void start(ThreadLines& lines);
  void stop();

  /// This thread's. Null: all have been given out, so it takes the lock.
  ThreadLine* own() {
    if (own_.keeper_lines == lines_.load(std::memory_order_relaxed)) [[likely]]
      return own_.line;
    return take();
  }
  /// The bit of this thread's line; all of them where it has none.
  ThreadSet own_bit() {
    const ThreadLine* line = own();
    return line != nullptr ? ThreadSet{1} << (line - own_.keeper_lines->lines.data()) : all_threads;
  }

 private:
  struct Own {
    const ThreadLines* keeper_lines;  // that it was taken from
    ThreadLine* line;
  };
  struct Return;

  ThreadLine* take();
  void give_back(const Own& own);

  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local Own own_{};

  std::mutex mutex_;
  std::atomic<ThreadLines*> lines_{nullptr};
  std::uint64_t taken_ = 0;  // a bit for each line
};

extern LineKeeper line_keeper;

}  // namespace oriel::boundary
