// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "boundary/bound_window.hpp"
#include "boundary/datatypes.hpp"
#include "boundary/errors.hpp"
#include "boundary/host.hpp"
#include "boundary/process_lock.hpp"
#include "boundary/self_comm.hpp"
#include "boundary/window_table.hpp"
#include "core/process.hpp"
#include "transport/routes.hpp"
#include "transport/shm/alloc.hpp"

namespace oriel::boundary {

/// What exists from the first window to MPI_Finalize, or to the end of the last session.
struct Engine {
  explicit Engine(std::unique_ptr<ShmTransport> node);

  Routes routes;
  Process process;
  std::vector<std::unique_ptr<BoundWindow>> windows;
  std::uint32_t next_window = 1;  // number of the next window
  unsigned operations = 0;        // see sweep_now_and_then
  long spins;
  long yields;
  bool launched_crowded;  // the launcher started more ranks on this node than it has processors

  /// More ranks than processors: waiting must give the processor away.
  bool crowded() { return launched_crowded || routes.node().crowded(); }
  /// All that was sent has left this process.
  bool drained() {
    return !routes.node().backlogged() &&
           (routes.network() == nullptr || routes.network()->drained());
  }
  /// Other nodes' access to its memory.
  void withdraw(const BoundWindow& window) {
    if (window.exposure >= 0) routes.network()->withdraw(window.exposure);
    if (window.atomic_exposure >= 0) routes.atomics()->withdraw(window.atomic_exposure);
  }
};

/// This library in one MPI process.
class Runtime {
 public:
  ProcessLock lock;
  SelfComm self;
  WindowTable windows;
  Datatypes datatypes;
  SegmentAllocator memory;

  /// Null before the first window and after MPI_Finalize or the last session.
  Engine* engine() { return engine_.get(); }
  /// Makes the engine if there is none; without the process lock. False, and `error` is a sentence,
  /// if that fails.
  bool start(std::string& error);
  /// Serializes threads from now on if the program was granted several at a time.
  void note_thread_level();
  void serialize_threads();
  void stop();

  /// ORIEL_DISABLE: everything is left to the host.
  bool disabled();
  /// Something of ours needs sweeps to go on.
  bool busy() const {
    return engine_ != nullptr && (engine_->process.pending() != 0 || engine_->process.serving());
  }
  /// Somebody is better off if we sweep: what waits in MPI does.
  bool useful() const { return busy() || (engine_ != nullptr && engine_->process.attending()); }

  /// The completion for a blocking call: to be tried with, and taken when the call has to wait. On
  /// the heap, because a call that gives up waiting for a dead peer leaves it behind.
  Flag& spare_flag() { return *spare_flag_; }
  void take_spare_flag();
  void give_back(Flag& flag) { free_flags_.push_back(&flag); }

 private:
  std::mutex starting_;  // threads may make their first windows at the same time
  std::unique_ptr<Engine> engine_;
  std::deque<Flag> flags_;
  std::vector<Flag*> free_flags_;
  Flag* spare_flag_ = nullptr;
};

extern Runtime runtime;

/// Every call carries on what is pending (E10).
inline void sweep_pending() {
  if (runtime.busy()) [[unlikely]]
    runtime.engine()->process.sweep_in_passing();
}

/// The shape of every call on a window: not ours, to the host; ours, to the core; an error, to the
/// window's error handler once the lock is released.
template <typename Ours, typename Host>
inline int carry(const char* call, MPI_Win handle, Ours&& ours, Host&& host) {
  Failure failure;
  BoundWindow* window;
  {
    const Guard guard(runtime.lock);
    window = runtime.windows.find(handle_key(handle));
    if (window != nullptr) [[likely]]
      failure = ours(*window);
  }
  if (window == nullptr) [[unlikely]]
    return host();
  if (failure) [[unlikely]]
    return raise(handle, call, failure);
  return MPI_SUCCESS;
}

}  // namespace oriel::boundary
