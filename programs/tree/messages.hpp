// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "bench/window.hpp"
#include "shape.hpp"
#include "values.hpp"

namespace tree {

/// By point-to-point communication, in a program without windows.
class Messages {
 public:
  Messages(const Shape& shape, bench::Memory, std::size_t words)
      : shape_(shape),
        words_(words),
        received_(shape.children().size() * words),
        requests_(shape.children().size(), MPI_REQUEST_NULL) {}

  void reduce(std::span<double> sums) {
    const std::vector<int>& children = shape_.children();
    const int count = static_cast<int>(words_);
    for (std::size_t place = 0; place < children.size(); ++place) {
      MPI_Irecv(&received_[place * words_], count, MPI_DOUBLE, children[place], tag, MPI_COMM_WORLD,
                &requests_[place]);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (std::size_t place = 0; place < children.size(); ++place) {
      add(sums, &received_[place * words_]);
    }
    if (!shape_.root()) {
      MPI_Send(sums.data(), count, MPI_DOUBLE, shape_.parent(), tag, MPI_COMM_WORLD);
    }
  }

 private:
  static constexpr int tag = 0;

  const Shape& shape_;
  std::size_t words_;
  std::vector<double> received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace tree
