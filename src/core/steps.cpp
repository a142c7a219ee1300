// SPDX-License-Identifier: BSD-3-Clause
// What one process tells another on a window: a store for a mapped peer, a message for a remote
// one. This and data.cpp are the only places that know the difference.
#include <atomic>
#include <cstring>

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
  send(other.member.process, message);
}

void Window::wake(Peer& other) {
  // Keeps the compiler from moving the look before the store; the sleeper's barrier does the rest.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (other.member.doorbell->sleeping.load(std::memory_order_relaxed) != 0) {
    transport_.ring(*other.member.doorbell);
  }
}

void Window::send(int process, Message message, std::span<const std::byte> payload) {
  message.window = id_;
  message.origin = rank_;
  transport_.send(process, std::as_bytes(std::span(&message, 1)), payload);
}

void Window::deliver(const Message& message, std::span<const std::byte> payload) {
  if (!valid_rank(message.origin)) return;
  Peer& other = peer(message.origin);
  switch (message.kind) {
    case MessageKind::granted:
    case MessageKind::done:
    case MessageKind::fence:
    case MessageKind::lock_granted:
      word_of(*other.in, message.kind).store(message.word, std::memory_order_release);
      break;
    case MessageKind::lock:
      if (lock_line(peer(rank_)).acquire(message.origin, message.word != 0)) {
        announce(other, MessageKind::lock_granted, ++other.lock_grants);
      } else {
        standing_.push_back(message.origin);
        add_work();
      }
      break;
    case MessageKind::unlock:
      give_back(peer(rank_), message.origin, message.word != 0);
      break;
    case MessageKind::operation:
      serve(message, payload);
      break;
    case MessageKind::reply:
      take_reply(message, payload);
      break;
  }
}

}  // namespace oriel
