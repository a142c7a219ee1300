// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/limits.hpp"
#include "core/collective/plan.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/node_map.hpp"
#include "engine/tuning/exchange_times.hpp"
#include "mpi/collectives/alltoallv_arguments.hpp"
#include "mpi/collectives/collective_request.hpp"
#include "mpi/collectives/collective_state.hpp"
#include "mpi/collectives/plan_window.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The failure of a rank that has no memory for its schedule.
inline constexpr Failure no_memory{MPI_ERR_NO_MEM,
                                   "there is no memory for what it keeps of the blocks"};

enum class CollectiveKind : std::uint8_t {
  alltoallv,
  alltoall,
  alltoallw,
  allgatherv,
  bcast,
  reduce,
  neighbor_alltoallv
};

/// The values that must be equal on all ranks that make a collective, as 63 bits: its kind, the
/// value of the info key, the root, and a hash of sizes and ops.
class Signature {
 public:
  Signature(CollectiveKind kind, Algorithm algorithm)
      : word_(static_cast<std::uint64_t>(kind) << kind_shift | static_cast<std::uint64_t>(algorithm)
                                                                   << algorithm_shift) {}
  explicit Signature(std::uint64_t word) : word_(word) {}

  Signature& with_root(int root) {
    word_ |= (static_cast<std::uint64_t>(root) & root_mask) << root_shift;
    return *this;
  }
  Signature& with(std::uint64_t value) {
    std::uint64_t hash = (word_ & hash_mask) ^ value;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15;
    word_ = (word_ & ~hash_mask) | hash >> 32;
    return *this;
  }

  std::uint64_t word() const { return word_; }
  CollectiveKind kind() const { return static_cast<CollectiveKind>(word_ >> kind_shift); }
  int root() const { return static_cast<int>(word_ >> root_shift & root_mask); }
  /// Returns whether the kind and the value of the info key are equal.
  bool same_way(const Signature& other) const {
    return word_ >> algorithm_shift == other.word_ >> algorithm_shift;
  }

 private:
  static constexpr unsigned root_shift = 32;
  static constexpr unsigned algorithm_shift = 56;
  static constexpr unsigned kind_shift = 59;
  static_assert(static_cast<unsigned>(Algorithm::automatic) < 1U << (kind_shift - algorithm_shift),
                "the last algorithm has to fit in front of the kind");
  static constexpr std::uint64_t hash_mask = 0xffffffff;
  static constexpr std::uint64_t root_mask = 0xffffff;

  std::uint64_t word_;
};

/// Makes a plan in an open plan window. All ranks call this, and all raise the same fault. `own`:
/// the fault of this rank's arguments, if any; `signature`: the values that must be equal on all
/// ranks; `terms`: the other terms of the plan.
int make_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, const Schedule& schedule,
              const Signature& signature, const Failure& own, Plan*& made, PlanTerms terms = {});

/// Makes the plan of an alltoallv that gathers short blocks between nodes. All ranks call this,
/// after they have made the plan of the same alltoallv without gathering, which has checked that
/// sends and receives match. The ranks first exchange the lengths, by a plan that is used once.
///
/// `made`: the schedule; its memory must live as long as the plan.
int make_gathered_plan(const char* call, MPI_Comm communicator, PlanWindow& plans, int rank,
                       const AlltoallvBuffers& buffers, bool in_place, MadeSchedule& made,
                       Plan*& plan);

/// A collective by a plan of the core. Each transfer notifies its receiver, and no rank waits for
/// all others.
class PlanCollective final : public CollectiveTask {
 public:
  PlanCollective(std::shared_ptr<CollectiveState> state, Plan& plan)
      : state_(std::move(state)), plan_(plan) {}

  Failure start() override;
  bool done() override { return completion_.done() && !lost_somebody(); }
  Failure outcome() const override;
  void abandon() override { plan_.abandon(); }
  bool may_start_again() const override { return completion_.done() && !lost_somebody(); }
  void let_go() override { state_->plan_window().free(plan_); }
  int lost() override { return lost_somebody() ? plan_.failure().rank : plan_.lost_peer(); }

 private:
  /// True if all transfers are over and one of them has found that its peer has ended. done() is
  /// false then, so that the next check for lost ranks, which calls lost(), reports that rank.
  bool lost_somebody() const {
    return completion_.done() && completion_.error() == Error::peer_lost;
  }

  std::shared_ptr<CollectiveState> state_;
  Plan& plan_;
  Flag completion_;
};

/// One rank's part of a persistent collective that only a plan can carry out.
class Planned {
 public:
  Planned() = default;
  virtual ~Planned() = default;
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;

  virtual CollectiveKind kind() const = 0;
  /// Reads and checks the arguments. With the process lock.
  virtual Failure read_arguments() = 0;
  // Only if read_arguments() has succeeded:
  /// Adds to the signature the values that must be equal on all ranks.
  virtual void add_to(Signature&) const {}
  /// Throws std::bad_alloc.
  virtual MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) = 0;
};

/// Makes the request of the collective. All ranks call this, and all raise the same fault.
int make_planned(const char* call, Planned& planned, MPI_Comm communicator, int rank, MPI_Info info,
                 MPI_Request* request);

}  // namespace oriel::mpi
