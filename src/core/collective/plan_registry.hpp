// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/limits.hpp"
#include "core/base/work_list.hpp"
#include "core/collective/plan.hpp"
#include "core/epoch/events.hpp"
#include "core/remote/exchange.hpp"
#include "core/remote/outbox.hpp"

namespace oriel {

/// The parts of a window that its plans use.
struct PlanResources {
  const WindowEvents& events;
  Region& region;
  Transport& transport;
  Limits limits;
  Sender* sender;  // null: all ranks are mapped
  PlanWrites& writes;
  Exchange& exchange;
};

/// One rank's persistent collectives of a window: its plans, and the boards of freed plans, which
/// later plans reuse. Plans are numbered in the order in which all ranks make them.
class PlanRegistry {
 public:
  PlanRegistry(SweepWork& work, const PlanResources& resources)
      : work_(work), resources_(resources) {}
  ~PlanRegistry();
  PlanRegistry(const PlanRegistry&) = delete;
  PlanRegistry& operator=(const PlanRegistry&) = delete;

  /// Begins the round in which ranks announce their nodes. All ranks call this, once in the life of
  /// a plan registry, before they make schedules that depend on nodes, and not while a plan is
  /// being made.
  void ask_nodes();
  /// True if all ranks have announced their nodes. nodes() then has each rank's node, by rank: the
  /// number of the node's lowest rank.
  bool nodes_known();
  std::span<const int> nodes() const { return nodes_; }

  /// Begins to make a plan. All ranks call this, for one plan at a time.
  Plan& make(const Schedule& schedule, const PlanTerms& terms = {});
  /// Frees a plan that is not being made.
  void free(Plan& plan);
  std::size_t plans() const { return plans_.size(); }
  /// The number of boards that a plan of this rank or another rank still uses.
  std::size_t boards() const;
  /// The members of Limits with these names, which determine how data from mapped ranks are copied.
  /// set_copies() replaces them for the plans that are made from then on. Ranks may have different
  /// values.
  struct Copies {
    std::uint64_t staged;
    std::uint64_t shared_fragment;
    bool staged_pipelines;
  };
  const Limits& limits() const { return resources_.limits; }
  void set_copies(const Copies& copies) {
    resources_.limits.staged = copies.staged;
    resources_.limits.shared_fragment = copies.shared_fragment;
    resources_.limits.staged_pipelines = copies.staged_pipelines;
  }

  bool sweep();
  /// Receives a message of a remote rank. False if the message is invalid; nothing has been changed
  /// then.
  bool receive(const Message& message, std::span<const std::byte> payload);

  // Called by the plans:
  const PlanResources& resources() const { return resources_; }
  /// True if all ranks have left the window, so that other ranks may have ended.
  bool ending() const { return ending_; }
  /// Sends the messages that wait to be sent with others.
  void push() {
    if (resources_.sender != nullptr) resources_.sender->push(true);
  }
  void begin_work(Plan& plan);
  void end_work(Plan& plan);
  /// Memory for a board, perhaps that of an earlier one. Null: none is available.
  std::byte* allocate_board(std::uint64_t bytes, ArenaLocation& location);
  /// Frees a board. Its memory may be reused after `users` ranks have left it (Board::departed).
  void release_board(std::byte* board, std::size_t users);

 private:
  struct SharedBoard {
    std::byte* memory = nullptr;
    std::uint64_t bytes = 0;
    ArenaLocation location;
    bool used = true;
    std::size_t users = 0;  // of a freed board: the number of other ranks that have used it

    /// Returns whether all ranks that have used the board have freed its plan.
    bool idle() const;
  };
  struct Early {
    Message message;
    std::vector<std::byte> payload;
  };

  /// Gives a new plan the messages that have arrived before it was made.
  void deliver_early(Plan& plan);
  void unshare_boards();

  /// The number of idle boards that are kept: a program that makes and frees plans in a loop reuses
  /// their pages.
  static constexpr std::size_t most_idle = 4;

  Plan* find(std::uint64_t number);

  SweepWork& work_;
  PlanResources resources_;
  std::vector<int> nodes_;  // by rank; empty until the nodes are known
  bool ending_ = false;
  std::uint64_t made_ = 0;                    // number of plans made so far
  std::vector<std::unique_ptr<Plan>> plans_;  // by number
  WorkList<Plan> at_work_;
  std::vector<SharedBoard> boards_;
  std::vector<Early> early_;
};

}  // namespace oriel
