// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/busy_work.hpp"
#include "bench/epoch_api.hpp"
#include "bench/failure.hpp"
#include "bench/row.hpp"
#include "bench/window.hpp"
#include "draw.hpp"

namespace transactions {

enum class Epochs { blocking, nonblocking };

/// Every rank updates words of other ranks; a round is one update, in an exclusive lock epoch of
/// its own. After each batch every word is compared with the sum of what all ranks have added.
class TransactionsRow : public bench::Row {
 public:
  TransactionsRow(Epochs epochs, const bench::Window& window, std::int64_t words,
                  std::int64_t compute_us, bench::BusyWork& work)
      : epochs_(epochs),
        window_(window),
        words_(words),
        compute_us_(static_cast<double>(compute_us)),
        work_(work),
        draw_(rank(), ranks(), words),
        played_(draw_),
        given_(static_cast<std::size_t>(ranks() * words)),
        expected_(static_cast<std::size_t>(words)) {
    const bench::OwnPart mine(window_, rank());
    for (std::int64_t word = 0; word < words_; ++word) own()[word] = 0;
  }

  bool plays() const override { return true; }

  void play(std::int64_t rounds) override {
    rounds_ = rounds;
    if (epochs_ == Epochs::blocking) {
      play_blocking();
    } else {
      play_nonblocking();
    }
  }

  void finish_batch() override {
    for (; rounds_ > 0; --rounds_) {
      const Update update = played_.next();
      given_[static_cast<std::size_t>(update.target * words_ + update.word)] += update.value;
    }
    MPI_Reduce_scatter_block(given_.data(), expected_.data(), static_cast<int>(words_), MPI_INT64_T,
                             MPI_SUM, MPI_COMM_WORLD);
    check();
  }

  void check() override {
    const bench::OwnPart mine(window_, rank());
    for (std::int64_t word = 0; word < words_; ++word) {
      const std::int64_t expected = expected_[static_cast<std::size_t>(word)];
      if (own()[word] == expected) continue;
      bench::fail("word " + std::to_string(word) + " of rank " + std::to_string(rank()) + " is " +
                  std::to_string(own()[word]) + ", and all updates together make " +
                  std::to_string(expected) + ".");
    }
  }

 private:
  static int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  static int ranks() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
  }

  std::int64_t* own() const { return static_cast<std::int64_t*>(window_.base()); }

  void add(const Update& update, const std::int64_t& value) const {
    MPI_Accumulate(&value, 1, MPI_INT64_T, update.target,
                   update.word * MPI_Aint{sizeof(std::int64_t)}, 1, MPI_INT64_T, MPI_SUM,
                   window_.handle());
  }

  void play_blocking() {
    for (std::int64_t round = 0; round < rounds_; ++round) {
      const Update update = draw_.next();
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, update.target, 0, window_.handle());
      add(update, update.value);
      MPI_Win_unlock(update.target, window_.handle());
      if (compute_us_ > 0) work_.work(compute_us_);
    }
  }

  /// All epochs of the batch are pending at once, if need be.
  void play_nonblocking() {
    const auto rounds = static_cast<std::size_t>(rounds_);
    if (requests_.size() < rounds) {
      requests_.resize(rounds);
      values_.resize(rounds);
    }
    // [updates]
    for (std::size_t round = 0; round < rounds; ++round) {
      const Update update = draw_.next();
      values_[round] = update.value;
      MPI_Request opened = MPI_REQUEST_NULL;
      api_.ilock(MPI_LOCK_EXCLUSIVE, update.target, 0, window_.handle(), &opened);
      MPI_Request_free(&opened);
      add(update, values_[round]);
      api_.iunlock(update.target, window_.handle(), &requests_[round]);
      if (compute_us_ > 0) work_.work(compute_us_);
    }
    MPI_Waitall(static_cast<int>(rounds), requests_.data(), MPI_STATUSES_IGNORE);
    // [end]
  }

  const bench::EpochApi api_;
  Epochs epochs_;
  const bench::Window& window_;
  std::int64_t words_;
  double compute_us_;
  bench::BusyWork& work_;
  std::int64_t rounds_ = 0;
  Draw draw_;                           // of the next batch
  Draw played_;                         // of the last one, to draw its updates again
  std::vector<std::int64_t> given_;     // by this rank to every word so far
  std::vector<std::int64_t> expected_;  // in this rank's own words
  std::vector<MPI_Request> requests_;
  std::vector<std::int64_t> values_;  // in use until their epochs are complete
};

}  // namespace transactions
