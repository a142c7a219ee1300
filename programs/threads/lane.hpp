// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/numbered_bytes.hpp"
#include "shared_window.hpp"

namespace threads {

/// What one thread puts into its own part of the window.
class Lane {
 public:
  Lane(const SharedWindow& window, int part, int target, std::size_t bytes)
      : window_(window), part_(part), target_(target), sources_{Source(bytes), Source(bytes)} {}

  /// Another number for the puts to come. No put may be under way.
  void renew() { sources_[0].number(++number_); }
  void put() const { put(sources_[0]); }
  void flush() const { MPI_Win_flush(target_, window_.handle()); }

  void put_and_flush() {
    renew();
    put();
    flush();
  }

  /// So many puts in a row, and a flush. Their contents differ in turn where the MPI keeps their
  /// order: else the last one would be anybody's guess.
  void put_row(int length, bool ordered) {
    number_ += 2;
    sources_[0].number(ordered ? number_ - 1 : number_);
    sources_[1].number(number_);
    for (int left = length; left > 0; --left) put(sources_[left % 2]);
    flush();
  }

  /// Which put was the last.
  std::int64_t number() const { return number_; }

  /// At the target: ends the job unless its part holds the put of this number.
  void expect(std::int64_t number) {
    sources_[0].number(number);
    const auto bytes = static_cast<std::size_t>(sources_[0].count());
    sources_[0].expect({window_.own(part_), bytes}, "the part of thread " + std::to_string(part_));
  }

 private:
  using Source = bench::NumberedBytes;

  void put(const Source& source) const {
    MPI_Put(source.data(), source.count(), MPI_BYTE, target_, window_.displacement(part_),
            source.count(), MPI_BYTE, window_.handle());
  }

  const SharedWindow& window_;
  int part_;
  int target_;
  std::array<Source, 2> sources_;
  // No two threads count the same: a part that another thread has written would not look right.
  std::int64_t number_ = std::int64_t{part_} * 1'000'003;
};

}  // namespace threads
