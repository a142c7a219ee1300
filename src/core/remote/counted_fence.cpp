// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/counted_fence.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace oriel {

FenceCount::FenceCount(int rank, int ranks)
    : rank_(rank),
      ranks_(ranks),
      steps_(static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks - 1)))) {}

std::uint64_t FenceCount::enter() {
  Call& one = current();
  one.entered = true;
  one.next = steps_;
  return call();
}

std::size_t FenceCount::end_of(unsigned number) const {
  return std::min(std::size_t{2} << number, static_cast<std::size_t>(ranks_));
}

FenceCount::Step FenceCount::step(Call& one, unsigned number) const {
  const std::size_t first = std::size_t{1} << number;
  const int target = static_cast<int>((static_cast<std::size_t>(rank_) + first) %
                                      static_cast<std::size_t>(ranks_));
  return {target, number, std::span(one.counts).subspan(first, end_of(number) - first)};
}

bool FenceCount::arrived(std::uint64_t call, int origin, unsigned number, std::uint64_t first,
                         bool last, std::span<const std::uint32_t> counts) {
  if (number >= steps_) return false;
  const std::size_t distance_back = std::size_t{1} << number;
  const std::size_t total = end_of(number) - distance_back;
  if ((static_cast<std::size_t>(origin) + distance_back) % static_cast<std::size_t>(ranks_) !=
          static_cast<std::size_t>(rank_) ||
      first > total || counts.size() > total - first || last != (first + counts.size() == total)) {
    return false;
  }
  Call* one = expected(call);
  if (one == nullptr || (one->steps_in >> number & 1) != 0) return false;
  for (std::size_t i = 0; i < counts.size(); ++i) one->counts[first + i] += counts[i];
  if (last) one->steps_in |= std::uint64_t{1} << number;
  return true;
}

bool FenceCount::marked(std::uint64_t call) {
  Call* one = expected(call);
  if (one == nullptr) return false;
  ++one->marks;
  return true;
}

void FenceCount::end() {
  Call& one = current();
  one.entered = false;
  one.steps_in = 0;
  one.marks = 0;
  std::fill(one.counts.begin(), one.counts.end(), 0);
  ++ended_calls_;
}

bool CountedFence::begin(Epoch& epoch) {
  for (const Target& target : epoch) {
    // All other targets must be done first: by entering the count this rank announces that its
    // operations there are complete.
    if (!marked(target) && !target.signaled) return false;
  }
  for (const Target& target : epoch) {
    if (marked(target)) count_.add(target.rank);
  }
  count_.enter();
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
