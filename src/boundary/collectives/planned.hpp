// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/collectives/signature.hpp"
#include "boundary/host/errors.hpp"
#include "boundary/host/host.hpp"
#include "core/base/limits.hpp"
#include "core/collective/schedules/made_schedule.hpp"
#include "core/collective/schedules/node_map.hpp"

namespace oriel::boundary {

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

}  // namespace oriel::boundary
