// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "core/base/thread_lines.hpp"

namespace oriel {

/// Gives each thread that updates without the process lock a line of its own (see LightUpdate),
/// and takes it back when the thread ends.
class LineKeeper {
 public:
  void start(ThreadLines& lines);
  void stop();
  /// In the child of a fork, whose only thread is this one: without the lock, which a thread of the
  /// parent may have held.
  void disown();

  /// How many lines threads have been given, and how many threads found none left.
  std::uint64_t given() const { return given_; }
  std::uint64_t refused() const { return refused_; }

  /// This thread's. Null: it takes the lock instead, because all have been given out, the thread is
  /// ending, or there is no engine. A process's lines are never those of another engine: its block
  /// is not used again.
  ThreadLine* own() {
    if (own_.line != nullptr && own_.lines == lines_.load(std::memory_order_relaxed)) [[likely]]
      return own_.line;
    return worth_a_try() ? take() : nullptr;
  }

 private:
  struct Own {
    const ThreadLines* lines;  // that it has been asked of
    ThreadLine* line;
    std::uint32_t returned;  // see `returned_`
    bool ended;              // this thread's destructors run: what it took would not come back
  };
  struct Return;

  /// Not where there was none left, and none has come back since.
  bool worth_a_try() const {
    return !own_.ended && (own_.lines != lines_.load(std::memory_order_relaxed) ||
                           own_.returned != returned_.load(std::memory_order_relaxed));
  }
  ThreadLine* take();
  void give_back();

  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local Own own_{};

  std::mutex mutex_;
  std::atomic<ThreadLines*> lines_{nullptr};
  std::uint64_t taken_ = 0;  // a bit for each line
  std::uint64_t given_ = 0;
  std::uint64_t refused_ = 0;
  std::atomic<std::uint32_t> returned_{0};  // lines, by threads that have ended
};

}  // namespace oriel
