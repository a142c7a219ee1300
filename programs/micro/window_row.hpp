// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bench/row.hpp"
#include "bench/window.hpp"

namespace micro {

/// How many places of a window an operation takes by turns.
template <typename Operation>
constexpr std::size_t places_of() {
  if constexpr (requires { Operation::places; }) {
    return Operation::places;
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
        bytes_(bytes * places_of<Operation>()),
        window_(memory, bytes_),
        operation_(bytes) {
    {
      const bench::OwnPart mine(window_, rank_);
      operation_.fill(own_part());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (plays()) synchronization_.emplace(window_.handle(), partner());
  }

  bool plays() const override { return Synchronization::both || rank_ % 2 == 0; }

  void prepare_batch() override { operation_.prepare_batch(); }

  void play(std::int64_t rounds) override {
    const int target = partner();
    const MPI_Win win = window_.handle();
    const std::int64_t end = rounds_ + rounds;
    for (; rounds_ < end; ++rounds_) {
      synchronization_->round([&] { operation_.issue(rounds_, target, win); });
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
    if (Synchronization::both || rank_ % 2 == 1) {
      const bench::OwnPart mine(window_, rank_);
      operation_.check_target(own_part(), played);
    }
  }

 private:
  using Element = typename Operation::Element;
  int partner() const { return rank_ ^ 1; }
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
