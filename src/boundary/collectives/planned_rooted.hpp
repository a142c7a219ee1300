// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "boundary/collectives/alltoallv_arguments.hpp"
#include "boundary/collectives/planned.hpp"
#include "core/operation/reduction.hpp"

namespace oriel::boundary {

class PlannedBcast final : public Planned {
 public:
  /// `block`: a buffer with one count.
  PlannedBcast(AlltoallvSide block, int root, int ranks)
      : block_(std::move(block)), root_(root), ranks_(ranks) {}

  CollectiveKind kind() const override { return CollectiveKind::bcast; }
  Failure take() override;
  void tell(Topic& topic) const override;
  MadeSchedule schedule(const Placement& placement, const Limits& limits) override;

 private:
  AlltoallvSide block_;
  int root_;
  int ranks_;
  std::vector<Buffer> buffers_;
};

struct ReduceArguments {
  const void* from = nullptr;
  void* into = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  int ranks = 0;
  bool at_root = false;
};

class PlannedReduce final : public Planned {
 public:
  explicit PlannedReduce(const ReduceArguments& arguments) : arguments_(arguments) {}

  CollectiveKind kind() const override { return CollectiveKind::reduce; }
  Failure take() override;
  void tell(Topic& topic) const override;
  MadeSchedule schedule(const Placement& placement, const Limits& limits) override;
  std::unique_ptr<std::byte[]> memory() override { return std::move(packed_); }

 private:
  MadeSchedule schedule_without_gaps(const Placement& placement, const Limits& limits);
  Buffer elements(const void* address) const {
    return {const_cast<void*>(address), static_cast<std::uint64_t>(arguments_.count), elements_};
  }

  ReduceArguments arguments_;
  Reduction reduction_;
  LayoutRef elements_;
  bool gaps_ = false;  // between the elements
  std::unique_ptr<std::byte[]> packed_;
};

}  // namespace oriel::boundary
