// SPDX-License-Identifier: BSD-3-Clause
#include "core/process.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace oriel {

Process::Process(Transport& transport, int self, GenericReduce generic, Board* board)
    : transport_(transport), self_(self), generic_(generic), board_(board) {}

Process::~Process() = default;

Window& Process::create_window(WindowSpec spec) {
  windows_.push_back(std::make_unique<Window>(*this, std::move(spec)));
  return *windows_.back();
}

void Process::destroy_window(Window& window) {
  std::erase_if(windows_, [&](const auto& owned) { return owned.get() == &window; });
}

Window* Process::find_window(std::uint32_t id) {
  const auto found = std::find_if(windows_.begin(), windows_.end(),
                                  [&](const auto& owned) { return owned->id() == id; });
  return found != windows_.end() ? found->get() : nullptr;
}

bool Process::sweep() {
  bool moved = attend();
  while (serving_ != 0 && transport_.receive(incoming_)) {
    moved = true;
    Message message;
    if (incoming_.size() < sizeof message) continue;
    std::memcpy(&message, incoming_.data(), sizeof message);
    if (message.version != Message::current_version) continue;
    if (Window* window = find_window(message.window)) {
      window->deliver(message, std::span(incoming_).subspan(sizeof message));
    }
  }
  if (pending_ == 0) return moved;
  for (const auto& window : windows_) moved |= window->sweep();
  return moved;
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
      serving_(spec.serving),
      reorder_(spec.reorder),
      peers_(spec.members.size()),
      mine_(spec.members[static_cast<std::size_t>(spec.rank)].control) {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    peer.member = spec.members[i];
    peer.in = mine_->slots() + i;
    peer.out = peer.member.control != nullptr ? peer.member.control->slots() + rank_ : nullptr;
    messages_ |= peer.member.control == nullptr || peer.member.path == Path::served;
  }
  serving_ |= messages_;
  if (serving_) ++process_.serving_;
  if (attending_) ++process_.attending_;
  light_.kind = EpochKind::lock;
  light_.active = true;
  light_.one.access = Target::Access::granted;
  light_.one.passive = true;
}

Window::~Window() {
  if (serving_) --process_.serving_;
  if (attending_) --process_.attending_;
  process_.pending_ -= work_;
}

}  // namespace oriel
