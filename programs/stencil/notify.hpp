// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "bench/notify_api.hpp"
#include "bench/window.hpp"
#include "domain.hpp"
#include "slots.hpp"

namespace stencil {

/// By notified puts, each of which is the value and its announcement. docs/examples.md goes through
/// this line by line.
class Notify {
 public:
  Notify(const Domain& domain, bench::Memory memory) : domain_(domain), slots_(domain, memory) {
    oriel_.init(slots_.window(), domain.left(), tag, 1, &arrival_);
  }
  ~Notify() { MPI_Request_free(&arrival_); }
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;

  void begin(std::int64_t) {}
  double receive(int row) {
    MPI_Start(&arrival_);
    MPI_Wait(&arrival_, MPI_STATUS_IGNORE);
    return slots_[row].value;
  }
  void send(int row, const double* value) {
    oriel_.put(value, 1, MPI_DOUBLE, domain_.right(), Slots::of_value(row), 1, MPI_DOUBLE,
               slots_.window(), tag);
  }
  void end() { MPI_Win_flush_local(domain_.right(), slots_.window()); }

 private:
  static constexpr int tag = 0;

  const bench::NotifyApi oriel_;
  const Domain& domain_;
  Slots slots_;
  MPI_Request arrival_ = MPI_REQUEST_NULL;
};

}  // namespace stencil
