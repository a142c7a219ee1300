// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/limits.hpp"
#include "core/epoch/events.hpp"
#include "core/epoch/invariant_checks.hpp"
#include "core/epoch/lock_order.hpp"
#include "core/epoch/pools.hpp"
#include "core/epoch/sweep_work.hpp"
#include "core/peer_dispatch.hpp"
#include "core/remote/message.hpp"
#include "core/transport/transport.hpp"
#include "core/window.hpp"

namespace oriel {

/// One MPI process, as far as RMA is concerned: owns its windows and everything pending on them.
/// Several may live in one program (threads, simulated ranks); nothing is shared between them but
/// what their transports and control blocks share.
class Process final : private NotifyReader {
 public:
  Process(Transport& transport, int self, const Limits& limits = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// A window of this number is going to be created: its other ranks may have made theirs, and
  /// notify ours. What comes is kept until then.
  void expect_window(std::uint32_t id) { expected_.push_back(id); }
  /// It is not going to be.
  void forget_window(std::uint32_t id);
  /// The caller has made sure that all ranks' control blocks are in place before anybody uses the
  /// window, and that all ranks are through with it before it is destroyed.
  Window& create_window(WindowSpec spec);
  void destroy_window(Window& window);

  /// By their numbers.
  std::span<const std::unique_ptr<Window>> windows() const { return windows_; }

  /// One sweep over all that is pending: messages, grants, recorded operations, completions,
  /// activations (E10). True if anything moved.
  bool sweep() { return sweep(true, true); }
  /// The same in a call that another one will soon follow: unless somebody waits for what we send,
  /// it waits for more to travel with, if somebody sweeps soon. Not for many of these calls:
  /// whoever sweeps soon takes them for sweeps.
  bool sweep_in_passing() {
    passing_ = (passing_ + 1) % most_passing;
    return sweep(!remote_.outbox.swept_soon() || passing_ == 0, false);
  }

  /// Windows with something that only a sweep can finish: it looks at no others.
  std::size_t pending() const { return at_work_.size(); }
  /// Something may come of a sweep.
  bool busy() const { return serving() || expects(); }
  /// Something waits for a sweep, besides messages that may have come.
  bool expects() const {
    return pending() != 0 || listeners_.load(std::memory_order_relaxed) != 0 ||
           pressed_.load(std::memory_order_relaxed) != 0 ||
           NodeServices::asked(errand_state_.load(std::memory_order_relaxed));
  }
  /// Some window has remote ranks, so we must look for messages.
  bool serving() const { return serving_.load(std::memory_order_relaxed) != 0; }

  /// How often sweep() was called; for others to see whether anybody does, without a lock.
  std::uint64_t sweeps() const { return sweeps_.load(std::memory_order_relaxed); }
  /// Messages that no peer can have meant: refused, counted, otherwise ignored.
  std::uint64_t refused() const { return refused_; }
  /// Somebody calls sweep() within a short time whatever the program does: what is not urgent may
  /// wait for more to travel with.
  void set_swept_soon(bool soon) { remote_.outbox.set_swept_soon(soon); }

  Transport& transport() { return transport_; }
  int self() const { return self_; }

  // For its windows.
  EpochPools& pools() { return pools_; }
  /// Whom this process tells what it does.
  Events& events() { return events_; }
  WindowsAtWork& at_work() { return at_work_; }
  LockOrder& lock_order() { return lock_order_; }
  RemoteResources& remote() { return remote_; }
  Listeners& listeners() { return listeners_; }
  /// One more window with remote ranks, or one less.
  void serve(bool more) { serving_ += more ? 1 : std::uint64_t(-1); }

 private:
  std::vector<std::unique_ptr<Window>>::iterator position_of(std::uint32_t id);
  Window* find_window(std::uint32_t id);
  Window* find_notified(std::uint32_t id);
  bool expected(std::uint32_t id) const;
  bool sweep(bool push, bool waits);
  bool take(std::span<const std::byte> bytes);
  void report_served(const Window& window, const Message& message);
  bool take_messages();
  bool take_transfers();
  bool take_notifications();
  bool store(std::uint32_t window, std::uint64_t offset, std::span<const std::byte> bytes) override;
  void take(const NotifyRecord& record) override;

  Transport& transport_;
  int self_;
  const std::atomic<std::uint32_t>& pressed_;  // others wait for us to take their notifications
  const std::atomic<std::uint32_t>& errand_state_;
  Listeners listeners_{0};
  RemoteResources remote_;
  Events events_;
#ifndef NDEBUG
  InvariantChecks invariant_checks_;
#endif
  EpochPools pools_;                              // outlive the windows
  WindowsAtWork at_work_;                         // outlives the windows
  LockOrder lock_order_;                          // outlives the windows
  std::vector<std::unique_ptr<Window>> windows_;  // by number
  std::atomic<std::uint64_t> serving_{0};
  // One writer at a time. What calls without the lock look at is in other lines.
  alignas(cache_line) std::atomic<std::uint64_t> sweeps_{0};
  std::uint64_t refused_ = 0;
  static constexpr unsigned most_passing = 256;
  unsigned passing_ = 0;
  // Reported last, in this sweep.
  const Window* served_window_ = nullptr;
  int served_origin_ = -1;
  std::vector<std::uint32_t> expected_;  // numbers of windows that are being made
  std::vector<NotifyRecord> early_;      // for these, in order of arrival
  Window* notified_ = nullptr;  // the window that was told last, usually the one that is told next
};

}  // namespace oriel
