// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/base/limits.hpp"
#include "core/collective/schedule.hpp"
#include "core/collective/schedules/node_map.hpp"
#include "core/collective/schedules/schedules.hpp"
#include "core/operation/layout.hpp"
#include "core/operation/reduction.hpp"
#include "mpi/collectives/alltoallv_arguments.hpp"
#include "mpi/collectives/signature.hpp"
#include "mpi/datatypes/datatypes.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/host/host.hpp"
#include "mpi/operations/ops.hpp"

namespace oriel::mpi {

/// One rank's part of a persistent collective that only a plan can carry out.
class Planned {
 public:
  Planned() = default;
  virtual ~Planned() = default;
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;

  virtual CollectiveKind kind() const = 0;
  /// Reads and checks the arguments. With the process lock.
  virtual Failure take() = 0;
  // Only if take() has succeeded:
  /// Adds to the signature the values that must be equal on all ranks.
  virtual void add_to(Signature&) const {}
  /// Throws std::bad_alloc.
  virtual MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) = 0;
};

/// Makes the request of the collective. All ranks call this, and all raise the same fault.
int make_planned(const char* call, Planned& planned, MPI_Comm communicator, int rank, MPI_Info info,
                 MPI_Request* request);

/// Alltoall and alltoallw.
class PlannedAlltoall final : public Planned {
 public:
  PlannedAlltoall(CollectiveKind kind, AlltoallvArguments arguments)
      : kind_(kind), arguments_(std::move(arguments)) {}

  CollectiveKind kind() const override { return kind_; }
  Failure take() override;
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override;

 private:
  CollectiveKind kind_;
  AlltoallvArguments arguments_;
  AlltoallvBuffers buffers_;
};

/// Allgatherv. `arguments`: one block to send.
class PlannedAllgatherv final : public Planned {
 public:
  PlannedAllgatherv(AlltoallvArguments arguments, int rank)
      : arguments_(std::move(arguments)), rank_(rank) {}

  CollectiveKind kind() const override { return CollectiveKind::allgatherv; }
  Failure take() override;
  void add_to(Signature& signature) const override;
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override;

 private:
  AlltoallvArguments arguments_;
  int rank_;
  AlltoallvBuffers buffers_;
};

/// The ranks at the other ends of a rank's edges.
struct Neighbors {
  std::vector<int> to;
  std::vector<int> from;
  EdgeMatching matching = EdgeMatching::graph;
};

/// Finds the neighbors in the topology of a communicator. Fails if it has no topology.
Failure find_neighbors(MPI_Comm communicator, int rank, Neighbors& neighbors);

/// Neighbor_alltoallv. `arguments`: a block for each edge. `fault`: that of find_neighbors().
class PlannedNeighbors final : public Planned {
 public:
  PlannedNeighbors(AlltoallvArguments arguments, Neighbors neighbors, Failure fault)
      : arguments_(std::move(arguments)), neighbors_(std::move(neighbors)), fault_(fault) {}

  CollectiveKind kind() const override { return CollectiveKind::neighbor_alltoallv; }
  Failure take() override;
  MadeSchedule schedule(const NodeMap& node_map, const Limits& limits) override;

 private:
  AlltoallvArguments arguments_;
  Neighbors neighbors_;
  Failure fault_;
  AlltoallvBuffers buffers_;
};

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

}  // namespace oriel::mpi
