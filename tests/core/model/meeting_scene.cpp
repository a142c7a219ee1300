// SPDX-License-Identifier: BSD-3-Clause
#include "meeting_scene.hpp"

namespace oriel::model {
namespace {

constexpr int sender = 0;
constexpr int receiver = 1;

std::string of(const char* name, std::uint64_t i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
}

std::uint32_t content(std::uint64_t use, std::uint64_t piece) {
  return static_cast<std::uint32_t>(use << 8 | (piece + 1));
}

}  // namespace

LaneScene::LaneScene(int uses, int pieces, bool sleep)
    : uses_(static_cast<std::uint64_t>(uses)),
      pieces_(static_cast<std::uint64_t>(pieces)),
      sleep_(sleep) {
  for (int rank = 0; rank < 2; ++rank) sharers_.emplace_back(rank, true);
}

void LaneScene::name_words(Programs& programs) {
  for (std::size_t rank = 0; rank < bells_.size(); ++rank) {
    bells_[rank].sleeping.name(programs, of("sleeping", rank));
    bells_[rank].rings.name(programs, of("rings", rank));
  }
}

void LaneScene::wake(int rank) {
  BasicDoorbell<Words>& bell = bells_[static_cast<std::size_t>(rank)];
  if (!sleep_ || !bell.asked_to_ring()) return;
  bell.ring();
  bell.rings.wake();
}

template <typename Look>
bool LaneScene::await(int rank, Look&& look) {
  if (!sleep_) {
    for (const Loop loop; !look(); loop.again()) {
      if (!sharers_[static_cast<std::size_t>(rank)].alive(static_cast<std::uint32_t>(1 - rank))) {
        return false;
      }
    }
    return true;
  }
  if (look()) return true;
  BasicDoorbell<Words>& bell = bells_[static_cast<std::size_t>(rank)];
  bell.lie_down();
  sharers_[static_cast<std::size_t>(rank)].fence();
  for (const Loop loop;; loop.again()) {
    const std::uint32_t heard = bell.read_rings();
    if (look()) break;
    bell.rings.sleep_while(heard);
  }
  bell.rise();
  return true;
}

std::string LaneScene::check_end(State& state, Programs& programs) {
  for (const auto& bell : bells_) {
    if (state.latest(programs.atomic(&bell.sleeping)) != 0) return "somebody still sleeps";
  }
  return {};
}

MeetingScene::MeetingScene(int uses, int pieces, Movers movers, bool sleep, bool failing)
    : LaneScene(uses, pieces, sleep), movers_(movers), failing_(failing) {}

std::string MeetingScene::description() const {
  return "meeting: uses " + std::to_string(uses_) + ", pieces " + std::to_string(pieces_) +
         (movers_ == Movers::both     ? ""
          : movers_ == Movers::sender ? ", sender moves"
                                      : ", receiver moves") +
         (sleep_ ? ", asleep" : "") + (failing_ ? ", one fails" : "");
}

void MeetingScene::name_words(Programs& programs) {
  LaneScene::name_words(programs);
  meeting_.for_words([&](const auto& word, const char* name) { word.name(programs, name); });
  for (std::size_t piece = 0; piece < pieces_; ++piece) {
    source_[piece].name(programs, of("source", piece));
    destination_[piece].name(programs, of("destination", piece));
    taken_in_[piece].name(programs, of("taken in", piece));
  }
  for (std::size_t rank = 0; rank < times_.size(); ++rank) {
    times_[rank].name(programs, of("times", rank));
  }
}

bool MeetingScene::moves(int rank) const {
  return movers_ == Movers::both || (movers_ == Movers::sender) == (rank == sender);
}

bool MeetingScene::fails(std::uint64_t use, std::uint64_t piece) const {
  return failing_ && use == 1 && piece + 1 == pieces_;
}

void MeetingScene::play(int rank) {
  for (std::uint64_t use = 1; use <= uses_; ++use) {
    const bool late = mutated_code("buffer made ready after arrival");
    const bool late_times = mutated_code("times left after arrival");
    if (!late) begin(rank, use);
    if (!late_times) leave_times(rank, use);
    const bool met = meeting_.arrive();
    if (late) begin(rank, use);
    if (late_times) leave_times(rank, use);
    if (met && !moves(rank) && !mutated_code("no wake-up at arrival")) wake(1 - rank);
    const bool met_already = met || mutated_code("no look whether both have met");
    if (!(met_already && move(rank, use)) &&
        !await(rank, [&] { return meeting_.met(use) && move(rank, use); })) {
      return;
    }
    end(rank, use);
    forget(use);
  }
}

/// What the program does with its buffer before it starts a use, and so after the one before.
void MeetingScene::begin(int rank, std::uint64_t use) {
  for (std::size_t piece = 0; piece < pieces_; ++piece) {
    if (rank == sender) {
      source_[piece] = content(use, piece);
    } else {
      destination_[piece] = 0;
    }
  }
}

void MeetingScene::leave_times(int rank, std::uint64_t use) {
  if (use == uses_) times_[static_cast<std::size_t>(rank)] = content(use, 0);
}

bool MeetingScene::move(int rank, std::uint64_t use) {
  const std::uint64_t end = use * pieces_;
  const std::uint64_t begin = end - pieces_;
  while (moves(rank)) {
    const std::uint64_t number = meeting_.draw(end + (mutated_code("one piece too many") ? 1 : 0));
    if (number >= end + (mutated_code("one piece too many") ? 1 : 0)) break;
    const std::uint64_t piece = number - begin;
    expect(piece < pieces_, "a piece of another use");
    expect(taken_in_[piece] == use - 1, "a piece is taken twice, or was left out");
    taken_in_[piece] = static_cast<std::uint32_t>(use);
    const bool early = mutated_code("moved is said before the copy");
    bool last = early && meeting_.moved(end);
    if (fails(use, piece)) {
      meeting_.fail(use);
    } else {
      destination_[piece] = source_[piece];
    }
    if (!early) last = meeting_.moved(end);
    if (last && !mutated_code("no wake-up at the end")) wake(1 - rank);
  }
  return meeting_.over(end - (mutated_code("over one piece early") ? 1 : 0));
}

void MeetingScene::end(int rank, std::uint64_t use) {
  const std::uint64_t asked = mutated_code("failure not of this use") ? 1 : use;
  expect(meeting_.failed(asked) == (failing_ && use == 1),
         "a failure is not seen by both sides, or after its use");
  for (std::size_t side = 0; side < times_.size() && use == uses_; ++side) {
    expect(times_[side] == content(use, 0), "the sides may decide differently");
  }
  for (std::size_t piece = 0; piece < pieces_ && rank == receiver; ++piece) {
    expect(fails(use, piece) || destination_[piece] == content(use, piece),
           "a piece is over and its bytes are not there");
  }
}

CellScene::CellScene(int uses, int pieces, bool sleep) : LaneScene(uses, pieces, sleep) {}

std::string CellScene::description() const {
  return "cells: uses " + std::to_string(uses_) + ", pieces " + std::to_string(pieces_) +
         (sleep_ ? ", asleep" : "");
}

void CellScene::name_words(Programs& programs) {
  LaneScene::name_words(programs);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    cells_[cell].word().name(programs, of("cell", cell));
    bytes_[cell].name(programs, of("bytes", cell));
  }
}

void CellScene::play(int rank) {
  bool lies = false;
  for (std::uint64_t turn = 0; turn < uses_ * pieces_; ++turn) {
    if (!(rank == sender ? push(turn, lies) : pull(turn))) return;
    // A use is over.
    if (lies && (turn + 1) % pieces_ == 0) {
      bells_[sender].rise();
      lies = false;
    }
    forget(turn << 1 | (lies ? 1 : 0));
  }
}

bool CellScene::push(std::uint64_t turn, bool& lies) {
  BasicCell<Words>& cell = cells_[turn % cells];
  const auto look = [&] { return cell.empty(); };
  if (mutated_code("lies on after a piece")) {
    // As a sleeper that does not hear that a piece has been moved.
    if (!lies && !look()) {
      lies = true;
      bells_[sender].lie_down();
      sharers_[sender].fence();
    }
    for (const Loop loop; lies; loop.again()) {
      const std::uint32_t heard = bells_[sender].read_rings();
      if (look()) break;
      bells_[sender].rings.sleep_while(heard);
    }
  } else if (!mutated_code("cell not looked at") && !await(sender, look)) {
    return false;
  }
  const bool early = mutated_code("filled before it is written");
  if (early) cell.fill(1);
  bytes_[turn % cells] = content(turn, 0);
  if (!early) cell.fill(1);
  if (!mutated_code("receiver not woken")) wake(receiver);
  return true;
}

bool CellScene::pull(std::uint64_t turn) {
  BasicCell<Words>& cell = cells_[turn % cells];
  if (!await(receiver, [&] { return cell.filled() != 0; })) return false;
  const bool early = mutated_code("cleared before it is read");
  if (early) cell.clear();
  expect(bytes_[turn % cells] == content(turn, 0), "other bytes than those of this turn");
  if (!early) cell.clear();
  const BasicCell<Words>& next =
      cells_[(turn + (mutated_code("looks at its own cell") ? 0 : 1)) % cells];
  if (!mutated_code("sender not woken") && next.filled() != 0) wake(sender);
  return true;
}

}  // namespace oriel::model
