// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collectives/alltoallv_tasks.hpp"

#include <algorithm>
#include <utility>

#include "core/collective/packed.hpp"
#include "core/collective/schedule.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {
namespace {

/// A collective by puts into a window on the receive buffers. The derived classes open and close
/// the epochs. All calls are nonblocking, and the window carries them out in their order.
class WindowCollective : public CollectiveTask {
 public:
  /// `theirs`: the other ranks' offers, with the offsets in their windows for this rank's blocks.
  WindowCollective(std::shared_ptr<CollectiveState> state, ReceiveWindow& window, Schedule schedule,
                   const ReceiveArea& area, const std::vector<Offer>& theirs, bool far_first)
      : state_(std::move(state)), window_(window), part_(&window.both.front()) {
    const Guard guard(engine.lock);
    for (const Schedule::Copy& one : schedule.copies) {
      (one.step == Schedule::before_all ? saves_ : copies_)
          .push_back({Packed(one.from), Packed(one.into)});
    }
    for (Schedule::Send& send : schedule.sends) {
      const std::uint64_t bytes = bytes_in(send.from);
      if (bytes == 0) continue;
      Operation put;
      put.target = send.to;
      put.displacement = theirs[static_cast<std::size_t>(send.to)].offset;
      put.target_count = bytes;
      put.target_layout = bytes_at(nullptr, bytes).layout;
      put.origin = std::move(send.from);
      puts_.push_back(std::move(put));
    }
    const Window& core = *part_->bound->core;
    if (far_first) {
      std::ranges::stable_partition(puts_, [&](const Operation& put) {
        return core.read_member(put.target).process >= CompositeTransport::first_elsewhere;
      });
    }
    if (!window.staged) return;
    for (const Schedule::Receive& receive : schedule.receives) {
      const auto from = static_cast<std::size_t>(receive.from);
      if (theirs[from].sends == 0) continue;
      const Buffer packed = bytes_at(window.staging.get() + area.offsets[from], theirs[from].sends);
      unpacks_.push_back({Packed(packed), Packed(receive.into)});
    }
  }

  Failure start() final {
    carry_out(saves_);
    engine.sweep_in_passing(Passing::polls);
    const auto parts = window_.parts();
    part_ = part_ == &parts.front() ? &parts.back() : &parts.front();
    part_->closed = part_->met = Flag();
    unpacked_ = false;
    Window& core = *part_->bound->core;
    const Error error = begin(*part_);
    lost_ = error == Error::peer_lost;
    if (lost_) {
      window_.broken = true;
      return {};  // the wait reports the lost rank
    }
    if (error != Error::none) {
      window_.broken = true;
      return failure(error, core.reason());
    }
    carry_out(copies_);
    if (core.remote()) engine.agent.wake_after_operation();
    return {};
  }

  bool done() final {
    if (unpacked_) return true;
    if (lost_ || !ended(*part_)) return false;
    // The next check for lost ranks, which calls lost(), reports that rank.
    lost_ = first_of(part_->closed.error(), part_->met.error()) == Error::peer_lost;
    if (lost_) return false;
    carry_out(unpacks_);
    return unpacked_ = true;
  }

  Failure outcome() const final {
    const Error error = first_of(part_->closed.error(), part_->met.error());
    return failure(error, "a transfer of the collective failed");
  }
  void abandon() final { window_.broken = true; }
  void let_go() final { state_->windows().release(window_); }
  int lost() final {
    Window& core = *part_->bound->core;
    return lost_ ? core.epochs().lost_source(-1) : core.epochs().lost_peer();
  }

 protected:
  using Part = ReceiveWindow::Part;

  Error put_all(Window& core) const {
    for (const Operation& put : puts_) {
      if (const Outcome outcome = core.epochs().issue(put); !outcome.ok()) return outcome.error;
    }
    return Error::none;
  }
  /// Completes the flag of a call that was done at once.
  static void complete_if_done(Flag& flag, const Outcome& outcome) {
    if (outcome.done) flag.complete(outcome.error);
  }

 private:
  struct Copy {
    Packed from;
    Packed into;
  };

  static void carry_out(const std::vector<Copy>& copies) {
    for (const Copy& one : copies) copy(one.from, one.into);
  }
  /// Opens an epoch, puts, and begins to close it. After an error the window cannot be used again,
  /// because the epoch may have been opened and some puts issued.
  virtual Error begin(Part& part) = 0;
  virtual bool ended(Part& part) = 0;

  std::shared_ptr<CollectiveState> state_;
  ReceiveWindow& window_;
  Part* part_;
  std::vector<Operation> puts_;
  std::vector<Copy> saves_;    // at the start, before any data can arrive
  std::vector<Copy> copies_;   // after the puts have been issued
  std::vector<Copy> unpacks_;  // at the end, of blocks that were put packed
  bool unpacked_ = false;
  bool lost_ = false;  // an operation has found that a rank has ended
};

/// The paper's Algorithms 1 and 2: puts between two fences.
class FenceCollective final : public WindowCollective {
 public:
  using WindowCollective::WindowCollective;

 private:
  Error begin(Part& part) override {
    Window& core = *part.bound->core;
    Assert opens;
    opens.no_precede = true;
    if (const Outcome opened = core.epochs().fence(opens, false, nullptr); !opened.ok())
      return opened.error;
    const Error error = put_all(core);
    // Closed even after an error, because other ranks would wait for this one.
    Assert closes;
    closes.no_succeed = true;
    complete_if_done(part.closed, core.epochs().fence(closes, false, &part.closed));
    part.met.complete(Error::none);
    return error;
  }
  bool ended(Part& part) override { return part.closed.done(); }
};

/// The paper's Algorithm 3: puts in a lock_all epoch. Between these epochs each rank holds its own
/// lock exclusively. The algorithm's barrier is a fence, which the window enters after the epoch.
class LockCollective final : public WindowCollective {
 public:
  using WindowCollective::WindowCollective;

 private:
  Error begin(Part& part) override {
    Window& core = *part.bound->core;
    if (const Outcome unlocked = core.unlock(core.rank(), nullptr); !unlocked.ok()) {
      return unlocked.error;
    }
    // With no_threads, locks of the program do not wait for these locks (LockOrder).
    if (const Error error = core.lock_all(Assert(), no_threads); error != Error::none) return error;
    const Error error = put_all(core);
    complete_if_done(part.closed, core.unlock_all(&part.closed));
    Assert last;
    last.no_succeed = true;
    complete_if_done(part.met, core.epochs().fence(last, true, &part.met));
    return first_of(error, core.lock(true, core.rank(), Assert(), no_threads));
  }
  bool ended(Part& part) override {
    if (!part.closed.done() || !part.met.done()) return false;
    Window& core = *part.bound->core;
    return core.epochs().try_hold_lock(core.rank()) || part.met.error() != Error::none;
  }
};

}  // namespace

std::unique_ptr<CollectiveTask> make_window_collective(std::shared_ptr<CollectiveState> state,
                                                       ReceiveWindow& window, Schedule schedule,
                                                       const ReceiveArea& area,
                                                       const std::vector<Offer>& theirs,
                                                       bool far_first) {
  if (area.locks) {
    return std::make_unique<LockCollective>(std::move(state), window, std::move(schedule), area,
                                            theirs, far_first);
  }
  return std::make_unique<FenceCollective>(std::move(state), window, std::move(schedule), area,
                                           theirs, far_first);
}

}  // namespace oriel::mpi
