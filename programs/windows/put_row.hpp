// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "bench/numbered_bytes.hpp"
#include "bench/row.hpp"
#include "bench/window.hpp"

namespace windows {

/// Rounds of put and flush from rank 0 to the last rank, in one lock_all epoch.
template <typename Kind>
class PutRow : public bench::Row {
 public:
  PutRow(std::unique_ptr<Kind> exposure, std::size_t bytes, int rank, int target)
      : exposure_(std::move(exposure)), source_(bytes), rank_(rank), target_(target) {
    exposure_->open();
    start_ = exposure_->start(target_);
    if (rank_ == target_) {
      const bench::OwnPart mine(exposure_->locked(), rank_);
      std::fill_n(exposure_->base(), bytes, std::byte{0xff});
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (plays()) MPI_Win_lock_all(0, exposure_->locked());
  }
  ~PutRow() override { exposure_->close(); }
  PutRow(const PutRow&) = delete;
  PutRow& operator=(const PutRow&) = delete;

  bool plays() const override { return rank_ == 0; }

  void play(std::int64_t rounds) override {
    const MPI_Win window = exposure_->window();
    for (std::int64_t round = 0; round < rounds; ++round) put_and_flush(window);
  }

  void finish() override {
    if (plays()) MPI_Win_unlock_all(exposure_->locked());
  }

  void check() override {
    MPI_Bcast(&rounds_, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (rank_ == target_) {
      source_.number(rounds_);
      const bench::OwnPart mine(exposure_->locked(), rank_);
      source_.expect({exposure_->base(), static_cast<std::size_t>(source_.count())}, "the window");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

 protected:
  Kind& exposure() { return *exposure_; }

  void put_and_flush(MPI_Win window) {
    source_.number(++rounds_);
    MPI_Put(source_.data(), source_.count(), MPI_BYTE, target_, start_, source_.count(), MPI_BYTE,
            window);
    MPI_Win_flush(target_, window);
  }

 private:
  std::unique_ptr<Kind> exposure_;
  bench::NumberedBytes source_;
  int rank_;
  int target_;
  MPI_Aint start_ = 0;
  std::int64_t rounds_ = 0;
};

}  // namespace windows
