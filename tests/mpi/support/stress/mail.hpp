// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "support/stress/self.hpp"

namespace stress {

/// Texts for the same thread of the right neighbour, each with a flag put behind it on an ordered
/// handle and no flush. Nobody waits: a text is all of the round that its flag tells, or of later
/// ones. A round is a byte, so that no reader sees half of one.
class Mail {
 public:
  explicit Mail(Self& self) : self_(self), sent_(static_cast<std::size_t>(self.job.regions())) {}

  void send(int region) {
    const Goal goal{region, self_.job.right()};
    const Handle by = self_.job.handle(goal, self_.random);
    int& round = sent_[static_cast<std::size_t>(region)];
    if (!by.ordered || round == last) return;
    ++round;
    const Area& area = self_.job.region(region).area;
    Operation text;
    text.goal = goal;
    text.by = by;
    text.at = area.text(self_.thread);
    text.bytes = area.text_bytes();
    text.writes = true;
    text.buffer = Bytes(static_cast<std::size_t>(text.bytes), static_cast<std::byte>(round));
    if (self_.pending.in_the_way_of(text)) self_.flush(goal);
    const Operation& made = self_.pending.add(std::move(text));
    const auto bytes = static_cast<int>(made.bytes);
    MUST(MPI_Put(made.buffer.data(), bytes, MPI_BYTE, goal.target,
                 self_.displacement(goal, made.at), bytes, MPI_BYTE, by.win));
    tell(goal, by, round);
  }

  void read(int region) {
    const Goal goal{region, self_.job.rank()};
    const Area& area = self_.job.region(region).area;
    std::int64_t round = -1;
    MUST(MPI_Fetch_and_op(nullptr, &round, MPI_INT64_T, goal.target,
                          self_.displacement(goal, area.flag(self_.thread)), MPI_NO_OP,
                          self_.any_handle(goal)));
    self_.flush(goal);
    const volatile std::byte* text = self_.job.region(region).own + area.text(self_.thread);
    for (MPI_Aint i = 0; i < area.text_bytes(); ++i) {
      const int found = std::to_integer<int>(std::byte{text[i]});
      if (found >= round) continue;
      here().operation = "text behind its flag";
      fail("byte " + std::to_string(i) + ": expected round " + std::to_string(round) +
           " or later, found " + std::to_string(found) + '.');
    }
  }

 private:
  static constexpr int last = 250;

  void tell(Goal goal, Handle by, std::int64_t round) {
    Operation flag;
    flag.goal = goal;
    flag.by = by;
    flag.at = self_.job.region(goal.region).area.flag(self_.thread);
    flag.bytes = Area::flag_bytes;
    flag.writes = true;
    flag.buffer.resize(sizeof round);
    std::memcpy(flag.buffer.data(), &round, sizeof round);
    const Operation& made = self_.pending.add(std::move(flag));
    MUST(MPI_Accumulate(made.buffer.data(), 1, MPI_INT64_T, goal.target,
                        self_.displacement(goal, made.at), 1, MPI_INT64_T, MPI_REPLACE, by.win));
  }

  Self& self_;
  std::vector<int> sent_;  // by region
};

}  // namespace stress
