// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bench/row.hpp"
#include "bench/window.hpp"
#include "synchronization.hpp"
#include "target.hpp"

namespace micro {

/// How long the target's memory is, in lengths of the operation's data.
template <typename Operation>
constexpr std::size_t spread_of() {
  if constexpr (requires { Operation::spread; }) {
    return Operation::spread;
  } else {
    return 1;
  }
}

/// Rounds of one operation in one kind of synchronization, on a window of its own. Both are known
/// at compile time, so that a round consists of MPI calls and nothing else.
template <typename Synchronization, typename Operation>
class WindowRow final : public bench::Row {
 public:
  WindowRow(bench::Memory memory, std::size_t bytes, int rank)
      : rank_(rank),
        bytes_(bytes * spread_of<Operation>()),
        window_(memory, bytes_),
        operation_(bytes) {
    {
      const bench::OwnPart mine(window_, rank_);
      operation_.fill(own_part());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (plays()) synchronization_.emplace(window_.handle(), target());
  }

  bool plays() const override { return players != Players::first || rank_ % 2 == 0; }

  void prepare_batch() override { operation_.prepare_batch(); }

  void play(std::int64_t rounds) override {
    const Target to{target(), window_.start(target()), window_.handle()};
    const std::int64_t end = rounds_ + rounds;
    for (; rounds_ < end; ++rounds_) {
      synchronization_->round([&] { operation_.issue(rounds_, to); });
    }
  }

  void finish() override {
    if (plays()) synchronization_->finish();
  }

  void check() override {
    // A rank that played nothing learns here how many rounds came to it.
    std::int64_t played = rounds_;
    MPI_Bcast(&played, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (plays()) operation_.check_origin(played);
    if (is_target()) {
      const bench::OwnPart mine(window_, rank_);
      operation_.check_target(own_part(), played);
    }
  }

 private:
  using Element = typename Operation::Element;
  static constexpr Players players = Synchronization::players;

  int target() const { return players == Players::all ? 0 : rank_ ^ 1; }
  bool is_target() const {
    if (players == Players::all) return rank_ == 0;
    return players == Players::both || rank_ % 2 == 1;
  }
  std::span<Element> own_part() const {
    return {static_cast<Element*>(window_.base()), bytes_ / sizeof(Element)};
  }

  int rank_;
  std::size_t bytes_;
  bench::Window window_;
  Operation operation_;
  std::optional<Synchronization> synchronization_;
  std::int64_t rounds_ = 0;
};

}  // namespace micro
