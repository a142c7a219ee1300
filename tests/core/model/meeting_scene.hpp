// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "core/collective/board.hpp"
#include "scenarios.hpp"

namespace oriel::model {

/// How the two sides of a transfer between mapped ranks wait, the sender first. What they do to the
/// words is what MappedLanes does.
class LaneScene : public Scene {
 protected:
  /// `sleep`: they do, at their doorbells; else they look until the other one has died.
  LaneScene(int uses, int pieces, bool sleep);

  int ranks() const override { return 2; }
  void name_words(Programs& programs) override;
  std::string check_end(State& state, Programs& programs) override;

  void wake(int rank);
  /// Looks until look() is true. False: the other one is dead.
  template <typename Look>
  bool await(int rank, Look&& look);

  std::uint64_t uses_;
  std::uint64_t pieces_;  // of one use
  bool sleep_;
  std::array<BasicDoorbell<Words>, 2> bells_;
  std::deque<Sharers> sharers_;
};

/// A long transfer, by one copy from buffer to buffer.
class MeetingScene final : public LaneScene {
 public:
  enum class Movers : std::uint8_t { both, sender, receiver };
  /// `failing`: the last piece cannot be moved.
  MeetingScene(int uses, int pieces, Movers movers, bool sleep, bool failing = false);

  std::string description() const override;

 private:
  static constexpr std::size_t most_pieces = 4;

  void name_words(Programs& programs) override;
  void play(int rank) override;
  void begin(int rank, std::uint64_t use);
  void leave_times(int rank, std::uint64_t use);
  /// True: all pieces have been moved.
  bool move(int rank, std::uint64_t use);
  void end(int rank, std::uint64_t use);
  bool moves(int rank) const;
  bool fails(std::uint64_t use, std::uint64_t piece) const;

  Movers movers_;
  bool failing_;
  BasicMeeting<Words> meeting_;
  std::array<Plain<std::uint32_t>, most_pieces> source_;
  std::array<Plain<std::uint32_t>, most_pieces> destination_;
  std::array<Plain<std::uint32_t>, most_pieces> taken_in_;  // the last use
  /// What each side leaves before it arrives for the last use, as a CopyTrial does.
  std::array<Plain<std::uint32_t>, 2> times_;
};

/// A short transfer, or one in pieces, by cells.
class CellScene final : public LaneScene {
 public:
  CellScene(int uses, int pieces, bool sleep);

  std::string description() const override;

 private:
  static constexpr std::uint64_t cells = 2;  // as a Lane has

  void name_words(Programs& programs) override;
  void play(int rank) override;
  bool push(std::uint64_t turn, bool& lies);
  bool pull(std::uint64_t turn);

  std::array<BasicCell<Words>, cells> cells_;
  std::array<Plain<std::uint32_t>, cells> bytes_;
};

}  // namespace oriel::model
