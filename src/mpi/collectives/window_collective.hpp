// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/collective/packed.hpp"
#include "core/collective/schedule.hpp"
#include "mpi/collectives/agreement.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/collective_state.hpp"
#include "mpi/collectives/receive_windows.hpp"

namespace oriel::mpi {

/// A collective by puts into a window on the receive buffers. The derived classes open and close
/// the epochs. All calls are nonblocking, and the window carries them out in their order.
class WindowCollective : public CollectiveTask {
 public:
  /// `theirs`: the other ranks' offers, with the places in their windows for this rank's blocks.
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
  /// Completes the flag of a call that was done at once.
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
  Error begin(Part& part) override;
  bool ended(Part& part) override;
};

/// The paper's Algorithm 3: puts in a lock_all epoch. Between these epochs each rank holds its own
/// lock exclusively. The algorithm's barrier is a fence, which the window enters after the epoch.
class LockCollective final : public WindowCollective {
 public:
  using WindowCollective::WindowCollective;

 private:
  Error begin(Part& part) override;
  bool ended(Part& part) override;
};

}  // namespace oriel::mpi
