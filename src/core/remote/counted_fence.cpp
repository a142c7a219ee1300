// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/counted_fence.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace oriel {

bool CountedFence::begin(Epoch& epoch) {
  for (const Target& target : epoch) {
    // All other targets must be done first: by entering the count this rank announces that its
    // operations there are complete.
    if (!marked(target) && !target.signaled) return false;
  }
  for (const Target& target : epoch) {
    if (marked(target)) count_.add(target.rank);
  }
  const std::uint64_t call = count_.enter();
  // Relaxed: the word only tells ranks that wait for long.
  region_.member(region_.rank()).control->entered.store(call, std::memory_order_relaxed);
  epoch.announced = true;
  return true;
}

void CountedFence::open(std::uint64_t call, bool announce) {
  if (announce) words_.announce(call);
  server_.open_fence(call);
}

bool CountedFence::end(Epoch& epoch) {
  if (!epoch.announced && !begin(epoch)) return false;
  send_steps();
  if (!count_.over() || epoch.unsignaled != 0 || epoch.attention != 0) return false;
  count_.end();
  ended_ = epoch.closing_call;
  words_.set_ended(ended_);
  words_.announce(ended_);
  server_.end_fence(ended_);
  return true;
}

void CountedFence::send_steps() {
  // The number of counts that fit into one message.
  constexpr std::size_t most = Message::most_data / sizeof(std::uint32_t);
  count_.advance([&](const FenceCount::Step& step) {
    for (std::size_t first = 0; first < step.counts.size(); first += most) {
      const auto piece = step.counts.subspan(first, std::min(most, step.counts.size() - first));
      Message message;
      message.kind = MessageKind::count;
      message.word = count_.call();
      message.stamp = step.number;
      message.first = first;
      message.last = first + piece.size() == step.counts.size() ? 1 : 0;
      message.data = static_cast<std::uint32_t>(piece.size_bytes());
      sender_.send(step.target, message, std::as_bytes(piece));
    }
  });
}

bool CountedFence::receive_count(const Message& message, std::span<const std::byte> payload) {
  if (payload.size() % sizeof(std::uint32_t) != 0 || payload.size() != message.data) return false;
  std::vector<std::uint32_t> counts(payload.size() / sizeof(std::uint32_t));
  if (!counts.empty()) std::memcpy(counts.data(), payload.data(), payload.size());
  return count_.arrived(message.word, message.origin, static_cast<unsigned>(message.stamp),
                        message.first, message.last != 0, counts);
}

}  // namespace oriel
