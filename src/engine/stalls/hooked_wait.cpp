// SPDX-License-Identifier: BSD-3-Clause
#include "engine/stalls/hooked_wait.hpp"

#include <atomic>
#include <mutex>
#include <string>

#include "engine/process/standard_error.hpp"
#include "transport/shm/clock.hpp"

namespace oriel {
namespace {

std::mutex list_mutex;
std::atomic<HookedWait*> list{nullptr};  // changed with the mutex

}  // namespace

HookedWait::HookedWait(Engine& engine, WaitReason reason)
    : wait_(engine, reason, CallFrames::of_this_thread()), looked_(nanoseconds_now()) {
  const std::lock_guard guard(list_mutex);
  next_ = list.load(std::memory_order_relaxed);
  list.store(this, std::memory_order_relaxed);
}

HookedWait::~HookedWait() {
  const std::lock_guard guard(list_mutex);
  HookedWait* const first = list.load(std::memory_order_relaxed);
  if (first == this) {
    list.store(next_, std::memory_order_relaxed);
    return;
  }
  HookedWait* before = first;
  while (before->next_ != this) before = before->next_;
  before->next_ = next_;
}

void HookedWait::look_at_all() {
  if (list.load(std::memory_order_relaxed) == nullptr) return;
  std::string text;
  {
    const std::unique_lock guard(list_mutex, std::try_to_lock);
    if (!guard.owns_lock()) return;
    const std::uint64_t now = nanoseconds_now();
    for (HookedWait* wait = list.load(std::memory_order_relaxed); wait != nullptr;
         wait = wait->next_) {
      if (now - wait->looked_ < peer_check_interval) continue;
      wait->looked_ = now;
      text += wait->wait_.try_report();
    }
  }
  standard_error.say(text);
}

}  // namespace oriel
