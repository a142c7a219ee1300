// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "boundary/collectives/alltoallv_arguments.hpp"
#include "boundary/collectives/planned.hpp"
#include "boundary/datatypes/datatypes.hpp"
#include "boundary/datatypes/own_ops.hpp"
#include "core/collective/own_op.hpp"
#include "core/collective/schedules/reduce.hpp"
#include "core/operation/layout.hpp"
#include "core/operation/reduction.hpp"

namespace oriel::boundary {

class PlannedBcast final : public Planned {
 public:
  /// `block`: a buffer with one count.
  PlannedBcast(AlltoallvSide block, int root, int ranks)
      : block_(std::move(block)), root_(root), ranks_(ranks) {}

  CollectiveKind kind() const override { return CollectiveKind::bcast; }
  Failure take() override;
  void add_to(Signature& signature) const override;
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override;

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
  void add_to(Signature& signature) const override;
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override;

 private:
  Failure take_op(const Datatypes::Known& known);
  Failure take_own(const OwnFunction& function, const LayoutRef& layout);
  MadeSchedule schedule_on_copy(const NodeMap& node_map, const Limits& limits);
  Vectors vectors(const void* from, void* into) const {
    return {from, into, static_cast<std::uint64_t>(arguments_.count), reduction_, own_op_};
  }
  Buffer elements(const void* address) const {
    return {const_cast<void*>(address), static_cast<std::uint64_t>(arguments_.count), elements_};
  }

  ReduceArguments arguments_;
  Reduction reduction_;            // for a user-defined op only `element` is set
  std::shared_ptr<OwnOp> own_op_;  // null: the op is predefined
  LayoutRef elements_;
  // The layout of elements in a copy of the vector; null: no copy, because elements have no gaps.
  // The copy has no gaps for predefined ops. It has them for user-defined ops, because the
  // program's function expects elements of the program's datatype.
  LayoutRef copied_;
};

}  // namespace oriel::boundary
