// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/limits.hpp"
#include "core/collective/board.hpp"
#include "core/collective/packed.hpp"
#include "core/collective/plan_progress.hpp"
#include "core/collective/schedule.hpp"
#include "core/region/region.hpp"

namespace oriel {

/// A plan's transfers from and to mapped ranks. Short messages go through cells. Long ones are
/// copied directly from buffer to buffer, by the side that arrives second and by a side that waits.
class MappedLanes {
 public:
  MappedLanes(Region& region, NodeServices& services, const Limits& limits,
              const Schedule& schedule, PlanProgress& progress);

  /// Bytes that this object keeps of each transfer.
  static constexpr std::uint64_t bytes_of_send() { return sizeof(Side); }
  static constexpr std::uint64_t bytes_of_receive() { return sizeof(Receive); }

  // While the plan is made.
  std::uint64_t board_bytes() const;
  /// Reduces the cells to the fewest possible, where memory for the usual ones is not available.
  void save_memory() { shape_cells(CellShapes::Number::fewest); }
  /// Builds the board in `board_bytes()` bytes of zeroed memory that peers can map.
  void lay_out(std::byte* board);
  /// The number of mapped ranks that this rank receives from. They use our board.
  std::size_t senders() const { return senders_; }
  /// Finds this rank's lanes on the board of a mapped rank; null: that rank has no board. Called
  /// once for each mapped rank.
  PlanFault find_lanes(int receiver, Board* board);
  /// Called when all ranks have agreed: the senders have written their parts of our lanes.
  void finalize();
  void count_receives(std::vector<std::uint32_t>& by_step) const;

  /// Counts this rank out of its receivers' boards, which still exist.
  void depart();

  // In each use.
  void start();
  void begin_sends(int step);
  /// True if at least one piece has moved. A caller that was about to sleep then repeats the fence
  /// before its sleep; pull_staged() relies on that.
  bool advance();
  /// A rank that has ended and that a pending transfer waits for; -1: none.
  int lost_peer() const;
  /// Drops the pending transfers of a use that is abandoned.
  void abandon();

 private:
  struct Side {
    Side(Region& region, NodeServices& services, int to_or_from, const Stretch& stretch,
         int at_step);
    /// The description of our buffer that the other side reads in the lane.
    LaneSide lane_side() const;

    Packed packed;
    Lane* lane = nullptr;
    int rank = 0;
    int process = 0;
    int step = 0;
    CopyMethod way = CopyMethod::staged;  // in this use
    bool tried = false;                   // the methods are still being tried
    bool stale = false;                   // the data sent in this use are invalid
    bool moves = false;          // this side can move fragments of a message that moves by one copy
    bool met = false;            // by one copy: both sides have met in this use
    Error error = Error::none;   // by one copy: of a piece that this side has moved in this use
    std::byte* other = nullptr;  // the other side's buffer, if it is mapped
    std::uint64_t address = 0;   // the other side's buffer's address in its process
    std::uint64_t bytes = 0;     // that the sender sends
    std::uint64_t done = 0;      // through cells: bytes moved in this use
    std::uint64_t turn = 0;      // number of the next cell
    std::uint64_t piece = 0;     // by one copy: bytes of a fragment
    std::uint64_t pieces = 0;    // by one copy: the number of fragments
    std::uint64_t unmet = 0;     // the number of first uses that have no meeting
    ArenaLocation location;      // of our buffer, if peers can map all of it
    CopyTrial trial;
  };
  struct Receive : Side {
    using Side::Side;
    CellShape cells;
  };

  /// Measures the time of a copy for a transfer whose methods are being tried.
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
  void set_way(Side& side, LaneProtocol way, const LaneSide& other);
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
  /// The number of uses of a transfer that have had a meeting, including the present one.
  std::uint64_t meetings(const Side& side) const { return progress_.use - side.unmet; }

  Region& region_;
  NodeServices& services_;
  const Limits& limits_;
  PlanProgress& progress_;
  std::vector<Side> sends_;  // by step
  std::vector<Receive> receives_;
  std::vector<Board*> boards_;  // of receivers in which this rank has lanes
  std::size_t senders_ = 0;
  std::vector<std::uint32_t> by_receiver_;  // indices of sends_, while the plan is made
  std::size_t next_send_ = 0;               // index of the next send to begin in this use
  std::vector<std::uint32_t> sending_;      // indices of sends_ that have begun and are not over
  std::vector<std::uint32_t> receiving_;    // indices of receives_ that are not over in this use
  bool moved_ = false;                      // this call of advance() has moved a piece
};

}  // namespace oriel
