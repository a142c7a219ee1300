// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/limits.hpp"
#include "core/base/work_list.hpp"
#include "core/collective/remote_lanes.hpp"
#include "core/epoch/epoch.hpp"
#include "core/epoch/events.hpp"
#include "core/epoch/invariant_checks.hpp"
#include "core/epoch/lock_order.hpp"
#include "core/remote/layout_cache.hpp"
#include "core/remote/message.hpp"
#include "core/remote/outbox.hpp"
#include "core/remote/server.hpp"
#include "core/transport/transport.hpp"
#include "core/window.hpp"

namespace oriel {

/// The objects that a process has for all its windows with remote ranks.
struct RemoteResources {
  RemoteResources(Messages& messages, const Limits& chosen) : outbox(messages), limits(chosen) {}

  Outbox outbox;
  LayoutCaches layouts;
  RendezvousTable rendezvous_table;
  PlanWrites plan_writes;
  Limits limits;
};

/// The RMA side of one MPI process: owns its windows and everything pending on them. Several may
/// exist in one program (threads, simulated ranks). They share only their transports' and control
/// blocks' shared data.
class Process final : private NotifyReader {
 public:
  Process(Transport& transport, int self, const Limits& limits = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Announces that window number `id` will be created. Its other ranks may have created theirs and
  /// send notifications already, which are kept until create_window().
  void expect_window(std::uint32_t id) { expected_.push_back(id); }
  /// Cancels expect_window().
  void forget_window(std::uint32_t id);
  /// Creates a window. The caller ensures that all ranks' control blocks exist before any rank uses
  /// the window, and that all ranks have left it before it is destroyed.
  Window& create_window(WindowSpec spec);
  void destroy_window(Window& window);

  /// Called before memory of this process is given back: no window reaches detached memory there
  /// any more.
  void forget_detached(const void* memory, std::uint64_t bytes);

  /// In the order of their numbers.
  std::span<const std::unique_ptr<Window>> windows() const { return windows_; }
  /// Null: this process has no such window.
  Window* find_window(std::uint32_t id);

  /// One sweep over everything pending: messages, grants, recorded operations, completions,
  /// activations (E10). True if anything moved.
  bool sweep() { return sweep(true, true); }
  /// As sweep(), in a call that does not wait and that another one will soon follow. Messages that
  /// no peer waits for are kept to share a packet, if the agent sweeps soon. At most `most_passing`
  /// calls in a row keep them, because the agent counts these calls as sweeps and would not sweep.
  bool sweep_in_passing() {
    passing_ = (passing_ + 1) % most_passing;
    return sweep(!remote_.outbox.swept_soon() || passing_ == 0, false);
  }

  /// The number of windows with work that only a sweep can finish. A sweep visits no others.
  std::size_t pending() const { return at_work_.size(); }
  /// Returns whether a sweep may find something to do.
  bool busy() const { return serving() || expects(); }
  /// Returns whether something waits for a sweep, apart from messages that may have arrived.
  bool expects() const {
    return pending() != 0 || listeners_.load(std::memory_order_relaxed) != 0 ||
           pressed_.load(std::memory_order_relaxed) != 0 ||
           NodeServices::asked(errand_state_.load(std::memory_order_relaxed));
  }
  /// Returns whether a window has remote ranks, so that sweeps must receive messages.
  bool serving() const { return serving_.load(std::memory_order_relaxed) != 0; }

  /// The number of sweeps so far. Other threads read it without a lock to see whether any thread
  /// sweeps.
  std::uint64_t sweeps() const { return sweeps_.load(std::memory_order_relaxed); }
  /// The number of invalid messages, which are refused and otherwise ignored.
  std::uint64_t refused() const { return refused_; }
  /// `soon`: the agent calls sweep() within a short time, whatever the program does. So messages
  /// that are not urgent may wait for others to share a packet.
  void set_swept_soon(bool soon) { remote_.outbox.set_swept_soon(soon); }

  Transport& transport() { return transport_; }
  int self() const { return self_; }

  // Called by its windows:
  EpochPools& pools() { return pools_; }
  /// The event sinks of this process.
  Events& events() { return events_; }
  WindowsAtWork& at_work() { return at_work_; }
  LockOrder& lock_order() { return lock_order_; }
  RemoteResources& remote() { return remote_; }
  Listeners& listeners() { return listeners_; }
  /// Counts one more window with remote ranks, or one less.
  void serve(bool more) { serving_ += more ? 1 : std::uint64_t(-1); }

 private:
  std::vector<std::unique_ptr<Window>>::iterator position_of(std::uint32_t id);
  Window* find_notified(std::uint32_t id);
  bool expected(std::uint32_t id) const;
  bool sweep(bool push, bool waits);
  bool receive(std::span<const std::byte> bytes);
  void report_served(const Window& window, const Message& message);
  bool receive_messages();
  bool finish_transfers();
  bool receive_notifications();
  bool store(std::uint32_t window, std::uint64_t offset, std::span<const std::byte> bytes) override;
  void deliver(const NotifyRecord& record) override;

  Transport& transport_;
  int self_;
  const std::atomic<std::uint32_t>& pressed_;  // not 0: origins wait for space in our queue
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
  // One writer at a time. Members that calls read without the lock are in other cache lines.
  alignas(cache_line) std::atomic<std::uint64_t> sweeps_{0};
  std::uint64_t refused_ = 0;
  static constexpr unsigned most_passing = 256;
  unsigned passing_ = 0;
  // The window and origin that this sweep has reported last as served.
  const Window* served_window_ = nullptr;
  int served_origin_ = -1;
  std::vector<std::uint32_t> expected_;  // numbers of windows that are being created
  std::vector<NotifyRecord> early_;      // for these windows, in order of arrival
  Window* notified_ = nullptr;           // the window notified last, usually the next one too
};

}  // namespace oriel
