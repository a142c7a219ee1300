// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sim/sim_job.hpp"

#include <cstring>
#include <utility>

namespace oriel {

SimJob::SimJob(std::vector<int> node_of, bool immediate, const Limits& limits)
    : node_of_(std::move(node_of)), network_(ranks(), immediate), ranks_(node_of_.size()) {
  for (int i = 0; i < ranks(); ++i) {
    Rank& rank = ranks_[at(i)];
    rank.transport = std::make_unique<SimTransport>(network_, i);
    rank.doorbell = std::make_unique<Doorbell>();
    rank.process = std::make_unique<Process>(*rank.transport, i, limits);
    rank.checks = std::make_unique<InvariantChecks>();
    rank.process->events().add(*rank.checks);
  }
}

Path SimJob::path(const SimWindowSpec& spec, bool same_node, int from, int to) {
  if (from == to) return Path::load_store;
  if (!same_node) return Path::messages;
  if (spec.memory.empty()) return Path::load_store;
  return spec.memory[at(from)] == Path::messages ? Path::messages : spec.memory[at(to)];
}

SimJob::Memory SimJob::zeroed(std::size_t bytes) {
  Memory memory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{cache_line})));
  std::memset(memory.get(), 0, bytes);
  return memory;
}

Member SimJob::member(const SimWindow& made, int viewer, int rank) {
  const SimWindowSpec& spec = made.spec;
  const Side& side = made.sides[at(rank)];
  Member member;
  member.process = rank;
  member.window = made.sides[at(rank)].number;
  member.size = spec.bytes;
  member.disp_unit = spec.disp_unit;
  member.atomic_process = rank;
  member.atomic_memory.address = reinterpret_cast<std::uintptr_t>(side.memory);
  member.path = path(spec, same_node(viewer, rank), viewer, rank);
  if (spec.pieces != 0) {
    member.size = 0;
    member.disp_unit = 1;
    member.direct = spec.direct && member.path == Path::messages;
    if (member.path == Path::messages) return member;
    member.path = Path::load_store;
    member.pieces = side.pieces.get();
    member.control = side.control;
    member.doorbell = ranks_[at(rank)].doorbell.get();
    return member;
  }
  if (member.path == Path::messages) {
    member.direct = spec.direct;
    member.memory.address = reinterpret_cast<std::uintptr_t>(side.memory);
    return member;
  }
  member.control = side.control;
  member.doorbell = ranks_[at(rank)].doorbell.get();
  const bool is_private = !spec.memory.empty() && spec.memory[at(rank)] != Path::load_store;
  const MemoryRange range = range_of(spec, side.memory, spec.bytes, is_private);
  if (viewer == rank) {
    member.set_memory(range, side.memory, nullptr, false);
  } else {
    member.path = Path::load_store;
    member.set_memory(range, nullptr, transport(viewer).map_range(rank, range), false);
  }
  return member;
}

MemoryRange SimJob::range_of(const SimWindowSpec& spec, const std::byte* memory,
                             std::uint64_t bytes, bool is_private) {
  MemoryRange range{reinterpret_cast<std::uintptr_t>(memory), bytes,
                    is_private ? ArenaLocation{} : SimTransport::location_of(memory)};
  if (is_private && spec.exposed) range.expose(1);
  return range;
}

std::int64_t SimJob::displacement(int rank, int window, std::uint64_t bytes) {
  const SimWindow& made = windows_[at(window)];
  return static_cast<std::int64_t>(
      made.spec.pieces != 0 ? reinterpret_cast<std::uintptr_t>(made.sides[at(rank)].memory) + bytes
                            : bytes / made.spec.disp_unit);
}

void SimJob::churn(int rank, int window) {
  SimWindow& made = windows_[at(window)];
  if (made.spec.pieces == 0) return;
  Side& side = made.sides[at(rank)];
  const std::size_t i = ++side.churned * 7 % side.scrap.size();
  const std::byte* memory = &side.scrap[i];
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const Error error = side.scrap_attached[i]
                          ? side.window->detach(address)
                          : side.window->attach({address, 1, SimTransport::location_of(memory)});
  if (error == Error::none) side.scrap_attached[i] = !side.scrap_attached[i];
}

void SimJob::attach(const SimWindowSpec& spec, Side& side, bool some_private) {
  for (std::uint64_t piece = 0; piece < spec.pieces; ++piece) {
    // Pieces begin at multiples of a word, so no element is in two pieces.
    constexpr std::uint64_t word = 8;
    const auto cut = [&](std::uint64_t i) { return spec.bytes / word * i / spec.pieces * word; };
    const std::byte* memory = side.memory + cut(piece);
    const bool is_private = some_private && piece % 2 == 0;
    side.window->attach(range_of(spec, memory, cut(piece + 1) - cut(piece), is_private));
  }
}

int SimJob::create_window(const SimWindowSpec& spec) {
  const int id = static_cast<int>(windows_.size());
  SimWindow& made = windows_.emplace_back();
  made.spec = spec;
  made.sides.resize(node_of_.size());
  const auto count = static_cast<std::uint32_t>(ranks());
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    Side& side = made.sides[rank];
    side.number = static_cast<std::uint32_t>(id) * count + rank;  // every rank has its own number
    side.window_memory = zeroed(spec.bytes + spec.misalign + 1);
    side.memory = side.window_memory.get() + spec.misalign;
    if (spec.pieces != 0) side.pieces = std::make_unique<SharedPieces>();
    side.control_memory = zeroed(ControlBlock::bytes(node_of_.size()));
    side.control = ControlBlock::create(side.control_memory.get(), count, side.number + 1);
  }
  for (int i = 0; i < ranks(); ++i) {
    for (int j = 0; j < ranks(); ++j) {
      made.remote |= path(spec, same_node(i, j), i, j) == Path::messages;
    }
  }
  for (int i = 0; i < ranks(); ++i) {
    WindowSpec window;
    window.id = made.sides[at(i)].number;
    window.reorder = spec.reorder;
    window.no_locks = spec.no_locks;
    window.shared = spec.shared;
    window.remote = made.remote;
    RegionSpec& region = window.region;
    region.rank = i;
    region.ranks = ranks();
    std::vector<Member> members;
    members.reserve(at(ranks()));
    for (int j = 0; j < ranks(); ++j) members.push_back(member(made, i, j));
    region.members = MemberTable(members, !spec.atomics.empty());
    region.control = made.sides[at(i)].control;
    region.pieces = made.sides[at(i)].pieces.get();
    region.atomics = spec.atomics;
    region.atomicity = spec.atomicity;
    made.sides[at(i)].window = &process(i).create_window(std::move(window));
    const bool some_private = !spec.memory.empty() && spec.memory[at(i)] != Path::load_store;
    attach(spec, made.sides[at(i)], some_private);
  }
  return id;
}

bool SimJob::round() {
  bool moved = false;
  for (const SimNetwork::Route& route : network_.under_way()) {
    while (network_.deliver(route)) moved = true;
  }
  for (int i = 0; i < ranks(); ++i) moved |= process(i).sweep();
  return moved || !network_.under_way().empty();
}

int SimJob::run_until_idle() {
  int rounds = 0;
  while (round()) ++rounds;
  return rounds;
}

}  // namespace oriel
