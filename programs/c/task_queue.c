/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks draw tasks from a counter on rank 0 and put the results there. One request on rank 0 counts
 * the results. docs/guides/task_queue.md explains the program. */
#include <oriel/oriel.h>

#include <stdint.h>
#include <stdio.h>

enum { TASKS = 200, TAG = 1 };

static double solve(int64_t task) {
  double sum = 0;
  for (int64_t i = 1; i <= 1000 * (1 + task % 5); ++i) sum += 1.0 / (double)(i * i);
  return sum + (double)task;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  /* [queue] */
  MPI_Win win;
  double*
      memory; /* on rank 0: the number of the next task (8 bytes), then a result for each task */
  MPI_Win_allocate(rank == 0 ? (1 + TASKS) * sizeof(double) : 0, sizeof(double), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &memory, &win);
  MPI_Request finished = MPI_REQUEST_NULL;
  if (rank == 0) {
    *(int64_t*)memory = 0;
    ORIEL_Notify_init(win, MPI_ANY_SOURCE, TAG, TASKS, &finished); /* completes after all results */
    MPI_Start(&finished);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock_all(0, win);
  const int64_t one = 1;
  double result;
  int done = 0;
  for (;;) {
    int64_t task;
    MPI_Fetch_and_op(&one, &task, MPI_INT64_T, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win); /* the number is here; the last result may be overwritten */
    if (task >= TASKS) break;
    result = solve(task);
    ORIEL_Put_notify(&result, 1, MPI_DOUBLE, 0, 1 + task, 1, MPI_DOUBLE, win, TAG);
    ++done;
  }
  MPI_Win_unlock_all(win);
  if (rank == 0) {
    MPI_Wait(&finished, MPI_STATUS_IGNORE); /* the results of all ranks are in memory */
    MPI_Request_free(&finished);
  }
  /* [end] */

  int wrong = 0;
  if (rank == 0)
    for (int task = 0; task < TASKS; ++task) wrong |= memory[1 + task] != solve(task);
  printf("%s: rank %d did %d tasks\n", wrong ? "wrong" : "ok", rank, done);
  MPI_Win_free(&win);
  MPI_Finalize();
  return wrong;
}
