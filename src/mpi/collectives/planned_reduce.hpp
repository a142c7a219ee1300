// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "core/base/limits.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/node_map.hpp"
#include "core/collective/schedules/schedules.hpp"
#include "core/operation/layout.hpp"
#include "core/operation/reduction.hpp"
#include "mpi/collectives/plan_collective.hpp"
#include "mpi/datatypes/datatypes.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"
#include "mpi/operations/ops.hpp"

namespace oriel::mpi {

/// Fails if the root is not one of the ranks.
Failure check_root(int root, int ranks);

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
  Failure read_arguments() override;
  void add_to(Signature& signature) const override;
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override;

 private:
  Failure read_op(const Datatypes::Known& known);
  Failure read_own_op(const OwnFunction& function, const LayoutRef& layout);
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

}  // namespace oriel::mpi
