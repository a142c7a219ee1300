/* SPDX-License-Identifier: BSD-3-Clause */
/* E1, N1, Q3 to Q7, C1 as programs write them that were written against the papers' prototypes. */
#include <unistd.h>

#include "oriel/notified_access_names.h"
#include "paper_names.h"

int main(int argc, char** argv) {
  alarm(50);
  DO(foMPI_Init(&argc, &argv));
  test_nonblocking_epochs();
  test_notified_access();
  test_fompi();
  test_quo_vadis();
  test_persistent_alltoallv();
  if (my_rank() == 0) printf("ok: 5 tests on %d ranks\n", ranks());
  return foMPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
