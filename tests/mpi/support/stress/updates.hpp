// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "support/stress/self.hpp"
#include "support/window.hpp"

namespace stress {

/// Updates of words that all threads of all ranks update, by any handle.
class Updates {
 public:
  explicit Updates(Self& self) : self_(self) {}

  /// In any epoch.
  void any(Goal goal) {
    switch (self_.random.below(7)) {
      case 0:
        return add(goal);
      case 1:
        return raise(goal);
      case 2:
        return flip(goal);
      case 3:
        return add_to_row(goal, Shape::words(4 * (1 + self_.random.below(short_row))));
      case 4:
        return add_to_row(goal, Shape::words(4 * (1 + self_.random.below(Area::row_words))));
      case 5:
        return fetch_row(goal);
      default:
        return self_.job.shapes().empty() ? add(goal) : add_shaped(goal);
    }
  }
  /// What the thread waits for: in passive epochs.
  void fetching(Goal goal) {
    switch (self_.random.below(4)) {
      case 0:
        return fetch_and_add(goal);
      case 1:
        return try_lock(goal);
      case 2:
        return with_request(goal);
      default:
        return draw(goal);
    }
  }
  /// Many in a row of the same words, as other ranks make at the same time. Single updates hardly
  /// ever meet within the few instructions that one takes.
  void hammer(Goal goal) {
    // Between nodes each is a journey, and one engine makes them all.
    const int times = support::one_node() ? 1000 : 100;
    for (int i = 0; i < times; ++i) {
      if (i % 8 == 0) {
        try_lock(goal);
      } else if (i % 8 < 4) {
        fetch_and_add(goal);
      } else {
        add(goal);
      }
    }
    self_.flush(goal);
  }
  /// A count without atomics, by whoever has the exclusive lock.
  void count_alone(Goal goal) {
    count(goal, Area::excluded);
    ++tally(goal).excluded;
  }

 private:
  static constexpr int short_row = 16;

  Tally& tally(Goal goal) { return self_.job.tally(self_.thread, goal); }
  std::int64_t amount() { return 1 + self_.random.below(1000); }

  /// An operation whose buffer holds these, until it is complete.
  template <class Value>
  Operation& begin(Goal goal, const std::vector<Value>& values) {
    Operation made;
    made.goal = goal;
    made.by = self_.job.handle(goal, self_.random);
    made.writes = true;
    made.buffer.resize(values.size() * sizeof(Value));
    std::memcpy(made.buffer.data(), values.data(), made.buffer.size());
    return self_.pending.add(std::move(made));
  }
  void accumulate(Goal goal, std::int64_t value, Area::Word word, MPI_Op op) {
    const Operation& made = begin<std::int64_t>(goal, {value});
    MUST(MPI_Accumulate(made.buffer.data(), 1, MPI_INT64_T, goal.target,
                        self_.displacement(goal, word), 1, MPI_INT64_T, op, made.by.win));
  }

  void add(Goal goal) {
    const std::int64_t value = amount();
    tally(goal).sum += value;
    accumulate(goal, value, Area::sum, MPI_SUM);
  }
  void raise(Goal goal) {
    const auto value = static_cast<std::int64_t>(self_.random.next() >> 2);
    tally(goal).greatest = std::max(tally(goal).greatest, value);
    accumulate(goal, value, Area::greatest, MPI_MAX);
  }
  void flip(Goal goal) {
    const auto value = static_cast<std::int64_t>(self_.random.next());
    tally(goal).parity ^= value;
    accumulate(goal, value, Area::parity, MPI_BXOR);
  }

  /// Places of the row that a shape may begin at.
  int place(Goal goal, const Shape& shape) {
    const int step = std::max(1, self_.job.region(goal.region).unit / 4);
    const auto room = static_cast<int>(Area::row_words - shape.extent / 4);
    return self_.random.below(room / step + 1) * step;
  }
  std::vector<std::int32_t> note_in_row(Goal goal, const Shape& shape, int first) {
    std::vector<std::int32_t> values;
    auto& row = tally(goal).row;
    for (const Shape::Run& run : shape.runs) {
      for (MPI_Aint i = 0; i < run.bytes / 4; ++i) {
        values.push_back(static_cast<std::int32_t>(amount()));
        row[static_cast<std::size_t>(first + run.at / 4 + i)] += values.back();
      }
    }
    return values;
  }
  void add_to_row(Goal goal, const Shape& shape) {
    const int first = place(goal, shape);
    const auto values = note_in_row(goal, shape, first);
    const Operation& made = begin(goal, values);
    MUST(MPI_Accumulate(made.buffer.data(), static_cast<int>(values.size()), MPI_INT32_T,
                        goal.target, self_.displacement(goal, Area::row(first)), shape.count,
                        shape.type, MPI_SUM, made.by.win));
  }
  void add_shaped(Goal goal) {
    if (self_.random.chance(50)) {
      const auto& shapes = self_.job.shapes();
      return add_to_row(goal, shapes[self_.random.below(shapes.size())]);
    }
    Shape own = Shape::derived(self_.random);
    add_to_row(goal, own);
    own.release();
  }
  /// The values fetched come after those given, in the same buffer: others change them meanwhile.
  void fetch_row(Goal goal) {
    const Shape shape = Shape::words(4 * (1 + self_.random.below(short_row)));
    const int first = place(goal, shape);
    auto values = note_in_row(goal, shape, first);
    const auto count = static_cast<int>(values.size());
    values.resize(2 * values.size());
    Operation& made = begin(goal, values);
    MUST(MPI_Get_accumulate(made.buffer.data(), count, MPI_INT32_T,
                            made.buffer.data() + made.buffer.size() / 2, count, MPI_INT32_T,
                            goal.target, self_.displacement(goal, Area::row(first)), count,
                            MPI_INT32_T, MPI_SUM, made.by.win));
  }

  void with_request(Goal goal) {
    const std::int64_t value = amount();
    tally(goal).sum += value;
    Operation& made = begin<std::int64_t>(goal, {value});
    const MPI_Aint at = self_.displacement(goal, Area::sum);
    made.told = self_.random.chance(50);
    if (made.told) {
      MUST(remote_completion().Rraccumulate(made.buffer.data(), 1, MPI_INT64_T, goal.target, at, 1,
                                            MPI_INT64_T, MPI_SUM, made.by.win, &made.request));
    } else {
      MUST(MPI_Raccumulate(made.buffer.data(), 1, MPI_INT64_T, goal.target, at, 1, MPI_INT64_T,
                           MPI_SUM, made.by.win, &made.request));
    }
  }
  void fetch_and_add(Goal goal) {
    const std::int64_t value = amount();
    std::int64_t before = -1;
    MUST(MPI_Fetch_and_op(&value, &before, MPI_INT64_T, goal.target,
                          self_.displacement(goal, Area::sum), MPI_SUM, self_.any_handle(goal)));
    self_.flush(goal);
    // Our own accumulates before it, of this thread, were to the same word.
    if (before < tally(goal).sum) {
      fail("sum: expected " + std::to_string(tally(goal).sum) + " or more, found " +
           std::to_string(before) + '.');
    }
    tally(goal).sum += value;
  }
  void draw(Goal goal) {
    const std::int64_t one = 1;
    std::int64_t ticket = -1;
    MUST(MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, goal.target,
                          self_.displacement(goal, Area::ticket), MPI_SUM, self_.any_handle(goal)));
    self_.flush(goal);
    auto& tickets = tally(goal).tickets;
    if (!tickets.empty() && ticket <= tickets.back()) {
      fail("ticket: expected more than " + std::to_string(tickets.back()) + ", found " +
           std::to_string(ticket) + '.');
    }
    tickets.push_back(ticket);
  }

  std::int64_t swap(Goal goal, std::int64_t from, std::int64_t to) {
    std::int64_t before = -1;
    MUST(MPI_Compare_and_swap(&to, &from, &before, MPI_INT64_T, goal.target,
                              self_.displacement(goal, Area::lock), self_.any_handle(goal)));
    self_.flush(goal);
    return before;
  }
  void try_lock(Goal goal) {
    const std::int64_t own = 1 + self_.job.rank() * self_.job.threads() + self_.thread;
    if (swap(goal, 0, own) != 0) return;
    count(goal, Area::guarded);
    ++tally(goal).guarded;
    expect("the lock's holder", swap(goal, own, 0), own);
  }
  /// Nobody else writes the word: a get and a put, each seen by whoever comes next.
  void count(Goal goal, Area::Word word) {
    std::int64_t value = -1;
    const MPI_Aint at = self_.displacement(goal, word);
    MUST(MPI_Get(&value, 1, MPI_INT64_T, goal.target, at, 1, MPI_INT64_T, self_.any_handle(goal)));
    self_.flush_local(goal);
    const std::int64_t least = word == Area::guarded ? tally(goal).guarded : tally(goal).excluded;
    if (value < least) {
      fail("count: expected " + std::to_string(least) + " or more, found " + std::to_string(value) +
           '.');
    }
    ++value;
    MUST(MPI_Put(&value, 1, MPI_INT64_T, goal.target, at, 1, MPI_INT64_T, self_.any_handle(goal)));
    self_.flush(goal);
  }

  Self& self_;
};

}  // namespace stress
