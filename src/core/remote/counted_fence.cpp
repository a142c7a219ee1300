// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/counted_fence.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
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
  return {target(number), number, std::span(one.counts).subspan(first, end_of(number) - first)};
}

bool FenceCount::arrived(std::uint64_t call, int origin, unsigned number, std::uint64_t first,
                         bool last, std::span<const std::uint32_t> counts) {
  if (number >= steps_) return false;
  const std::size_t distance_back = std::size_t{1} << number;
  const std::size_t total = end_of(number) - distance_back;
  if (origin != this->origin(number) || first > total || counts.size() > total - first ||
      last != (first + counts.size() == total)) {
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

/// Appends ranks that have not entered fence call `call`: mapped ranks, and remote ranks that were
/// reported for the steps from `first_step` on.
void CountedFence::add_late(std::uint64_t call, unsigned first_step, std::vector<int>& late) {
  for (const int rank : region_.mapped_ranks()) {
    if (rank != region_.rank() &&
        region_.member(rank).control->entered.load(std::memory_order_relaxed) < call) {
      late.push_back(rank);
    }
  }
  if (call != count_.call()) return;
  const std::size_t mapped = late.size();
  for (std::size_t step = first_step; step < reports_.size(); ++step) {
    const Report& report = reports_[step];
    if (report.call != call || count_.has_step(static_cast<unsigned>(step))) continue;
    late.insert(late.end(), report.late.begin(), report.late.end());
  }
  const auto reported = late.begin() + static_cast<std::ptrdiff_t>(mapped);
  std::sort(reported, late.end());
  late.erase(std::unique(reported, late.end()), late.end());
}

void CountedFence::find_late(std::uint64_t /*closing_call*/, std::vector<int>& late) {
  add_late(count_.call(), 0, late);
  if (!count_.entered()) return;
  reports_.resize(count_.steps());
  for (unsigned step = 0; step < count_.steps(); ++step) {
    if (!count_.has_step(step)) query(step);
  }
  sender_.push(true);
}

void CountedFence::query(unsigned step) {
  Report& report = reports_[step];
  if (report.call != count_.call()) report = {count_.call()};
  if (std::exchange(report.queried, true)) return;
  Message message;
  message.kind = MessageKind::late_query;
  message.word = count_.call();
  message.stamp = step;
  sender_.send(count_.origin(step), message);
}

bool CountedFence::receive_late_query(const Message& message) {
  const std::uint64_t call = message.word;
  if (message.stamp >= count_.steps() || call > count_.call() + 1) return false;
  const auto step = static_cast<unsigned>(message.stamp);
  if (message.origin != count_.target(step)) return false;
  std::vector<std::uint32_t> late;
  if (call == count_.call() + 1 || (call == count_.call() && !count_.entered())) {
    late.push_back(static_cast<std::uint32_t>(region_.rank()));
  }
  std::vector<int> others;
  add_late(call, step + 1, others);
  others.resize(std::min(others.size(), most_late - late.size()));
  late.insert(late.end(), others.begin(), others.end());
  Message answer;
  answer.kind = MessageKind::late_ranks;
  answer.word = call;
  answer.stamp = step;
  const auto payload = std::as_bytes(std::span(late));
  answer.data = static_cast<std::uint32_t>(payload.size());
  sender_.send(message.origin, answer, payload);
  sender_.push(true);
  return true;
}

bool CountedFence::receive_late_ranks(const Message& message, std::span<const std::byte> payload) {
  std::array<std::uint32_t, most_late> late{};
  if (message.stamp >= reports_.size() || payload.size() > sizeof late ||
      payload.size() % sizeof late[0] != 0 || payload.size() != message.data ||
      message.origin != count_.origin(static_cast<unsigned>(message.stamp))) {
    return false;
  }
  if (!payload.empty()) std::memcpy(late.data(), payload.data(), payload.size());
  const auto ranks = std::span(late).first(payload.size() / sizeof late[0]);
  const auto all = static_cast<std::uint32_t>(region_.ranks());
  if (std::ranges::any_of(ranks, [all](std::uint32_t rank) { return rank >= all; })) return false;
  Report& report = reports_[static_cast<std::size_t>(message.stamp)];
  // Otherwise the report belongs to a fence that has ended.
  if (message.word != report.call) return true;
  report.queried = false;
  report.late.clear();
  for (const std::uint32_t rank : ranks) {
    // Mapped ranks are read directly.
    if (!region_.mapped(static_cast<int>(rank))) report.late.push_back(static_cast<int>(rank));
  }
  return true;
}

}  // namespace oriel
