// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/mapped_lanes.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <span>

#include "core/collective/packed.hpp"

namespace oriel {

namespace {

/// The indices of transfers, sorted by their other rank; of one rank in their order.
template <typename Sides>
std::vector<std::uint32_t> by_other_rank(const Sides& sides) {
  std::vector<std::uint32_t> indices(sides.size());
  std::iota(indices.begin(), indices.end(), 0U);
  std::ranges::stable_sort(indices, {}, [&](std::uint32_t i) { return sides[i].rank; });
  return indices;
}

}  // namespace

MappedLanes::Side::Side(Region& region, NodeServices& services, int to_or_from,
                        const Stretch& stretch, int at_step)
    : packed(stretch), rank(to_or_from), process(region.member(to_or_from).process), step(at_step) {
  if (packed.run() == nullptr) return;
  location = services.locate(packed.run(), packed.bytes()).location;
}

LaneSide MappedLanes::Side::lane_side() const {
  return {packed.bytes(), reinterpret_cast<std::uintptr_t>(packed.run()), location, TrialTimes{}};
}

MappedLanes::MappedLanes(Region& region, NodeServices& services, const Limits& limits,
                         const Schedule& schedule, PlanProgress& progress)
    : region_(region), services_(services), limits_(limits), progress_(progress) {
  for (const Schedule::Send& send : schedule.sends) {
    if (!region.mapped(send.to)) continue;
    Side& made = sends_.emplace_back(region, services, send.to, send.from, send.step);
    made.bytes = made.packed.bytes();
  }
  by_receiver_ = by_other_rank(sends_);
  std::vector<int> senders;
  for (const Schedule::Receive& receive : schedule.receives) {
    if (!region.mapped(receive.from)) continue;
    receives_.emplace_back(region, services, receive.from, receive.into, receive.step);
    senders.push_back(receive.from);
  }
  std::ranges::sort(senders);
  senders.erase(std::ranges::unique(senders).begin(), senders.end());
  senders_ = senders.size();
  shape_cells(schedule.one_way ? CellShapes::Number::one_way : CellShapes::Number::usual);
}

void MappedLanes::shape_cells(CellShapes::Number number) {
  CellDemand demand(limits_, region_.mapped_ranks().size());
  for (const Receive& receive : receives_) {
    demand.add(receive.packed.bytes(), receive.location.shared());
  }
  const CellShapes shapes(demand, number);
  for (Receive& receive : receives_) {
    receive.cells = shapes.of(receive.packed.bytes(), receive.packed.run() != nullptr,
                              receive.location.shared());
  }
}

std::uint64_t MappedLanes::board_bytes() const {
  std::uint64_t bytes = Board::first_lane(receives_.size());
  for (const Receive& receive : receives_) {
    if (receive.packed.bytes() != 0) bytes += Lane::bytes(receive.cells);
  }
  return bytes;
}

void MappedLanes::lay_out(std::byte* memory) {
  Board& board = *new (memory) Board;
  board.lanes = receives_.size();
  std::uint64_t offset = Board::first_lane(receives_.size());
  LaneEntry* entry = board.entries();
  for (const std::uint32_t i : by_other_rank(receives_)) {
    Receive& receive = receives_[i];
    *entry++ = {receive.packed.bytes() != 0 ? offset : 0, receive.rank};
    if (receive.packed.bytes() == 0) continue;
    receive.lane = new (memory + offset) Lane;
    receive.lane->receiver = receive.lane_side();
    receive.lane->shared_fragment = static_cast<std::uint32_t>(limits_.shared_fragment);
    receive.lane->basic = receive.packed.basic();
    receive.lane->cells = receive.cells;
    for (std::uint64_t cell = 0; cell < receive.cells.count; ++cell) {
      new (&receive.lane->cell(cell)) Cell;
    }
    offset += Lane::bytes(receive.cells);
  }
}

PlanFault MappedLanes::find_lanes(int receiver, Board* board) {
  std::span<const LaneEntry> entries;
  if (board != nullptr) {
    const std::span<const LaneEntry> all(board->entries(), board->lanes);
    const auto [first, last] =
        std::ranges::equal_range(all, region_.rank(), {}, &LaneEntry::sender);
    entries = {first, last};
  }
  if (!entries.empty()) boards_.push_back(board);
  const auto lane_of = [&](std::size_t entry) {
    return board != nullptr && entry < entries.size() ? board->lane(entries[entry]) : nullptr;
  };
  std::size_t next = 0;
  const auto receiver_of = [this](std::uint32_t i) { return sends_[i].rank; };
  for (const std::uint32_t i : std::ranges::equal_range(by_receiver_, receiver, {}, receiver_of)) {
    if (const PlanFault fault = match(sends_[i], lane_of(next++))) return fault;
  }
  for (; next < entries.size(); ++next) {
    if (const Lane* lane = lane_of(next)) {
      return {PlanFault::Kind::unmatched, region_.rank(), receiver, 0, lane->receiver.bytes};
    }
  }
  return {};
}

PlanFault MappedLanes::match(Side& send, Lane* lane) {
  const std::uint64_t space = lane != nullptr ? lane->receiver.bytes : 0;
  const auto fault = [&](PlanFault::Kind kind) {
    return PlanFault{kind, region_.rank(), send.rank, send.bytes, space};
  };
  if (send.bytes > space) return fault(PlanFault::Kind::truncated);
  if (send.bytes == 0) return {};
  const LaneSide& receiver = lane->receiver;
  if (!match_types(send.packed.basic(), lane->basic)) return fault(PlanFault::Kind::types);
  send.lane = lane;
  const LaneProtocol way = way_of(send, *lane);
  lane->sender = send.lane_side();
  lane->way = way;
  set_way(send, way, receiver);
  return {};
}

LaneProtocol MappedLanes::way_of(const Side& send, const Lane& lane) const {
  if (send.packed.run() == nullptr && lane.receiver.address == 0) return LaneProtocol::staged;
  if (send.bytes <= limits_.staged_surely && lane.cells.wanted) return LaneProtocol::staged;
  if (lane.cells.wanted) return LaneProtocol::tried;
  return send.bytes <= lane.cells.space ? LaneProtocol::staged : LaneProtocol::one_copy;
}

/// A side makes the one copy only if the other side's buffer is one run, and not by system calls if
/// the other side needs none.
void MappedLanes::set_way(Side& side, LaneProtocol way, const LaneSide& other) {
  side.way = way == LaneProtocol::one_copy ? CopyMethod::one_copy : CopyMethod::staged;
  side.tried = way == LaneProtocol::tried;
  side.unmet = side.tried ? CopyTrial::uses_by_cells : 0;
  if (way == LaneProtocol::staged) return;
  side.moves = other.address != 0 && (other.location.shared() || !side.location.shared());
  side.address = other.address;
  side.piece = side.lane->shared_fragment;
  side.pieces = (side.bytes + side.piece - 1) / side.piece;
  if (side.moves && other.location.shared()) {
    side.other = services_.map(side.process, other.location, side.bytes);
  }
}

void MappedLanes::depart() {
  for (Board* board : boards_) board->departed.fetch_add(1, std::memory_order_release);
}

void MappedLanes::finalize() {
  for (Receive& receive : receives_) {
    if (receive.lane == nullptr) continue;
    const LaneSide& sender = receive.lane->sender;
    receive.bytes = sender.bytes;
    set_way(receive, receive.lane->way, sender);
  }
  by_receiver_ = {};
  const auto empty = [](const Side& side) { return side.bytes == 0; };
  std::erase_if(sends_, empty);
  std::erase_if(receives_, empty);
  sending_.reserve(sends_.size());
  receiving_.reserve(receives_.size());
}

void MappedLanes::count_receives(std::vector<std::uint32_t>& by_step) const {
  for (const Receive& receive : receives_) ++by_step[static_cast<std::size_t>(receive.step)];
}

void MappedLanes::start() {
  next_send_ = 0;
  for (std::uint32_t i = 0; i < receives_.size(); ++i) {
    Receive& receive = receives_[i];
    receiving_.push_back(i);
    begin(receive, receive.lane->receiver);
    if (receive.way == CopyMethod::one_copy) arrive(receive);
  }
}

void MappedLanes::begin_sends(int step) {
  for (; next_send_ < sends_.size() && sends_[next_send_].step == step; ++next_send_) {
    Side& send = sends_[next_send_];
    begin(send, send.lane->sender);
    send.stale = progress_.stale;
    progress_.begin_send(send.rank, send.bytes, step);
    if (send.way == CopyMethod::one_copy) {
      arrive(send);
    } else if (push_staged(send)) {
      progress_.sent(send.rank, send.bytes, step);
      continue;
    }
    sending_.push_back(static_cast<std::uint32_t>(next_send_));
  }
}

void MappedLanes::begin(Side& side, LaneSide& own) {
  side.done = 0;
  if (!side.tried) return;
  side.way = CopyTrial::way(progress_.use);
  // The arrival that follows releases them.
  if (progress_.use == CopyTrial::last) own.times = side.trial.times();
}

/// Ends this side's part in the present use.
void MappedLanes::end(Side& side) {
  if (!side.tried) return;
  side.trial.end(progress_.use);
  if (progress_.use != CopyTrial::last) return;
  // The meeting of this use has acquired them.
  side.way = CopyTrial::fastest(side.lane->sender.times, side.lane->receiver.times);
  side.tried = false;
  progress_.events.report({.kind = EventKind::copy_chosen, .detail = detail_of(side.way)});
}

void MappedLanes::arrive(Side& side) {
  side.error = Error::none;
  // The arrival releases this, like the bytes.
  if (side.stale) side.lane->meeting.fail(progress_.use);
  side.met = side.lane->meeting.arrive();
  // The second side moves the bytes. If it cannot, the first side must, so it is woken.
  if (side.met && !side.moves) region_.wake(side.rank);
}

bool MappedLanes::push_staged(Side& send) {
  while (send.done < send.bytes) {
    Cell& cell = send.lane->cell(send.turn);
    if (!cell.empty()) return false;
    const std::uint64_t piece =
        std::min<std::uint64_t>(send.bytes - send.done, send.lane->cells.space);
    {
      const Timed timed(services_, send);
      std::byte* const into = cell.payload(send.lane->cells.space);
      if (send.way == CopyMethod::streamed) {
        send.packed.stream_out(send.done, piece, into);
      } else {
        send.packed.copy_out(send.done, piece, into);
      }
    }
    cell.fill(send.stale ? piece | Cell::stale : piece);
    moved_ = true;
    region_.wake(send.rank);
    ++send.turn;
    send.done += piece;
  }
  end(send);
  return true;
}

bool MappedLanes::pull_staged(Receive& receive) {
  while (receive.done < receive.bytes) {
    Cell& cell = receive.lane->cell(receive.turn);
    const std::uint64_t filled = cell.filled();
    if (filled == 0) return false;
    const std::uint64_t piece = filled & ~Cell::stale;
    if (piece != filled) progress_.fail({Error::system, receive.rank, false});
    {
      const Timed timed(services_, receive);
      receive.packed.copy_in(receive.done, piece, cell.payload(receive.cells.space));
    }
    cell.clear();
    moved_ = true;
    ++receive.turn;
    // The sender waits for this cell only if it has filled all other cells. Before it sleeps it
    // fences all processors and reads the cell again.
    SharedWords::store_then_load();
    const std::uint64_t last = receive.turn + receive.cells.count - 2;
    if (receive.lane->cell(last).filled() != 0) region_.wake(receive.rank);
    receive.done += piece;
  }
  end(receive);
  return true;
}

template <bool sends>
Error MappedLanes::move_piece(Side& side, std::uint64_t first, std::uint64_t bytes) const {
  const Timed timed(services_, side);
  if (side.other != nullptr) {
    if constexpr (sends) {
      side.packed.copy_out(first, bytes, side.other + first);
    } else {
      side.packed.copy_in(first, bytes, side.other + first);
    }
    return Error::none;
  }
  return side.packed.copy(services_, side.process, sends, first, bytes, side.address + first);
}

/// Moves pieces after both sides have met. True if all pieces have been moved.
template <bool sends>
bool MappedLanes::move_by_one_copy(Side& side) {
  Meeting& meeting = side.lane->meeting;
  const std::uint64_t end = meetings(side) * side.pieces;
  const std::uint64_t begin = end - side.pieces;
  while (side.moves) {
    const std::uint64_t piece = meeting.draw(end);
    if (piece == end) break;
    moved_ = true;
    const std::uint64_t first = (piece - begin) * side.piece;
    const std::uint64_t bytes = std::min(side.bytes - first, side.piece);
    if (const Error error = move_piece<sends>(side, first, bytes); error != Error::none) {
      side.error = first_of(side.error, error);
      meeting.fail(progress_.use);
    }
    if (meeting.moved(end)) region_.wake(side.rank);
  }
  if (!meeting.over(end)) return false;
  // The side that tried to move the piece has the error's reason.
  if (meeting.failed(progress_.use)) {
    progress_.fail({first_of(side.error, Error::system), side.rank, sends});
    side.trial.fail();
  }
  this->end(side);
  return true;
}

template <bool sends>
bool MappedLanes::advance_one_copy(Side& side) {
  if (!side.met) side.met = side.lane->meeting.met(meetings(side));
  return side.met && move_by_one_copy<sends>(side);
}

bool MappedLanes::advance() {
  moved_ = false;
  const std::size_t sent = remove_over(sending_, [&](std::uint32_t i) {
    Side& send = sends_[i];
    const bool over =
        send.way == CopyMethod::one_copy ? advance_one_copy<true>(send) : push_staged(send);
    if (over) progress_.sent(send.rank, send.bytes, send.step);
    return over;
  });
  const std::size_t received = remove_over(receiving_, [&](std::uint32_t i) {
    Receive& receive = receives_[i];
    const bool over = receive.way == CopyMethod::one_copy ? advance_one_copy<false>(receive)
                                                          : pull_staged(receive);
    if (over) progress_.received(receive.rank, receive.bytes, receive.step);
    return over;
  });
  return moved_ || sent + received != 0;
}

int MappedLanes::lost_peer() const {
  for (const std::uint32_t i : sending_) {
    if (!region_.alive(sends_[i].rank)) return sends_[i].rank;
  }
  for (const std::uint32_t i : receiving_) {
    if (!region_.alive(receives_[i].rank)) return receives_[i].rank;
  }
  return -1;
}

void MappedLanes::abandon() {
  sending_.clear();
  receiving_.clear();
}

}  // namespace oriel
