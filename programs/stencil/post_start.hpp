// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "bench/group.hpp"
#include "bench/window.hpp"
#include "domain.hpp"
#include "slots.hpp"

namespace stencil {

/// By an access and an exposure epoch for every value. The next exposure is posted before the row
/// is computed, so that the left rank may be that far ahead.
class PostStart {
 public:
  PostStart(const Domain& domain, bench::Memory memory)
      : domain_(domain), slots_(domain, memory), left_({domain.left()}), right_({domain.right()}) {}

  void begin(std::int64_t) { MPI_Win_post(left_.handle(), MPI_MODE_NOSTORE, slots_.window()); }
  double receive(int row) {
    MPI_Win_wait(slots_.window());
    const bool last = row == corner_slot || row == domain_.rows() - 1;
    if (!last) MPI_Win_post(left_.handle(), MPI_MODE_NOSTORE, slots_.window());
    return slots_[row].value;
  }
  void send(int row, const double* value) {
    MPI_Win_start(right_.handle(), 0, slots_.window());
    slots_.put(value, domain_.right(), row);
    MPI_Win_complete(slots_.window());
  }
  void end() {}

 private:
  const Domain& domain_;
  Slots slots_;
  bench::Group left_;
  bench::Group right_;
};

}  // namespace stencil
