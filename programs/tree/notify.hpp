// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "bench/notify_api.hpp"
#include "bench/window.hpp"
#include "shape.hpp"
#include "slots.hpp"
#include "values.hpp"

namespace tree {

/// By notified puts: one request counts the contributions of all children.
class Notify {
 public:
  Notify(const Shape& shape, bench::Memory memory, std::size_t words)
      : shape_(shape), slots_(shape, memory, words) {
    const int children = static_cast<int>(shape.children().size());
    oriel_.init(slots_.window(), MPI_ANY_SOURCE, tag, children, &arrivals_);
  }
  ~Notify() { MPI_Request_free(&arrivals_); }
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;

  void reduce(std::span<double> sums) {
    if (!shape_.children().empty()) {
      MPI_Start(&arrivals_);
      MPI_Wait(&arrivals_, MPI_STATUS_IGNORE);
      for (std::size_t place = 0; place < shape_.children().size(); ++place) {
        add(sums, slots_.values(place));
      }
    }
    if (!shape_.root()) {
      const int count = static_cast<int>(sums.size());
      oriel_.put(sums.data(), count, MPI_DOUBLE, shape_.parent(), slots_.at_parent(), count,
                 MPI_DOUBLE, slots_.window(), tag);
      MPI_Win_flush_local(shape_.parent(), slots_.window());
    }
  }

 private:
  static constexpr int tag = 0;

  const bench::NotifyApi oriel_;
  const Shape& shape_;
  Slots slots_;
  MPI_Request arrivals_ = MPI_REQUEST_NULL;
};

}  // namespace tree
