/* SPDX-License-Identifier: BSD-3-Clause */
/* A breadth-first search. The vertices are dealt to the ranks; a level is an epoch of accumulates
 * with MPI_MIN, which a nonblocking fence closes. docs/guides/graph.md explains the program. */
#include <oriel/oriel.h>

#include <stdio.h>
#include <stdlib.h>

enum { OWN = 500, DEGREE = 4, FAR = 1 << 20 };

/* A graph that every rank can compute: each vertex has so many successors. */
static int successor(int vertex, int edge, int vertices) {
  return (int)((unsigned)(vertex + 1) * (2654435761u + 40503u * (unsigned)edge) >> 8) % vertices;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int vertices = OWN * ranks;

  /* [levels] */
  MPI_Win win;
  int* distance; /* of vertex v: on rank v / OWN, at v % OWN */
  MPI_Win_allocate(OWN * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &distance, &win);
  for (int i = 0; i < OWN; ++i) distance[i] = FAR;
  if (rank == 0) distance[0] = 0;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  int level = 0;
  long visited = 0;
  for (int any = 1; any; ++level) {
    const int next = level + 1;
    int frontier[OWN], count = 0;
    for (int i = 0; i < OWN; ++i)
      if (distance[i] == level) frontier[count++] = i;
    MPI_Win_fence(0, win); /* all ranks have read their distances */
    for (int i = 0; i < count; ++i) {
      for (int edge = 0; edge < DEGREE; ++edge) {
        const int v = successor(rank * OWN + frontier[i], edge, vertices);
        MPI_Accumulate(&next, 1, MPI_INT, v / OWN, v % OWN, 1, MPI_INT, MPI_MIN, win);
      }
    }
    MPI_Request closed;
    ORIEL_Win_ifence(0, win, &closed); /* does not wait for the other ranks */
    visited += count;                  /* work that needs no distance */
    any = count > 0;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    MPI_Wait(&closed, MPI_STATUS_IGNORE); /* all updates are in memory */
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  /* [end] */

  /* The same search by this rank alone. */
  int* queue = malloc(sizeof(int) * vertices);
  int* expected = malloc(sizeof(int) * vertices);
  for (int v = 0; v < vertices; ++v) expected[v] = FAR;
  int last = 1;
  queue[0] = expected[0] = 0;
  for (int first = 0; first < last; ++first) {
    for (int edge = 0; edge < DEGREE; ++edge) {
      const int v = successor(queue[first], edge, vertices);
      if (expected[v] != FAR) continue;
      expected[v] = expected[queue[first]] + 1;
      queue[last++] = v;
    }
  }
  int wrong = 0;
  for (int i = 0; i < OWN; ++i) wrong |= distance[i] != expected[rank * OWN + i];
  printf("%s: rank %d visited %ld of %d vertices in %d levels\n", wrong ? "wrong" : "ok", rank,
         visited, OWN, level - 1);
  free(expected);
  free(queue);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
