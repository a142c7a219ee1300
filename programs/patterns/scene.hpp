// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/clock.hpp"
#include "bench/epochs.hpp"
#include "bench/job.hpp"
#include "pattern.hpp"
#include "window.hpp"

namespace patterns {

using bench::Epochs;
using bench::Mode;

/// How one turn of a pattern is played.
struct Turn {
  std::size_t bytes = 0;
  bool reference = false;  // without what makes somebody wait
  std::uint32_t number = 0;
};

/// What a rank has at hand while a pattern is played: its epochs, its buffers, its work, and where
/// to write what it measures.
class Scene {
 public:
  /// `work`: of the rank that is late.
  Scene(const bench::Job& job, std::function<void()> work, const Pattern& pattern,
        const bench::EpochApi& api)
      : job_(job), work_(std::move(work)), pattern_(pattern), api_(api) {
    MPI_Comm_group(MPI_COMM_WORLD, &world_);
    groups_.resize(static_cast<std::size_t>(job.size()));
    for (int rank = 0; rank < job.size(); ++rank) {
      MPI_Group_incl(world_, 1, &rank, &groups_[static_cast<std::size_t>(rank)]);
    }
    for (const Transfer& transfer : pattern.transfers) {
      sources_.emplace_back(transfer.origin == job.rank() ? mebibyte / sizeof(std::uint32_t) : 0);
    }
    message_.resize(mebibyte);
  }
  ~Scene() {
    for (MPI_Group& group : groups_) MPI_Group_free(&group);
    MPI_Group_free(&world_);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// Plays one turn on `window` and returns what this rank measured, in the order of the pattern's
  /// metrics; negative where another rank measures.
  std::vector<double> play(const Window& window, Mode mode, const Turn& turn) {
    turn_ = turn;
    epochs_.emplace(window.handle(), mode, api_);
    measured_.assign(pattern_.metrics.size(), -1.0);
    for (std::size_t index = 0; index < sources_.size(); ++index) {
      for (std::size_t word = 0; word < sources_[index].size(); ++word) {
        sources_[index][word] = word_of(seed(index), word);
      }
    }
    window_ = &window;
    pattern_.play(*this);
    job_.barrier();
    if (moves_data_) check(window);
    moves_data_ = true;
    return measured_;
  }

  const bench::Job& job() const { return job_; }
  int rank() const { return job_.rank(); }
  const Turn& turn() const { return turn_; }
  const Epochs& epochs() const { return *epochs_; }
  MPI_Group only(int rank) const { return groups_[static_cast<std::size_t>(rank)]; }

  /// Memory for a two-sided message of 1 MB.
  std::span<std::byte> message() { return message_; }

  /// The pattern's put number `index`.
  void put(std::size_t index) {
    const Transfer& transfer = pattern_.transfers[index];
    const int count = static_cast<int>(turn_.bytes);
    MPI_Put(sources_[index].data(), count, MPI_BYTE, transfer.target,
            static_cast<MPI_Aint>(transfer.offset), count, MPI_BYTE, window_->handle());
  }

  /// This turn puts nothing, so there is nothing to check.
  void no_data() { moves_data_ = false; }

  /// The delay of the pattern: the work, none in a turn that is the reference.
  void be_late() {
    if (!turn_.reference) work();
  }

  void work() {
    const double begin = bench::now_us();
    work_();
    measure(pattern_.metrics.size() - 1, begin);
  }

  /// Metric number `metric` is the time since `begin`.
  void measure(std::size_t metric, double begin) { measured_[metric] = bench::now_us() - begin; }

 private:
  std::uint32_t seed(std::size_t transfer) const {
    return turn_.number * 4 + static_cast<std::uint32_t>(transfer) + 1;
  }

  void check(const Window& window) const {
    for (std::size_t index = 0; index < pattern_.transfers.size(); ++index) {
      const Transfer& transfer = pattern_.transfers[index];
      if (transfer.target != rank()) continue;
      if (pattern_.locks) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank(), 0, window.handle());
      window.check(transfer.offset, turn_.bytes, seed(index), rank(), transfer.origin);
      if (pattern_.locks) MPI_Win_unlock(rank(), window.handle());
    }
  }

  const bench::Job& job_;
  std::function<void()> work_;
  const Pattern& pattern_;
  const bench::EpochApi& api_;
  MPI_Group world_ = MPI_GROUP_NULL;
  std::vector<MPI_Group> groups_;
  std::vector<std::vector<std::uint32_t>> sources_;  // one per transfer, empty where not the origin
  std::vector<std::byte> message_;
  Turn turn_;
  const Window* window_ = nullptr;
  std::optional<Epochs> epochs_;
  std::vector<double> measured_;
  bool moves_data_ = true;
};

}  // namespace patterns
