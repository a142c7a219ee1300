/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmark of the paper in small: each of its calls, several starts, every element checked. */
#include "oriel/persistent_alltoallv_names.h"

#include "paper_names.h"

typedef int Init(const void*, const int[], const int[], MPI_Datatype, void*, const int[],
                 const int[], MPI_Datatype, MPIX_Comm*, MPIX_Info*, MPIX_Request**);

/* Rank s sends d + 1 elements to rank d. */
static void exchange(Init* init, MPIX_Comm* xcomm, MPIX_Info* xinfo) {
  enum { most = 64, elements = 2 * most };
  int send[elements], receive[elements];
  int send_counts[most], send_places[most], receive_counts[most], receive_places[most];
  MPIX_Request* request = NULL;
  int sent = 0;
  HOLDS(ranks() * (ranks() + 1) / 2 <= elements && ranks() * ranks() <= elements);
  for (int rank = 0; rank < ranks(); ++rank) {
    send_counts[rank] = rank + 1;
    send_places[rank] = sent;
    sent += rank + 1;
    receive_counts[rank] = my_rank() + 1;
    receive_places[rank] = rank * (my_rank() + 1);
  }
  DO(init(send, send_counts, send_places, MPI_INT, receive, receive_counts, receive_places, MPI_INT,
          xcomm, xinfo, &request));
  HOLDS(request != NULL);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < elements; ++i) receive[i] = -1;
    for (int i = 0; i < sent; ++i) send[i] = 10000 * round + 100 * my_rank() + i;
    DO(MPIX_Start(request));
    DO(MPIX_Wait(request, MPI_STATUS_IGNORE));
    const int first = my_rank() * (my_rank() + 1) / 2;
    for (int source = 0; source < ranks(); ++source) {
      for (int i = 0; i <= my_rank(); ++i) {
        HOLDS(receive[receive_places[source] + i] == 10000 * round + 100 * source + first + i);
      }
    }
    all_ranks();
  }
  DO(MPIX_Request_free(request));

  /* One rank's wrong argument is an error on all, and makes no request. */
  request = NULL;
  send_counts[0] = my_rank() == 0 ? -1 : 1;
  HOLDS(init(send, send_counts, send_places, MPI_INT, receive, receive_counts, receive_places,
             MPI_INT, xcomm, xinfo, &request) != MPI_SUCCESS);
  HOLDS(request == NULL);
}

void test_persistent_alltoallv(void) {
  MPIX_Comm* xcomm = NULL;
  MPIX_Info* xinfo = NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  DO(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  DO(MPIX_Comm_init(&xcomm, comm));
  HOLDS(xcomm->global_comm == comm);
  DO(MPIX_Info_init(&xinfo));
  exchange(alltoallv_rma_winfence_init, xcomm, xinfo);
  DO(MPIX_Comm_win_free(xcomm));
  exchange(alltoallv_rma_winfence_init_han, xcomm, xinfo);
  exchange(alltoallv_rma_lock_init, xcomm, xinfo);
  exchange(alltoallv_rma_lock_init_han, xcomm, xinfo);
  exchange(MPIX_Alltoallv_init, xcomm, xinfo);
  DO(MPIX_Info_free(&xinfo));
  DO(MPIX_Comm_free(&xcomm));
  HOLDS(xinfo == NULL && xcomm == NULL);
  DO(MPI_Comm_free(&comm));
}
