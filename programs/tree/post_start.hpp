// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "bench/group.hpp"
#include "bench/window.hpp"
#include "shape.hpp"
#include "slots.hpp"
#include "values.hpp"

namespace tree {

/// By an exposure epoch for all children and an access epoch to the parent.
class PostStart {
 public:
  PostStart(const Shape& shape, bench::Memory memory, std::size_t words)
      : shape_(shape),
        slots_(shape, memory, words),
        children_(shape.children()),
        parent_({shape.parent()}) {}

  void reduce(std::span<double> sums) {
    if (!shape_.children().empty()) {
      MPI_Win_post(children_.handle(), MPI_MODE_NOSTORE, slots_.window());
      MPI_Win_wait(slots_.window());
      for (std::size_t place = 0; place < shape_.children().size(); ++place) {
        add(sums, slots_.values(place));
      }
    }
    if (!shape_.root()) {
      MPI_Win_start(parent_.handle(), 0, slots_.window());
      slots_.put(sums);
      MPI_Win_complete(slots_.window());
    }
  }

 private:
  const Shape& shape_;
  Slots slots_;
  bench::Group children_;
  bench::Group parent_;
};

}  // namespace tree
