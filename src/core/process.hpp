// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/board.hpp"
#include "core/layout_cache.hpp"
#include "core/message.hpp"
#include "core/pool.hpp"
#include "core/reduction.hpp"
#include "core/transport.hpp"
#include "core/window.hpp"

namespace oriel {

/// One MPI process, as far as RMA is concerned: owns its windows and everything pending on them.
/// Several may live in one program (threads, simulated ranks); nothing is shared between them but
/// what their transports and control blocks share.
class Process {
 public:
  /// `board`: where node peers offer us operations; may be null.
  Process(Transport& transport, int self, GenericReduce generic, Board* board = nullptr,
          const Limits& limits = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// The caller has made sure that all ranks' control blocks are in place before anybody uses the
  /// window, and that all ranks are through with it before it is destroyed.
  Window& create_window(WindowSpec spec);
  void destroy_window(Window& window);

  /// One sweep over all that is pending: messages, grants, recorded operations, completions,
  /// activations (E10). True if anything moved.
  bool sweep() { return sweep(true); }
  /// The same in a call that another one will soon follow: unless somebody waits for what we send,
  /// it waits for more to travel with, if somebody sweeps soon. Not for many of these calls:
  /// whoever sweeps soon takes them for sweeps.
  bool sweep_in_passing() {
    passing_ = (passing_ + 1) % most_passing;
    return sweep(!swept_soon_ || passing_ == 0);
  }

  /// Things that only a sweep can finish. Zero: nothing of ours is waiting, sweeping is pointless
  /// unless serving() is true.
  std::uint64_t pending() const { return pending_; }
  /// Some window has remote ranks, so we must look for messages.
  bool serving() const { return serving_.load(std::memory_order_relaxed) != 0; }

  /// Some window has memory that node peers cannot map: they are served sooner if we look.
  bool attending() const { return attending_ != 0; }
  /// One look at what peers offer; part of a sweep. True if an operation was carried out.
  bool attend();

  /// How often sweep() was called; for others to see whether anybody does, without a lock.
  std::uint64_t sweeps() const { return sweeps_.load(std::memory_order_relaxed); }
  /// Messages that no peer can have meant: refused, counted, otherwise ignored.
  std::uint64_t refused() const { return refused_; }
  /// Somebody calls sweep() within a short time whatever the program does: what is not urgent may
  /// wait for more to travel with.
  void set_swept_soon(bool soon) { swept_soon_ = soon; }

  Transport& transport() { return transport_; }
  int self() const { return self_; }
  GenericReduce generic() const { return generic_; }
  const Limits& limits() const { return limits_; }

 private:
  friend class Window;
  std::vector<std::unique_ptr<Window>>::iterator place_of(std::uint32_t id);
  Window* find_window(std::uint32_t id);
  bool sweep(bool push);
  bool take(std::span<const std::byte> bytes);

  Transport& transport_;
  int self_;
  GenericReduce generic_;
  Board* board_;
  Limits limits_;
  std::vector<std::unique_ptr<Window>> windows_;  // by number
  Pool<Epoch> epochs_;
  Pool<Target> targets_;
  Pool<RecordedOperation> operations_;
  Pool<FlushRequest> flush_requests_;
  Pool<FlushWaiter> flush_waiters_;
  std::uint64_t pending_ = 0;
  std::atomic<std::uint64_t> serving_{0};
  std::atomic<std::uint64_t> sweeps_{0};  // one writer at a time
  std::uint64_t attending_ = 0;
  std::uint64_t refused_ = 0;
  static constexpr unsigned most_passing = 256;
  unsigned passing_ = 0;
  bool swept_soon_ = false;
  bool awaited_ = false;                  // somebody waits for a message that has not been pushed
  std::map<int, LayoutCache> described_;  // by process: our datatypes that it knows
  std::map<int, LayoutCache> known_;      // and its datatypes that we know
};

}  // namespace oriel
