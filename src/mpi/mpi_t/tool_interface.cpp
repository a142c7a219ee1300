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

int get_number(const IndexBlock& block, int (*host)(int*), int* number) {
  const int code = host(number);
  if (code != MPI_SUCCESS) return code;
  const Guard guard(engine.lock);
  *number += block.size();
  return MPI_SUCCESS;
}

int get_index(const IndexBlock& block, const std::function<bool(int)>& has_name,
              const std::function<int(int*)>& host, int* index) {
  if (index == nullptr) return MPI_T_ERR_INVALID;
  {
    const Guard guard(engine.lock);
    for (int position = 0; position < block.size(); ++position) {
      if (!has_name(position)) continue;
      *index = block.index_of(position);
      return MPI_SUCCESS;
    }
  }
  const int code = host(index);
  if (code != MPI_SUCCESS) return code;
  const Guard guard(engine.lock);
  *index = block.from_host(*index);
  return MPI_SUCCESS;
}

}  // namespace oriel::mpi
