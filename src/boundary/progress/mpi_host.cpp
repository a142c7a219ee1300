// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/progress/mpi_host.hpp"

#include "boundary/requests/own_requests.hpp"
#include "boundary/runtime/runtime.hpp"

namespace oriel::boundary {

MpiHost mpi_host;

void MpiHost::advance() {
  runtime.self.advance_host();
}

bool MpiHost::any_to_complete() const {
  return own_requests.pending.any_to_complete();
}

bool MpiHost::complete_requests() {
  return own_requests.pending.complete_at_host();
}

}  // namespace oriel::boundary
