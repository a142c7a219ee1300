// SPDX-License-Identifier: BSD-3-Clause
#include "core/process.hpp"

#include <algorithm>
#include <utility>

namespace oriel {

Process::Process(Transport& transport, int self, GenericReduce generic, Board* board,
                 const Limits& limits)
    : transport_(transport), self_(self), generic_(generic), board_(board), limits_(limits) {}

Process::~Process() = default;

Window& Process::create_window(WindowSpec spec) {
  const auto place = place_of(spec.id);
  return **windows_.insert(place, std::make_unique<Window>(*this, std::move(spec)));
}

void Process::destroy_window(Window& window) {
  std::erase_if(windows_, [&](const auto& owned) { return owned.get() == &window; });
}

std::vector<std::unique_ptr<Window>>::iterator Process::place_of(std::uint32_t id) {
  return std::ranges::lower_bound(windows_, id, {}, [](const auto& owned) { return owned->id(); });
}

Window* Process::find_window(std::uint32_t id) {
  const auto place = place_of(id);
  return place != windows_.end() && (*place)->id() == id ? place->get() : nullptr;
}

bool Process::sweep(bool push) {
  bool moved = attend();
  sweeps_.store(sweeps() + 1, std::memory_order_relaxed);
  if (!serving() && pending_ == 0) return moved;
  for (auto bytes = transport_.receive(); !bytes.empty(); bytes = transport_.receive()) {
    moved = true;
    if (!take(bytes)) ++refused_;
  }
  for (Transfer transfer; transport_.finished(transfer);) {
    moved = true;
    if (RecordedOperation* recorded = operations_.find(transfer.token)) {
      recorded->window->transferred(*recorded, transfer);
    }
  }
  if (pending_ != 0) {
    for (const auto& window : windows_) moved |= window->sweep();
  }
  if (push || awaited_) transport_.push();
  awaited_ = false;
  return moved;
}

bool Process::take(std::span<const std::byte> bytes) {
  Message message;
  if (!message.take(bytes)) return false;
  Window* window = find_window(message.window);
  // What arrives for a window that we have freed was of no use to its sender either.
  return window == nullptr || window->deliver(message, bytes);
}

Window::Window(Process& process, WindowSpec spec)
    : process_(process),
      transport_(process.transport_),
      id_(spec.id),
      rank_(spec.rank),
      no_locks_(spec.no_locks),
      shared_(spec.shared),
      attending_(process.board_ != nullptr && spec.members.size() > 1 &&
                 spec.members[static_cast<std::size_t>(spec.rank)].private_memory),
      asymmetric_(process.transport_.fences_peers()),
      reorder_(spec.reorder),
      atomics_(spec.atomics),
      peers_(spec.members.size()),
      mine_(spec.members[static_cast<std::size_t>(spec.rank)].control) {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    peer.member = spec.members[i];
    peer.in = mine_->slots() + i;
    peer.out = peer.member.control != nullptr ? peer.member.control->slots() + rank_ : nullptr;
  }
  if (spec.remote) {
    count_ = std::make_unique<FenceCount>(rank_, ranks());
    ++process_.serving_;
  }
  if (attending_) ++process_.attending_;
  light_.kind = EpochKind::lock;
  light_.active = true;
  light_.one.access = Target::Access::granted;
  light_.one.passive = true;
}

Window::~Window() {
  if (count_) --process_.serving_;
  if (attending_) --process_.attending_;
  process_.pending_ -= work_;
}

}  // namespace oriel
