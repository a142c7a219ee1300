// SPDX-License-Identifier: BSD-3-Clause
// A p4est forest whose shared arrays (the quadrants of all ranks, positions of their parts) are
// MPI's shared windows: refined, balanced and partitioned. The checksum of a forest does not depend
// on the number of ranks.
#include <p4est_bits.h>
#include <p4est_extended.h>
#include <sc_shmem.h>
#include <stdio.h>

enum { COARSE = 4, FINE = 8, ROUNDS = 20 };

// Along a diagonal.
static int refines(p4est_t* forest, p4est_topidx_t tree, p4est_quadrant_t* quadrant) {
  (void)forest, (void)tree;
  const p4est_qcoord_t length = P4EST_QUADRANT_LEN(quadrant->level);
  return quadrant->level < FINE && quadrant->x < quadrant->y + length &&
         quadrant->y < quadrant->x + length;
}

static int weigh(p4est_t* forest, p4est_topidx_t tree, p4est_quadrant_t* quadrant) {
  (void)forest, (void)tree;
  return quadrant->level;
}

int main(int argc, char** argv) {
  sc_MPI_Init(&argc, &argv);
  sc_MPI_Comm comm = sc_MPI_COMM_WORLD;
  sc_init(comm, 0, 0, NULL, SC_LP_ERROR);
  p4est_init(NULL, SC_LP_ERROR);
  sc_shmem_set_type(comm, SC_SHMEM_WINDOW);
  int rank;
  sc_MPI_Comm_rank(comm, &rank);
  unsigned checksum = 0;
  long long quadrants = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    p4est_connectivity_t* square = p4est_connectivity_new_periodic();
    p4est_t* forest = p4est_new_ext(comm, square, 0, COARSE, 1, 0, NULL, NULL);
    p4est_refine(forest, 1, refines, NULL);
    p4est_balance(forest, P4EST_CONNECT_FULL, NULL);
    p4est_partition(forest, 0, weigh);
    checksum = p4est_checksum(forest);
    quadrants = forest->global_num_quadrants;
    p4est_destroy(forest);
    p4est_connectivity_destroy(square);
  }
  if (rank == 0) printf("quadrants %lld, checksum %u\n", quadrants, checksum);
  sc_finalize();
  sc_MPI_Finalize();
  return 0;
}
