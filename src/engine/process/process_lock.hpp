// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "core/base/shared_words.hpp"
#include "core/lock/biased_lock.hpp"

namespace oriel {

/// Serializes the threads of this process inside the library. It costs nothing while there is one
/// thread, and a pair of plain stores while the only other one is the agent, which tries it seldom.
/// Otherwise (MPI_THREAD_MULTIPLE was granted, or there is a session) it is a mutex.
///
/// The mode is fixed before a second thread makes its first call, with one exception: a thread may
/// begin a session while another one waits in a call. That call began without the lock, and
/// acquires it after its next round of waiting.
///
/// The mutex is a non-recursive one of pthreads, because the progress hook may try it on the thread
/// that holds it, and must then fail.
class ProcessLock {
 public:
  /// Prepares for any number of threads. The caller does not hold the lock.
  void enable() {
    if (may_be_biased()) biased_.revoke(fence_threads, relax);
    if (!enabled()) enabled_.store(true, std::memory_order_relaxed);
  }
  /// Prepares for the agent, which acquires the lock by an AgentGuard.
  void enable_beside_agent() {
    if (enabled()) return;
    may_be_biased_.store(fences_threads(), std::memory_order_relaxed);
    enabled_.store(true, std::memory_order_relaxed);
  }
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  /// True if several threads of the program may acquire the lock.
  bool among_many() const { return enabled() && (!may_be_biased() || biased_.is_revoked()); }

  void acquire() {
    if (!enabled()) [[likely]]
      return;
    if (!may_be_biased() || !biased_.acquire(relax)) {
      acquire_beside_others();
      by_mutex_ = true;
    }
    note_owner(this_thread());
  }
  /// Does nothing if this thread has not acquired the lock, because it was not enabled then.
  void release() {
    if (!enabled()) [[likely]]
      return;
    if (owner_.load(std::memory_order_relaxed) != this_thread()) return;
    note_owner(nullptr);
    if (by_mutex_) {
      unlock();
    } else {
      biased_.release();
    }
  }
  /// The lock must be enabled.
  bool try_acquire() {
    if (!may_be_biased() || !biased_.try_acquire()) {
      if (may_be_biased() && !biased_.is_revoked()) return false;
      if (!try_lock()) return false;
    }
    note_owner(this_thread());
    return true;
  }

  /// For the agent only.
  bool try_acquire_seldom() {
    if (may_be_biased()) {
      if (biased_.try_acquire_seldom(fence_threads)) return true;
      if (!biased_.is_revoked()) return false;
    }
    return try_lock();
  }
  /// Returns whether a thread of the program waits for the lock, which the agent holds.
  bool is_wanted() const {
    return by_mutex_ ? waiting_.load(std::memory_order_relaxed) != 0 : biased_.is_wanted();
  }
  void release_seldom() {
    if (by_mutex_) {
      unlock();
    } else {
      biased_.release_seldom();
    }
  }

 private:
  /// Registers for fence_threads(). Returns whether the system supports it for this process.
  static bool fences_threads() {
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  }
  /// A full memory fence on every processor that executes a thread of this process.
  static void fence_threads() { ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

  static const void* this_thread() {
    static thread_local char place;
    return &place;
  }
  void note_owner(const void* thread) { owner_.store(thread, std::memory_order_relaxed); }

  bool may_be_biased() const { return may_be_biased_.load(std::memory_order_relaxed); }
  bool try_lock() {
    if (pthread_mutex_trylock(&mutex_) != 0) return false;
    by_mutex_ = true;
    return true;
  }
  void unlock() {
    by_mutex_ = false;
    pthread_mutex_unlock(&mutex_);
  }

  /// Called while the agent holds the lock. The agent releases it after the sweep that it makes,
  /// unless it has been preempted, perhaps by this thread.
  static void relax() {
    constexpr unsigned pauses_per_yield = 64;
    static thread_local unsigned times = 0;
    if (++times % pauses_per_yield == 0) {
      ::sched_yield();
    } else {
      cpu_pause();
    }
  }

  /// Spins first. A thread that sleeps on the mutex costs two system calls, one of them made by the
  /// holder, and the mutex is taken again by the time it wakes: with two threads that put to
  /// another node, at nearly every put. The holder releases the mutex within a system call or two,
  /// unless it has been preempted; so the spin lasts as long as these, some ten microseconds at
  /// most.
  void acquire_beside_others() {
    constexpr int most_pauses = 256;
    constexpr int pauses_per_try = 16;  // each try takes the cache line from the holder
    if (pthread_mutex_trylock(&mutex_) == 0) return;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    bool acquired = false;
    for (int pauses = 1; !acquired && pauses < most_pauses; ++pauses) {
      cpu_pause();
      acquired = pauses % pauses_per_try == 0 && pthread_mutex_trylock(&mutex_) == 0;
    }
    if (!acquired) pthread_mutex_lock(&mutex_);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }

  std::atomic<bool> enabled_{false};
  std::atomic<bool> may_be_biased_{false};
  std::atomic<std::uint32_t> waiting_{0};    // threads that wait for the mutex
  bool by_mutex_ = false;                    // held by the mutex; used by the holder only
  std::atomic<const void*> owner_{nullptr};  // written by the owner only, never by the agent
  BiasedLock biased_{true};
  // In a cache line of its own: calls that need no lock read `enabled_`.
  alignas(cache_line) pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds the lock for a scope. A waiting call releases the lock while there is nothing to do.
class Guard {
 public:
  explicit Guard(ProcessLock& lock) : lock_(lock) { lock_.acquire(); }
  ~Guard() { lock_.release(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  ProcessLock& lock_;
};

/// Tries to hold the lock for a scope. Fails if another thread holds it, or this thread does
/// further up its stack.
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

/// Tries to hold the lock for a scope, on the agent's thread.
class AgentGuard {
 public:
  explicit AgentGuard(ProcessLock& lock) : lock_(lock), held_(lock.try_acquire_seldom()) {}
  ~AgentGuard() {
    if (held_) lock_.release_seldom();
  }
  AgentGuard(const AgentGuard&) = delete;
  AgentGuard& operator=(const AgentGuard&) = delete;

  explicit operator bool() const { return held_; }

 private:
  ProcessLock& lock_;
  bool held_;
};

}  // namespace oriel
