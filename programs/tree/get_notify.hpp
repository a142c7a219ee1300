// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/notify_api.hpp"
#include "bench/window.hpp"
#include "shape.hpp"
#include "values.hpp"

namespace tree {

/// By notified gets: a contribution stays at its child until the parent fetches it, into the next
/// of its own buffers. Only the parent knows these, so that it need not know which children there
/// are before they announce themselves, by a notified put of no elements. The get notifies the
/// child that it may overwrite its contribution.
class GetNotify {
 public:
  GetNotify(const Shape& shape, bench::Memory memory, std::size_t words)
      : shape_(shape),
        words_(words),
        window_(memory, words * sizeof(double)),
        contribution_(static_cast<double*>(window_.base())),
        received_(shape.children().size() * words) {
    oriel_.init(window_.handle(), MPI_ANY_SOURCE, ready_tag, 1, &ready_);
    if (!shape.root()) oriel_.init(window_.handle(), shape.parent(), free_tag, 1, &free_);
  }
  ~GetNotify() {
    MPI_Request_free(&ready_);
    if (free_ != MPI_REQUEST_NULL) MPI_Request_free(&free_);
  }
  GetNotify(const GetNotify&) = delete;
  GetNotify& operator=(const GetNotify&) = delete;

  void reduce(std::span<double> sums) {
    fetch();
    for (std::size_t place = 0; place < shape_.children().size(); ++place) {
      add(sums, &received_[place * words_]);
    }
    if (!shape_.root()) offer(sums);
  }

 private:
  static constexpr int ready_tag = 0;
  static constexpr int free_tag = 1;

  /// The contributions of all children, in the order in which they are ready.
  void fetch() {
    if (shape_.children().empty()) return;
    const int count = static_cast<int>(words_);
    for (std::size_t place = 0; place < shape_.children().size(); ++place) {
      const int child = wait(ready_);
      oriel_.get(&received_[place * words_], count, MPI_DOUBLE, child, 0, count, MPI_DOUBLE,
                 window_.handle(), free_tag);
    }
    MPI_Win_flush_local_all(window_.handle());
  }

  void offer(std::span<const double> sums) {
    if (offered_) wait(free_);
    offered_ = true;
    std::copy(sums.begin(), sums.end(), contribution_);
    oriel_.put(nullptr, 0, MPI_DOUBLE, shape_.parent(), 0, 0, MPI_DOUBLE, window_.handle(),
               ready_tag);
  }

  /// Returns from whom the notification came.
  static int wait(MPI_Request& request) {
    MPI_Status status{};
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    return status.MPI_SOURCE;
  }

  const bench::NotifyApi oriel_;
  const Shape& shape_;
  std::size_t words_;
  bench::Window window_;
  double* contribution_;
  std::vector<double> received_;
  MPI_Request ready_ = MPI_REQUEST_NULL;
  MPI_Request free_ = MPI_REQUEST_NULL;
  bool offered_ = false;
};

}  // namespace tree
