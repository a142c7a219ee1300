// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/mpi_t/tool_interface.hpp"

#include "core/base/settings.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/mpi_t/pvars.hpp"
#include "mpi/runtime/runtime.hpp"

namespace oriel::mpi {

ToolInterface tool_interface;

namespace {

int read_count(int (*get_num)(int*)) {
  int found = 0;
  get_num(&found);
  return found;
}

}  // namespace

void ToolInterface::begin() {
  if (uses_++ != 0 || runtime.disabled()) return;
  const HostMpi& host = host_mpi();
  cvars.assign(static_cast<int>(settings().size()), read_count(host.T_cvar_get_num));
  pvars.assign(static_cast<int>(mpi::pvars().size()), read_count(host.T_pvar_get_num));
  categories.assign(1, read_count(host.T_category_get_num));
}

void ToolInterface::end() {
  if (--uses_ != 0) return;
  cvars.remove();
  pvars.remove();
  categories.remove();
  pvar_handles.clear();
}

IndexBlock::Resolved resolve(const IndexBlock& block, int index) {
  const Guard guard(engine.lock);
  return block.resolve(index);
}

}  // namespace oriel::mpi
