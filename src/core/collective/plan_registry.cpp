// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/plan_registry.hpp"

#include <algorithm>

namespace oriel {

PlanRegistry::~PlanRegistry() {
  ending_ = true;
  plans_.clear();
  // All ranks have left the window, so no rank uses the boards.
  for (const SharedBoard& board : boards_) resources_.transport.node().unshare(board.memory);
}

void PlanRegistry::ask_nodes() {
  const int lowest = std::ranges::min(resources_.region.mapped_ranks());
  resources_.exchange.begin({static_cast<std::uint64_t>(lowest), 0, 0, 0});
  push();
}

bool PlanRegistry::nodes_known() {
  if (!nodes_.empty()) return true;
  if (!resources_.exchange.over()) return false;
  for (int rank = 0; rank < resources_.region.ranks(); ++rank) {
    nodes_.push_back(static_cast<int>(resources_.exchange.of(rank)[0]));
  }
  return true;
}

Plan& PlanRegistry::make(const Schedule& schedule, const PlanTerms& terms) {
  plans_.push_back(std::make_unique<Plan>(*this, ++made_, schedule, terms));
  deliver_early(*plans_.back());
  return *plans_.back();
}

void PlanRegistry::free(Plan& plan) {
  plan.abandon();
  plans_.erase(std::ranges::find(plans_, &plan, &std::unique_ptr<Plan>::get));
}

void PlanRegistry::begin_work(Plan& plan) {
  at_work_.add(plan);
  work_.add();
}

void PlanRegistry::end_work(Plan& plan) {
  at_work_.remove(plan);
  work_.remove();
}

bool PlanRegistry::sweep() {
  bool moved = false;
  at_work_.walk([&](Plan& plan) { moved |= plan.advance(); });
  return moved;
}

bool PlanRegistry::SharedBoard::idle() const {
  // Acquire: the accesses of the ranks that have left.
  return !used &&
         reinterpret_cast<const Board*>(memory)->departed.load(std::memory_order_acquire) >= users;
}

std::byte* PlanRegistry::allocate_board(std::uint64_t bytes, ArenaLocation& location) {
  // A board of more than twice the size is not used: its pages would stay allocated for a small
  // one.
  const auto fitting = std::ranges::find_if(boards_, [&](const SharedBoard& board) {
    return board.bytes >= bytes && board.bytes / 2 <= bytes && board.idle();
  });
  if (fitting != boards_.end()) {
    fitting->used = true;
    location = fitting->location;
    return fitting->memory;
  }
  unshare_boards();
  SharedBoard made;
  made.bytes = bytes;
  made.memory = resources_.transport.node().share(bytes, made.location);
  if (made.memory == nullptr) return nullptr;
  location = made.location;
  boards_.push_back(made);
  return made.memory;
}

void PlanRegistry::release_board(std::byte* memory, std::size_t users) {
  SharedBoard& board = *std::ranges::find(boards_, memory, &SharedBoard::memory);
  board.used = false;
  board.users = users;
}

std::size_t PlanRegistry::boards() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(boards_, [](const SharedBoard& board) { return !board.idle(); }));
}

void PlanRegistry::unshare_boards() {
  std::size_t idle = 0;
  std::erase_if(boards_, [&](const SharedBoard& board) {
    if (!board.idle() || ++idle <= most_idle) return false;
    resources_.transport.node().unshare(board.memory);
    return true;
  });
}

Plan* PlanRegistry::find(std::uint64_t number) {
  const auto found = std::ranges::lower_bound(plans_, number, {}, &Plan::number);
  return found != plans_.end() && (*found)->number() == number ? found->get() : nullptr;
}

bool PlanRegistry::receive(const Message& message, std::span<const std::byte> payload) {
  if (Plan* plan = find(message.word)) return plan->receive(message, payload);
  if (message.word <= made_) return true;  // for a plan that has been freed
  if (message.kind != MessageKind::plan_space || message.word != made_ + 1) return false;
  early_.push_back({message, {payload.begin(), payload.end()}});
  return true;
}

void PlanRegistry::deliver_early(Plan& plan) {
  for (const Early& early : early_) plan.receive(early.message, early.payload);
  early_.clear();
}

}  // namespace oriel
