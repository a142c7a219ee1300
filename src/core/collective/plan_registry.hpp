// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/limits.hpp"
#include "core/base/work_list.hpp"
#include "core/collective/plan.hpp"
#include "core/collective/plan_write.hpp"
#include "core/epoch/events.hpp"
#include "core/epoch/sweep_work.hpp"
#include "core/remote/exchange.hpp"
#include "core/remote/outbox.hpp"

namespace oriel {

/// The persistent collectives of a window, as one rank has them: its plans, and the boards that
/// plans leave behind for later ones. Plans have numbers in the order in which all ranks make them.
class PlanRegistry {
 public:
  /// `sender`: null where all ranks are mapped.
  PlanRegistry(SweepWork& work, const WindowEvents& events, Region& region, Transport& transport,
               const Limits& limits, Outbox& outbox, Sender* sender, PlanWrites& writes,
               Exchange& exchange);
  ~PlanRegistry();
  PlanRegistry(const PlanRegistry&) = delete;
  PlanRegistry& operator=(const PlanRegistry&) = delete;

  /// Begins to ask where the ranks are, once in a plan registry's life and before schedules that
  /// depend on it; all ranks do. Not while a plan is being made.
  void ask_nodes();
  /// True: all have told, and nodes() says by rank which node it is on: of its lowest rank the
  /// number.
  bool nodes_known();
  std::span<const int> nodes() const { return nodes_; }

  /// Begins to make a plan, one at a time; all ranks do.
  Plan& make(const Schedule& schedule, const PlanTerms& terms = {});
  /// Not while it is being made.
  void free(Plan& plan);
  std::size_t plans() const { return plans_.size(); }
  /// Boards that are in use, or that others look at still.
  std::size_t boards() const;
  /// How what is received from mapped ranks is copied from now on: see the like in Limits. Ranks
  /// need not agree.
  struct Copies {
    std::uint64_t staged;
    std::uint64_t shared_fragment;
    bool staged_pipelines;
  };
  void set_copies(const Copies& copies) {
    limits_.staged = copies.staged;
    limits_.shared_fragment = copies.shared_fragment;
    limits_.staged_pipelines = copies.staged_pipelines;
  }

  bool sweep();
  /// Takes a message of a remote rank. False: no such message can be; nothing has been changed.
  bool take(const Message& message, std::span<const std::byte> payload);

  // For its plans.
  Region& region() { return region_; }
  Transport& transport() { return transport_; }
  const Limits& limits() const { return limits_; }
  Sender* sender() { return sender_; }
  PlanWrites& writes() { return writes_; }
  Exchange& exchange() { return exchange_; }
  const WindowEvents& events() const { return events_; }
  /// All ranks are through with the window, and perhaps not there any more.
  bool ending() const { return ending_; }
  void push() { outbox_.push(); }
  void begin_work(Plan& plan);
  void end_work(Plan& plan);
  /// Memory for a board, which may have been another one. Null: there is none.
  std::byte* take_board(std::uint64_t bytes, ArenaLocation& place);
  /// So many ranks look at it until they have left.
  void leave_board(std::byte* board, std::size_t lookers);

 private:
  struct SharedBoard {
    std::byte* memory = nullptr;
    std::uint64_t bytes = 0;
    ArenaLocation place;
    bool used = true;
    std::size_t lookers = 0;  // of one that is not used

    /// Its plan is gone, at all ranks.
    bool idle() const;
  };
  struct Early {
    Message message;
    std::vector<std::byte> payload;
  };

  /// Messages for the plan that is being made have come before it.
  void hand_early(Plan& plan);
  void give_back_boards();

  /// For a program that makes and frees plans in a loop: their pages are there already.
  static constexpr std::size_t most_idle = 4;

  Plan* find(std::uint64_t number);

  SweepWork& work_;
  const WindowEvents& events_;
  Region& region_;
  Transport& transport_;
  Limits limits_;
  Outbox& outbox_;
  Sender* sender_;
  PlanWrites& writes_;
  Exchange& exchange_;
  std::vector<int> nodes_;  // by rank, once it is known
  bool ending_ = false;
  std::uint64_t made_ = 0;                    // plans so far
  std::vector<std::unique_ptr<Plan>> plans_;  // by number
  WorkList<Plan> at_work_;
  std::vector<SharedBoard> boards_;
  std::vector<Early> early_;
};

}  // namespace oriel
