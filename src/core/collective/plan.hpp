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
#include "core/collective/plan_progress.hpp"
#include "core/collective/remote_lanes.hpp"
#include "core/collective/schedule.hpp"

namespace oriel {

/// The terms on which all ranks agree when they make a plan, besides its transfers.
struct PlanTerms {
  /// 63 bits that must be equal on all ranks. Only the callers know their meaning.
  std::uint64_t signature = 0;
  /// The number of an error in the caller's arguments, which is reported to all ranks. 0: none.
  int bad_arguments = 0;
  /// This rank accepts only choice 0.
  bool bound = false;
  /// Called on rank 0 if no rank is `bound`; null: the choice is 0. Its result is Plan::choice() on
  /// all ranks. `longest`: bytes of the longest message that any rank sends, at most
  /// longest_announced.
  std::function<std::uint8_t(std::uint64_t longest)> choose;

  static constexpr std::uint64_t longest_announced = (std::uint64_t{1} << 30) - 1;
};

class PlanRegistry;
struct PlanResources;

/// A persistent collective: one rank's schedule, with everything that its transfers need agreed
/// among the ranks. PlanRegistry makes it. It is used any number of times: start() moves the data
/// that can be moved at once, sweeps move the rest (C1).
///
/// It is made in two rounds of the plan registry's exchange:
///   1. Each rank announces a board, with a lane for each transfer that it expects from its node.
///      Before that it has sent senders of other nodes the space of their transfers.
///   2. Each rank finds its lanes on the boards of its receivers, writes its part into them, and
///      announces the fault that it has found, or none.
class Plan : public WorkList<Plan>::Listed {
 public:
  Plan(PlanRegistry& registry, std::uint64_t number, const Schedule& schedule,
       const PlanTerms& terms);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  std::uint64_t number() const { return number_; }

  /// Continues making the plan. True if that is over; fault() is then the result, the same on all
  /// ranks.
  bool advance_making();
  const PlanFault& fault() const { return fault_; }
  /// The choice that rank 0 has made by its terms, the same on all ranks. Only without a fault.
  std::uint8_t choice() const { return choice_; }

  /// Begins a use. The plan has been made and is not in use. The completion may be called before
  /// start() returns.
  void start(Completion& completion);
  bool active() const { return progress_.active; }
  /// The failure of the last use, if any. It does not affect the next use.
  const PlanFailure& failure() const { return progress_.failure; }
  /// Ends the present use without calling its completion.
  void abandon();
  /// A rank that has ended and that the present use waits for; -1: none.
  int lost_peer() const;

  // Called by the plan registry:
  bool advance();
  bool receive(const Message& message, std::span<const std::byte> payload);

 private:
  enum class Stage : std::uint8_t { announced, judged, over };

  struct Copy {
    Packed from;
    Packed into;
    int step;
  };

  void announce(std::uint64_t longest);
  void judge();
  PlanFault find_lanes_of(int receiver);
  PlanFault check_copies() const;
  void agree();
  void begin(int step);
  void carry_out(int step);
  bool step_over() const;
  bool may_begin(int step) const;

  PlanRegistry& registry_;
  const PlanResources& resources_;  // of the registry
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
  std::shared_ptr<OwnOp> own_op_;                    // null: the combinations use their reductions
  std::vector<std::uint32_t> receives_;              // the number of receives in each use, by step
  bool needs_all_ = false;
  int steps_ = 1;
  int step_ = 0;  // the last step that has begun
  // The next copy and combination to be carried out in this use.
  std::size_t next_copy_ = 0;
  std::size_t next_combination_ = 0;
  std::byte* board_ = nullptr;
  Completion* completion_ = nullptr;
};

}  // namespace oriel
