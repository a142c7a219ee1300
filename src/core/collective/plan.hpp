// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/work_list.hpp"
#include "core/collective/mapped_lanes.hpp"
#include "core/collective/packed.hpp"
#include "core/collective/plan_fault.hpp"
#include "core/collective/plan_progress.hpp"
#include "core/collective/remote_lanes.hpp"
#include "core/collective/schedule.hpp"

namespace oriel {

/// The terms that all ranks agree on when they make a plan, beside its transfers.
struct PlanTerms {
  /// 63 bits, the same on all ranks, whatever they mean to them.
  std::uint64_t signature = 0;
  /// The number of a fault that the caller has found with its arguments: all ranks learn of it. 0:
  /// none.
  int bad_arguments = 0;
  /// This rank can do with a choice of 0 alone.
  bool bound = false;
  /// Asked on rank 0, where no rank is bound, for what all ranks then find in Plan::choice(): by
  /// the bytes of the longest message that any of them sends, as far as longest_told tells them
  /// apart. Null: 0.
  std::function<std::uint8_t(std::uint64_t longest)> choose;

  static constexpr std::uint64_t longest_told = (std::uint64_t{1} << 30) - 1;
};

class PlanRegistry;

/// A persistent collective: one rank's schedule, with all that its transfers need agreed among the
/// ranks. Made by PlanRegistry, used any number of times: start() moves what can be moved, sweeps
/// move the rest (C1).
///
/// It is made in two rounds of the plan registry's exchange. First each rank announces a board with
/// a lane for each transfer that it expects from its node, and has told senders of other nodes what
/// there is space for. Then it looks at the lanes of those it sends to, leaves its part there, and
/// all hear what each has found.
class Plan : public WorkList<Plan>::Link {
 public:
  Plan(PlanRegistry& registry, std::uint64_t number, const Schedule& schedule,
       const PlanTerms& terms);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  std::uint64_t number() const { return number_; }

  /// Goes on with making it. True: it is over, and fault() says how, the same on all ranks.
  bool advance_making();
  const PlanFault& fault() const { return fault_; }
  /// Of one without a fault: what rank 0 has chosen by its terms, the same on all ranks.
  std::uint8_t choice() const { return choice_; }

  /// Begins a use of one that is made and not in use. Tells the completion, perhaps before it
  /// returns.
  void start(Completion& completion);
  bool active() const { return progress_.active; }
  /// What went wrong in the last use, if anything. Another one is as good as ever.
  const PlanFailure& failure() const { return progress_.failure; }
  /// It is in use and not wanted any more: nobody is told.
  void abandon();
  /// A rank that the present use waits for and that has ended; -1: none.
  int lost_peer() const;

  // For its plan registry.
  bool advance();
  bool take(const Message& message, std::span<const std::byte> payload);

 private:
  enum class Stage : std::uint8_t { announced, judged, over };

  struct Copy {
    Packed from;
    Packed into;
    int step;
  };

  void announce(std::uint64_t longest);
  void judge();
  PlanFault look_at(int receiver);
  PlanFault check_copies() const;
  void agree();
  void begin(int step);
  void carry_out(int step);
  bool step_over() const;
  bool may_begin(int step) const;

  PlanRegistry& registry_;
  std::uint64_t number_;
  PlanTerms terms_;
  Stage stage_ = Stage::announced;
  PlanFault fault_;
  std::uint8_t choice_ = 0;
  PlanProgress progress_;
  MappedLanes mapped_;
  RemoteLanes remote_;
  std::vector<Copy> copies_;                         // by step
  std::vector<Schedule::Combination> combinations_;  // by step
  std::shared_ptr<OwnOp> own_op_;                    // null: the reductions say what they do
  std::vector<std::uint32_t> receives_;              // by step, in each use
  bool needs_all_ = false;
  int steps_ = 1;
  int step_ = 0;  // the last one that has begun
  // Behind what has been carried out in this use.
  std::size_t next_copy_ = 0;
  std::size_t next_combination_ = 0;
  std::byte* board_ = nullptr;
  Completion* completion_ = nullptr;
};

}  // namespace oriel
