// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pthread.h>

#include <atomic>

#include "core/base/cache_line.hpp"
#include "core/base/cpu_pause.hpp"

namespace oriel::boundary {

/// Serializes the threads of this process inside the library. Free of charge unless there may be
/// several: MPI_THREAD_MULTIPLE was granted, there is a session, or the agent runs. That is known
/// before the second one makes its first call.
/// A plain pthread mutex, because the progress hook may try it on the thread that holds it, and
/// must then be told no.
class ProcessLock {
 public:
  void enable() {
    if (!enabled()) enabled_.store(true, std::memory_order_relaxed);
  }
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  void acquire() {
    if (enabled()) [[unlikely]]
      acquire_beside_others();
  }
  void release() {
    if (enabled()) [[unlikely]]
      pthread_mutex_unlock(&mutex_);
  }
  /// Of a lock that is enabled.
  bool try_acquire() { return pthread_mutex_trylock(&mutex_) == 0; }

 private:
  /// Spins first. A thread that sleeps on the mutex costs two system calls, one of them the
  /// holder's, and finds it taken again by then: with two threads that put to another node nearly
  /// every put. Whoever holds the lock is out within a system call or two, unless it has lost its
  /// processor; so the spin lasts as long as these, some ten microseconds at most.
  void acquire_beside_others() {
    constexpr int looks = 16;
    constexpr int pauses = 16;  // in between: each look takes the line from the holder
    for (int look = 0; look < looks; ++look) {
      if (try_acquire()) return;
      for (int pause = 0; pause < pauses; ++pause) cpu_pause();
    }
    pthread_mutex_lock(&mutex_);
  }

  std::atomic<bool> enabled_{false};
  // In a line of its own: the calls that need no lock look at `enabled_`.
  alignas(cache_line) pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds the lock for a scope; a waiting call lets go of it while there is nothing to do.
class Guard {
 public:
  explicit Guard(ProcessLock& lock) : lock_(lock), held_(lock.enabled()) {
    if (held_) lock_.acquire();
  }
  ~Guard() {
    if (held_) lock_.release();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  ProcessLock& lock_;
  bool held_;  // the lock may have been enabled since
};

/// Likewise, unless another thread holds it, or this one further up.
class TryGuard {
 public:
  explicit TryGuard(ProcessLock& lock)
      : lock_(lock), held_(lock.enabled() && lock.try_acquire()), may_(held_ || !lock.enabled()) {}
  ~TryGuard() {
    if (held_) lock_.release();
  }
  TryGuard(const TryGuard&) = delete;
  TryGuard& operator=(const TryGuard&) = delete;

  explicit operator bool() const { return may_; }

 private:
  ProcessLock& lock_;
  bool held_;
  bool may_;
};

}  // namespace oriel::boundary
