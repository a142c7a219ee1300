// SPDX-License-Identifier: BSD-3-Clause
// What the boundary calls of a host and no test needs. Without mpi.h, whose declarations have
// arguments.
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
ORIEL_UNNEEDED(Comm_idup)
ORIEL_UNNEEDED(Dist_graph_neighbors)
ORIEL_UNNEEDED(Dist_graph_neighbors_count)
ORIEL_UNNEEDED(Graph_neighbors)
ORIEL_UNNEEDED(Graph_neighbors_count)
ORIEL_UNNEEDED(Group_excl)
ORIEL_UNNEEDED(Group_from_session_pset)
ORIEL_UNNEEDED(Group_size)
ORIEL_UNNEEDED(Group_translate_ranks)
ORIEL_UNNEEDED(Ialltoall)
ORIEL_UNNEEDED(Ialltoallv)
ORIEL_UNNEEDED(Igather)
ORIEL_UNNEEDED(Irecv)
ORIEL_UNNEEDED(Ireduce)
ORIEL_UNNEEDED(Issend)
ORIEL_UNNEEDED(Topo_test)
ORIEL_UNNEEDED(Type_dup)
ORIEL_UNNEEDED(Type_get_contents)
