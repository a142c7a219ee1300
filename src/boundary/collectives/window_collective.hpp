// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "boundary/collectives/agreement.hpp"
#include "boundary/collectives/collective_state.hpp"
#include "boundary/collectives/collective_task.hpp"
#include "boundary/collectives/receive_windows.hpp"
#include "core/collective/packed.hpp"
#include "core/collective/schedule.hpp"

namespace oriel::boundary {

/// A collective by puts into a window on the receive buffers. How an epoch is opened and closed is
/// that of the algorithm; all calls are nonblocking, and the window carries them out in their
/// order.
class WindowCollective : public CollectiveTask {
 public:
  /// `theirs`: where in the others' windows what we send belongs.
  WindowCollective(std::shared_ptr<CollectiveState> state, ReceiveWindow& window, Schedule schedule,
                   const ReceiveArea& area, const std::vector<Offer>& theirs, bool far_first);

  Failure start() final;
  bool done() final;
  Failure outcome() const final;
  void abandon() final { window_.broken = true; }
  void let_go() final { state_->windows().give_back(window_); }
  int lost() final;

 protected:
  using Part = ReceiveWindow::Part;

  Error put_all(Window& core) const;
  /// Where a call has not waited, its flag is told.
  static void note(Flag& flag, const Outcome& outcome) {
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
  /// Opens an epoch, puts, and begins to close it. An error means that nothing has been begun.
  virtual Error begin(Part& part) = 0;
  virtual bool ended(Part& part) = 0;

  std::shared_ptr<CollectiveState> state_;
  ReceiveWindow& window_;
  Part* part_;
  std::vector<Operation> puts_;
  std::vector<Copy> saves_;    // at the start, before anything can arrive
  std::vector<Copy> copies_;   // behind it
  std::vector<Copy> unpacks_;  // at the end, of what came packed
  bool unpacked_ = false;
  bool lost_ = false;  // a rank that has ended was met
};

/// The paper's Algorithms 1 and 2: puts between two fences.
class FenceCollective final : public WindowCollective {
 public:
  using WindowCollective::WindowCollective;

 private:
  Error begin(Part& part) override;
  bool ended(Part& part) override;
};

/// The paper's Algorithm 3: puts in a lock_all epoch, between which each rank holds its own lock
/// exclusively. Its barrier is a fence, which follows the epoch by itself.
class LockCollective final : public WindowCollective {
 public:
  using WindowCollective::WindowCollective;

 private:
  Error begin(Part& part) override;
  bool ended(Part& part) override;
};

}  // namespace oriel::boundary
