// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/limits.hpp"
#include "core/collective/board.hpp"
#include "core/collective/packed.hpp"
#include "core/collective/plan_fault.hpp"
#include "core/collective/plan_progress.hpp"
#include "core/collective/schedule.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// A plan's transfers from and to mapped ranks: short ones by cells, long ones straight from buffer
/// to buffer, by whichever side comes second or has nothing else to do.
class MappedLanes {
 public:
  MappedLanes(Region& region, NodeServices& services, const Limits& limits,
              const Schedule& schedule, PlanProgress& progress);

  /// What is kept of each transfer.
  static constexpr std::uint64_t bytes_of_send() { return sizeof(Side); }
  static constexpr std::uint64_t bytes_of_receive() { return sizeof(Receive); }

  // While the plan is made.
  std::uint64_t board_bytes() const;
  /// There is no memory for so much: less will do.
  void save_memory() { shape_cells(CellShapes::Number::fewest); }
  /// Into so much zeroed memory that peers can map.
  void lay_out(std::byte* board);
  /// Mapped ranks from which we receive: who is among them looks at our board.
  std::size_t senders() const { return senders_; }
  /// Finds our lanes in the board of a mapped rank; null: it has none. Asked for each.
  PlanFault find_lanes(int receiver, Board* board);
  /// All ranks have agreed: what senders have said in our board is there.
  void finalize();
  void count_receives(std::vector<std::uint32_t>& by_step) const;

  /// We do not look at the boards of receivers any more, which are still there.
  void leave();

  // In each use.
  void start();
  void begin_sends(int step);
  /// True: something has moved, if only a piece. A sleeper then begins its rest anew, with another
  /// fence, on which pull_staged() relies.
  bool advance();
  /// A rank that a pending transfer waits for and that has ended; -1: none.
  int lost_peer() const;
  /// Nobody waits for it any more.
  void abandon();

 private:
  struct Side {
    Side(Region& region, NodeServices& services, int to_or_from, const Stretch& stretch,
         int at_step);
    /// Our buffer, as the other side reads of it in the lane.
    LaneSide lane_side() const;

    Packed packed;
    Lane* lane = nullptr;
    int rank = 0;
    int process = 0;
    int step = 0;
    CopyMethod way = CopyMethod::staged;  // in this use
    bool tried = false;                   // the ways still are
    bool stale = false;                   // what is sent in this use is not what it should be
    bool moves = false;                   // we can move fragments of one that goes by one copy
    bool met = false;                     // of such a one: in this use
    Error error = Error::none;            // of a piece of it that we have moved in this use
    std::byte* other = nullptr;           // the other side's buffer, where it is mapped
    std::uint64_t address = 0;            // and in its process
    std::uint64_t bytes = 0;              // that are sent
    std::uint64_t done = 0;               // of a staged one: in this use
    std::uint64_t turn = 0;               // number of the next cell
    std::uint64_t piece = 0;              // what is moved at once of such a one,
    std::uint64_t pieces = 0;             // of which it has so many
    std::uint64_t unmet = 0;              // uses, the first ones, without a meeting
    ArenaLocation location;               // where peers can map all of our buffer
    CopyTrial trial;
  };
  struct Receive : Side {
    using Side::Side;
    CellShape cells;
  };

  /// Counts the time of a copy for a transfer whose ways are tried.
  class Timed {
   public:
    Timed(NodeServices& services, Side& side)
        : services_(services), side_(side), begin_(side.tried ? services.nanoseconds() : 0) {}
    ~Timed() {
      if (side_.tried) side_.trial.spend(services_.nanoseconds() - begin_);
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

   private:
    NodeServices& services_;
    Side& side_;
    std::uint64_t begin_;
  };

  PlanFault match(Side& send, Lane* lane);
  LaneProtocol way_of(const Side& send, const Lane& lane) const;
  void shape_cells(CellShapes::Number number);
  void take_way(Side& side, LaneProtocol way, const LaneSide& other);
  void begin(Side& side, LaneSide& own);
  void end(Side& side);
  bool push_staged(Side& send);
  bool pull_staged(Receive& receive);
  void arrive(Side& side);
  template <bool sends>
  bool move_by_one_copy(Side& side);
  template <bool sends>
  Error move_piece(Side& side, std::uint64_t first, std::uint64_t bytes) const;
  template <bool sends>
  bool advance_one_copy(Side& side);
  /// The uses of a transfer that have had a meeting, this one too.
  std::uint64_t meetings(const Side& side) const { return progress_.use - side.unmet; }

  Region& region_;
  NodeServices& services_;
  const Limits& limits_;
  PlanProgress& progress_;
  std::vector<Side> sends_;  // by step
  std::vector<Receive> receives_;
  std::vector<Board*> boards_;  // of others, that we look at
  std::size_t senders_ = 0;
  std::vector<std::uint32_t> by_receiver_;  // sends_, while the plan is made
  std::size_t next_send_ = 0;               // of the next step, in this use
  std::vector<std::uint32_t> sending_;      // of sends_: begun and not over
  std::vector<std::uint32_t> receiving_;    // likewise of receives_
  bool moved_ = false;                      // something, in this call of advance()
};

}  // namespace oriel
