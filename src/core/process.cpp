// SPDX-License-Identifier: BSD-3-Clause
#include "core/process.hpp"

#include <algorithm>
#include <utility>

namespace oriel {

Process::Process(Transport& transport, int self, const Limits& limits)
    : transport_(transport),
      self_(self),
      pressed_(transport.node().pressed()),
      errand_state_(transport.node().errand_state()),
      remote_(transport.messages(), limits) {
#ifndef NDEBUG
  events_.add(invariant_checks_);
#endif
}

Process::~Process() = default;

Window& Process::create_window(WindowSpec spec) {
  const auto position = position_of(spec.id);
  Window& made = **windows_.insert(position, std::make_unique<Window>(*this, std::move(spec)));
  for (const NotifyRecord& record : early_) {
    if (record.window == made.id()) made.notifications().arrive(record.notification);
  }
  forget_window(made.id());
  return made;
}

void Process::forget_window(std::uint32_t id) {
  std::erase(expected_, id);
  std::erase_if(early_, [id](const NotifyRecord& record) { return record.window == id; });
}

void Process::destroy_window(Window& window) {
  if (notified_ == &window) notified_ = nullptr;
  windows_.erase(position_of(window.id()));
}

std::vector<std::unique_ptr<Window>>::iterator Process::position_of(std::uint32_t id) {
  return std::ranges::lower_bound(windows_, id, {}, [](const auto& owned) { return owned->id(); });
}

void Process::forget_detached(const void* memory, std::uint64_t bytes) {
  if (bytes == 0) return;
  for (const std::unique_ptr<Window>& window : windows_) {
    if (window->dynamic()) {
      window->forget_detached(reinterpret_cast<std::uintptr_t>(memory), bytes);
    }
  }
}

Window* Process::find_window(std::uint32_t id) {
  const auto position = position_of(id);
  return position != windows_.end() && (*position)->id() == id ? position->get() : nullptr;
}

bool Process::sweep(bool push, bool waits) {
  sweeps_.store(sweeps() + 1, std::memory_order_relaxed);
  if (!busy()) return false;
  bool moved = transport_.node().serve(waits);  // first, because its origin waits
  // Operations issued before are sent before the network is polled, so that they need not wait for
  // it.
  if (push && serving()) remote_.outbox.push(true);
  if (serving()) moved |= receive_messages();
  moved |= finish_transfers();
  moved |= receive_notifications();
  at_work_.walk([&](SweepWork& work) { moved |= Window::of(work).sweep(); });
  if (!lock_order_.empty()) moved |= lock_order_.sweep();
  remote_.outbox.end_sweep(push);
  return moved;
}

bool Process::expected(std::uint32_t id) const {
  return std::ranges::find(expected_, id) != expected_.end();
}

Window* Process::find_notified(std::uint32_t id) {
  if (notified_ == nullptr || notified_->id() != id) notified_ = find_window(id);
  return notified_;
}

/// Takes notifications that have arrived, a limited number, so that a flood of them does not keep
/// the sweep from its other work.
bool Process::receive_notifications() {
  constexpr int most_received = 2048;
  int received = 0;
  while (received < most_received && transport_.node().deliver_notification(*this)) ++received;
  return received != 0;
}

bool Process::store(std::uint32_t id, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (Window* window = find_notified(id)) {
    window->store(offset, bytes);
    return true;
  }
  return !expected(id);  // false: the window's memory is not known yet
}

void Process::deliver(const NotifyRecord& record) {
  if (Window* window = find_notified(record.window)) {
    window->notifications().arrive(record.notification);
  } else if (expected(record.window)) {
    early_.push_back(record);
  }
  // Arrivals for a window that this process has freed are dropped: their origins do not need them.
}

bool Process::receive_messages() {
  bool moved = false;
  served_window_ = nullptr;
  for (auto bytes = transport_.messages().receive(); !bytes.empty();
       bytes = transport_.messages().receive()) {
    moved = true;
    if (!receive(bytes)) ++refused_;
  }
  return moved;
}

/// Called even if all ranks are mapped: network atomics also serve ranks of this node.
bool Process::finish_transfers() {
  bool moved = false;
  for (Transfer transfer; transport_.messages().finished(transfer);) {
    moved = true;
    if (RecordedOperation* recorded = pools_.operations.find(transfer.token)) {
      recorded->pending->link_of(*recorded).transferred(*recorded, transfer);
    } else if (Rendezvous* one = remote_.rendezvous_table.find(transfer.token)) {
      one->server->transferred(*one, transfer);
    } else if (PlanWrite* write = remote_.plan_writes.find(transfer.token)) {
      write->lanes->written(*write, transfer);
    }
  }
  return moved;
}

bool Process::receive(std::span<const std::byte> bytes) {
  Message message;
  if (!message.read_header(bytes)) return false;
  Window* window = find_window(message.window);
  // Arrivals for a window that this process has freed are dropped: their origins do not need them.
  if (window == nullptr) return true;
  if (!window->deliver(message, bytes)) return false;
  if (serves_origin(message.kind)) report_served(*window, message);
  return true;
}

void Process::report_served(const Window& window, const Message& message) {
  if (served_window_ == &window && served_origin_ == message.origin) return;
  served_window_ = &window;
  served_origin_ = message.origin;
  window.events().served(message.origin);
}

}  // namespace oriel
