// SPDX-License-Identifier: BSD-3-Clause
// Functions of a host that the MPI layer calls and no test needs, and the hook in the host's
// progress engine, as MPICH has it since 4.3. Without mpi.h: its declarations have arguments, and
// only some versions declare the hook.
#include <cstdio>
#include <cstdlib>

// NOLINTBEGIN(bugprone-macro-parentheses): declarators take none
#define ORIEL_UNNEEDED(name)                                                                  \
  extern "C" [[noreturn]] void PMPI_##name() {                                                \
    std::fputs("fake host: PMPI_" #name " is not there; give the fake what the test needs\n", \
               stderr);                                                                       \
    std::abort();                                                                             \
  }
// NOLINTEND(bugprone-macro-parentheses)

ORIEL_UNNEEDED(Cancel)
ORIEL_UNNEEDED(Cart_shift)
ORIEL_UNNEEDED(Cartdim_get)
ORIEL_UNNEEDED(Comm_create_from_group)
ORIEL_UNNEEDED(Comm_get_parent)
ORIEL_UNNEEDED(Comm_idup)
ORIEL_UNNEEDED(Comm_idup_with_info)
ORIEL_UNNEEDED(Dist_graph_neighbors)
ORIEL_UNNEEDED(Dist_graph_neighbors_count)
ORIEL_UNNEEDED(Graph_neighbors)
ORIEL_UNNEEDED(Graph_neighbors_count)
ORIEL_UNNEEDED(Group_from_session_pset)
ORIEL_UNNEEDED(Iallgather_c)
ORIEL_UNNEEDED(Iallgatherv)
ORIEL_UNNEEDED(Iallgatherv_c)
ORIEL_UNNEEDED(Iallreduce_c)
ORIEL_UNNEEDED(Ialltoall)
ORIEL_UNNEEDED(Ialltoall_c)
ORIEL_UNNEEDED(Ialltoallv)
ORIEL_UNNEEDED(Ialltoallv_c)
ORIEL_UNNEEDED(Ialltoallw)
ORIEL_UNNEEDED(Ialltoallw_c)
ORIEL_UNNEEDED(Ibcast_c)
ORIEL_UNNEEDED(Iexscan)
ORIEL_UNNEEDED(Iexscan_c)
ORIEL_UNNEEDED(Igather)
ORIEL_UNNEEDED(Igather_c)
ORIEL_UNNEEDED(Igatherv)
ORIEL_UNNEEDED(Igatherv_c)
ORIEL_UNNEEDED(Imrecv)
ORIEL_UNNEEDED(Imrecv_c)
ORIEL_UNNEEDED(Ineighbor_allgather)
ORIEL_UNNEEDED(Ineighbor_allgather_c)
ORIEL_UNNEEDED(Ineighbor_allgatherv)
ORIEL_UNNEEDED(Ineighbor_allgatherv_c)
ORIEL_UNNEEDED(Ineighbor_alltoall)
ORIEL_UNNEEDED(Ineighbor_alltoall_c)
ORIEL_UNNEEDED(Ineighbor_alltoallv)
ORIEL_UNNEEDED(Ineighbor_alltoallv_c)
ORIEL_UNNEEDED(Ineighbor_alltoallw)
ORIEL_UNNEEDED(Ineighbor_alltoallw_c)
ORIEL_UNNEEDED(Irecv_c)
ORIEL_UNNEEDED(Ireduce)
ORIEL_UNNEEDED(Ireduce_c)
ORIEL_UNNEEDED(Ireduce_scatter)
ORIEL_UNNEEDED(Ireduce_scatter_block)
ORIEL_UNNEEDED(Ireduce_scatter_block_c)
ORIEL_UNNEEDED(Ireduce_scatter_c)
ORIEL_UNNEEDED(Irsend)
ORIEL_UNNEEDED(Irsend_c)
ORIEL_UNNEEDED(Iscan)
ORIEL_UNNEEDED(Iscan_c)
ORIEL_UNNEEDED(Iscatter)
ORIEL_UNNEEDED(Iscatter_c)
ORIEL_UNNEEDED(Iscatterv)
ORIEL_UNNEEDED(Iscatterv_c)
ORIEL_UNNEEDED(Isend_c)
ORIEL_UNNEEDED(Issend)
ORIEL_UNNEEDED(Issend_c)
ORIEL_UNNEEDED(Pack_c)
ORIEL_UNNEEDED(Pack_size_c)
ORIEL_UNNEEDED(Topo_test)
ORIEL_UNNEEDED(Type_dup)

namespace {

int (*hook)(void*) = nullptr;
void* hook_state = nullptr;

}  // namespace

extern "C" int PMPIX_Async_start(int (*poll)(void*), void* state, int) {
  hook = poll;
  hook_state = state;
  return 0;
}

namespace oriel::test {

void make_progress() {
  if (hook != nullptr) hook(hook_state);
}

}  // namespace oriel::test
