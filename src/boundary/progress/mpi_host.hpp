// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/host/host_interface.hpp"

namespace oriel::boundary {

/// The host as the engine sees it: SelfComm advances its traffic, PendingRequests are what it is
/// notified of.
class MpiHost final : public Host {
 public:
  void advance() override;
  bool any_to_complete() const override;
  bool complete_requests() override;
};

extern MpiHost mpi_host;

}  // namespace oriel::boundary
