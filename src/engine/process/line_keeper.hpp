// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/base/thread_lines.hpp"

namespace oriel {

/// Assigns each thread that updates without the process lock a line of its own (see HotUpdate),
/// and reclaims the line when the thread ends. A thread has lines of one LineKeeper only.
class LineKeeper {
 public:
  void start(ThreadLines& lines);
  void stop();
  /// Called in the child of a fork, whose only thread is the caller. Does not take the lock, which
  /// a thread of the parent may have held.
  void disown();

  /// The number of lines assigned to threads, and the number of threads that found no free line.
  std::uint64_t given() const { return given_; }
  std::uint64_t refused() const { return refused_; }

  /// The line of the calling thread. Null: the thread uses the process lock instead, because all
  /// lines are in use, the thread is ending, or there is no engine. Comparing addresses suffices: a
  /// process's block is not used again, so the lines of a later engine have another address.
  ThreadLine* own() {
    if (own_.line != nullptr && own_.lines == lines_.load(std::memory_order_relaxed)) [[likely]]
      return own_.line;
    return worth_a_try() ? take() : nullptr;
  }

 private:
  struct Own {
    const ThreadLines* lines;  // that `line` was requested from
    ThreadLine* line;
    std::uint32_t returned;  // `returned_` at that request
    bool ended;              // the destructors of the thread run: a line would not be returned
  };
  struct Return;

  /// False if no line was free at the last request, and none has been returned since.
  bool worth_a_try() const {
    return !own_.ended && (own_.lines != lines_.load(std::memory_order_relaxed) ||
                           own_.returned != returned_.load(std::memory_order_relaxed));
  }
  ThreadLine* take();
  void give_back();

  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local Own own_{};

  std::mutex mutex_;
  std::atomic<ThreadLines*> lines_{nullptr};
  std::uint64_t taken_ = 0;  // one bit for each line
  std::uint64_t given_ = 0;
  std::uint64_t refused_ = 0;
  std::atomic<std::uint32_t> returned_{0};  // lines of threads that have ended
};

}  // namespace oriel
