// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "core/epoch/events.hpp"

namespace oriel {

/// The reason why a plan cannot be made, the same on all ranks.
struct PlanFault {
  enum class Kind : std::uint8_t {
    none,
    arguments,  // those of rank `sender` are invalid; `sent` is PlanTerms::bad_arguments
    signature,  // `sender` and `receiver` have different signatures: `sent` and `space`
    unmatched,  // the receiver has a receive without a send
    truncated,  // more bytes are sent than the receiver has space for, or it has none
    types,      // the predefined datatypes of both sides do not match
    memory      // rank `sender` cannot share `sent` bytes with its node
  };

  Kind kind = Kind::none;
  std::int32_t sender = 0;
  std::int32_t receiver = 0;
  std::uint64_t sent = 0;
  std::uint64_t space = 0;

  explicit operator bool() const { return kind != Kind::none; }
};

/// The first failed transfer of a use.
struct PlanFailure {
  Error error = Error::none;
  int rank = -1;      // the other side
  bool sent = false;  // the transfer is to that rank; otherwise from it
};

/// The progress of a plan's present use, as its lanes report it. Reports the transfers as events.
struct PlanProgress {
  PlanProgress(const WindowEvents& of_window, std::uint64_t number)
      : events(of_window), plan(number) {}

  const WindowEvents& events;
  std::uint64_t plan;                           // its number
  std::uint64_t use = 0;                        // its number, from 1 on
  bool active = false;                          // the use has begun and is not over
  std::uint32_t pending_sends = 0;              // pending sends of the steps that have begun
  std::vector<std::uint32_t> pending_receives;  // by step
  PlanFailure failure;
  /// A receive has failed, so the data of later sends and combinations are invalid. The sends are
  /// made anyway, marked stale, so that no receiver waits for them.
  bool stale = false;

  void report_use(EventKind kind) const {
    events.report({.number = plan, .id = static_cast<std::uint32_t>(use), .kind = kind});
  }
  void begin_send(int rank, std::uint64_t bytes, int step) {
    ++pending_sends;
    report(EventKind::transfer_begun, TransferSide::sent, rank, bytes, step);
  }
  void sent(int rank, std::uint64_t bytes, int step) {
    --pending_sends;
    report(EventKind::transfer_ended, TransferSide::sent, rank, bytes, step);
  }
  void received(int rank, std::uint64_t bytes, int step) {
    --pending_receives[static_cast<std::size_t>(step)];
    report(EventKind::transfer_ended, TransferSide::received, rank, bytes, step);
  }
  void fail(const PlanFailure& found) {
    if (failure.error == Error::none) failure = found;
    stale = stale || !found.sent;
  }

 private:
  /// `bytes`: those of a send, or the space of a receive.
  void report(EventKind kind, TransferSide side, int rank, std::uint64_t bytes, int step) const {
    events.report({.number = bytes,
                   .rank = rank,
                   .id = static_cast<std::uint32_t>(plan),
                   .kind = kind,
                   .detail = detail_of(side),
                   .flags = static_cast<std::uint16_t>(step)});
  }
};

/// Calls over(index) for each of `pending` and removes those for which it returns true. Does not
/// keep the order. Returns how many it has removed.
template <typename Over>
std::size_t remove_over(std::vector<std::uint32_t>& pending, Over&& over) {
  const std::size_t before = pending.size();
  for (std::size_t i = 0; i < pending.size();) {
    if (over(pending[i])) {
      pending[i] = pending.back();
      pending.pop_back();
    } else {
      ++i;
    }
  }
  return before - pending.size();
}

}  // namespace oriel
