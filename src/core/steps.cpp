// SPDX-License-Identifier: BSD-3-Clause
// What one process tells another on a window: a store for a mapped peer, a message for a remote
// one. This and data.cpp are the only places that know the difference.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "core/lock_queue.hpp"
#include "core/process.hpp"
#include "core/window.hpp"

namespace oriel {
namespace {

std::atomic<std::uint64_t>& word_of(Slot& slot, MessageKind kind) {
  switch (kind) {
    case MessageKind::done:
      return slot.done;
    case MessageKind::fence:
      return slot.fence;
    case MessageKind::lock_granted:
      return slot.lock_granted;
    default:
      return slot.granted;
  }
}

}  // namespace

void Window::announce(Peer& other, MessageKind kind, std::uint64_t word) {
  if (other.out != nullptr) {
    // Release: our stores into the peer's window come before the word that announces them.
    word_of(*other.out, kind).store(word, std::memory_order_release);
    wake(other);
    return;
  }
  Message message;
  message.kind = kind;
  message.word = word;
  send(other, message);
}

void Window::wake(Peer& other) {
  // Keeps the compiler from moving the look before the store; the sleeper's barrier does the rest.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (other.member.doorbell->sleeping.load(std::memory_order_relaxed) != 0) {
    transport_.ring(*other.member.doorbell);
  }
}

void Window::send(Peer& other, Message message, std::span<const std::byte> payload) {
  message.window = other.member.window;
  message.origin = rank_;
  process_.awaited_ |=
      message.kind == MessageKind::reply || message.kind == MessageKind::lock_granted;
  transport_.send(other.member.process, message.trim(), payload);
}

void Window::push() {
  if (count_) transport_.push();
}

void Window::send_count() {
  // As many as fit into one message.
  constexpr std::size_t most = Message::most_data / sizeof(std::uint32_t);
  count_->advance([&](const FenceCount::Step& step) {
    for (std::size_t first = 0; first < step.counts.size(); first += most) {
      const auto piece = step.counts.subspan(first, std::min(most, step.counts.size() - first));
      Message message;
      message.kind = MessageKind::count;
      message.word = count_->call();
      message.stamp = step.number;
      message.first = first;
      message.last = first + piece.size() == step.counts.size() ? 1 : 0;
      message.data = static_cast<std::uint32_t>(piece.size_bytes());
      send(peer(step.target), message, std::as_bytes(piece));
    }
  });
}

bool Window::deliver(const Message& message, std::span<const std::byte> payload) {
  if (!valid_rank(message.origin) || !count_) return false;
  Peer& other = peer(message.origin);
  if (message.kind == MessageKind::count) {
    // The only message that mapped peers send one another as well.
    if (payload.size() % sizeof(std::uint32_t) != 0 || payload.size() != message.data) return false;
    std::vector<std::uint32_t> counts(payload.size() / sizeof(std::uint32_t));
    if (!counts.empty()) std::memcpy(counts.data(), payload.data(), payload.size());
    return count_->arrived(message.word, message.origin, static_cast<unsigned>(message.stamp),
                           message.first, message.last != 0, counts);
  }
  if (!remote(other)) return false;
  switch (message.kind) {
    case MessageKind::granted:
    case MessageKind::lock_granted: {
      // Counters, which only grow.
      std::atomic<std::uint64_t>& word = word_of(*other.in, message.kind);
      if (message.word <= word.load(std::memory_order_relaxed)) return false;
      word.store(message.word, std::memory_order_release);
      return true;
    }
    case MessageKind::done:
      other.in->done.store(message.word, std::memory_order_release);
      return true;
    case MessageKind::lock:
    case MessageKind::unlock:
    case MessageKind::operation:
      return take_gated(message, payload);
    case MessageKind::reply:
      return take_reply(message, payload);
    case MessageKind::mark:
      return count_->marked(message.word);
    case MessageKind::layout:
      return take_layout(message, payload);
    case MessageKind::fence:
    case MessageKind::count:
      break;
  }
  return false;
}

}  // namespace oriel
