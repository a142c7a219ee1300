// SPDX-License-Identifier: BSD-3-Clause
#include "core/remote/late_ranks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace oriel {

/// Appends ranks that have not entered fence call `call`: mapped ranks, and remote ranks that were
/// reported for the steps from `first_step` on.
void LateRanks::add(std::uint64_t call, unsigned first_step, std::vector<int>& late) {
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

void LateRanks::find(std::vector<int>& late) {
  add(count_.call(), 0, late);
  if (!count_.entered()) return;
  reports_.resize(count_.steps());
  for (unsigned step = 0; step < count_.steps(); ++step) {
    if (!count_.has_step(step)) query(step);
  }
  sender_.push(true);
}

void LateRanks::query(unsigned step) {
  Report& report = reports_[step];
  if (report.call != count_.call()) report = {count_.call()};
  if (std::exchange(report.queried, true)) return;
  Message message;
  message.kind = MessageKind::late_query;
  message.word = count_.call();
  message.stamp = step;
  sender_.send(count_.origin(step), message);
}

bool LateRanks::receive_query(const Message& message) {
  const std::uint64_t call = message.word;
  if (message.stamp >= count_.steps() || call > count_.call() + 1) return false;
  const auto step = static_cast<unsigned>(message.stamp);
  if (message.origin != count_.target(step)) return false;
  std::vector<std::uint32_t> late;
  if (call == count_.call() + 1 || (call == count_.call() && !count_.entered())) {
    late.push_back(static_cast<std::uint32_t>(region_.rank()));
  }
  std::vector<int> others;
  add(call, step + 1, others);
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

bool LateRanks::receive_report(const Message& message, std::span<const std::byte> payload) {
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
