// SPDX-License-Identifier: BSD-3-Clause
#include "engine/process/line_keeper.hpp"

#include <bit>
#include <utility>

namespace oriel {

/// A thread's object that returns the thread's line when the thread ends.
struct LineKeeper::Return {
  LineKeeper& keeper;
  ~Return() { keeper.give_back(); }
};

void LineKeeper::start(ThreadLines& lines) {
  const std::lock_guard guard(mutex_);
  taken_ = given_ = refused_ = 0;
  lines_.store(&lines, std::memory_order_relaxed);
}

void LineKeeper::stop() {
  const std::lock_guard guard(mutex_);
  lines_.store(nullptr, std::memory_order_relaxed);
}

void LineKeeper::disown() {
  lines_.store(nullptr, std::memory_order_relaxed);
  own_ = {};
}

ThreadLine* LineKeeper::take() {
  static thread_local const Return when_it_ends{*this};
  static_cast<void>(when_it_ends);
  const std::lock_guard guard(mutex_);
  ThreadLines* lines = lines_.load(std::memory_order_relaxed);
  own_ = {lines, nullptr, returned_.load(std::memory_order_relaxed), false};
  const auto free = static_cast<std::uint32_t>(std::countr_one(taken_));
  if (lines == nullptr) return nullptr;
  if (free == ThreadLines::most) {
    ++refused_;
    return nullptr;
  }
  ++given_;
  taken_ |= std::uint64_t{1} << free;
  // Store before the thread's first store to its line; see ThreadLines::used.
  if (lines->used.load(std::memory_order_relaxed) <= free) {
    lines->used.store(free + 1, std::memory_order_seq_cst);
  }
  own_.line = &lines->lines[free];
  own_.line->number = free;
  return own_.line;
}

/// Afterwards the thread may still make calls, from destructors that run later; it then has no
/// line.
void LineKeeper::give_back() {
  const ThreadLine* line = std::exchange(own_.line, nullptr);
  own_.ended = true;
  if (line == nullptr) return;
  const std::lock_guard guard(mutex_);
  if (own_.lines != lines_.load(std::memory_order_relaxed)) return;
  taken_ &= ~(std::uint64_t{1} << line->number);
  returned_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace oriel
