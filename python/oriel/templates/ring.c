/* The ranks form a ring. Each rank passes on what has arrived from its left neighbour, until every
 * rank has had the values of all ranks, and adds them up. A notified put writes a value into the
 * right neighbour's window and notifies that rank, which waits for the notification: there is no
 * epoch, no flag and no barrier. */
#include <mpi.h>
#include <oriel/oriel.h>
#include <stdio.h>

enum { TAG = 1 };

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;

  /* An element for each step: a left neighbour that is ahead of us overwrites nothing. */
  long* values;
  MPI_Win win;
  MPI_Win_allocate((MPI_Aint)(size * sizeof(long)), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &values, &win);
  MPI_Request arrived; /* persistent: made once, started for each step */
  ORIEL_Notify_init(win, left, TAG, 1, &arrived);

  values[0] = rank;
  long sum = values[0];
  for (int step = 1; step < size; ++step) {
    MPI_Start(&arrived);
    ORIEL_Put_notify(&values[step - 1], 1, MPI_LONG, right, step, 1, MPI_LONG, win, TAG);
    MPI_Wait(&arrived, MPI_STATUS_IGNORE); /* values[step] is here */
    sum += values[step];
  }
  MPI_Win_flush_local_all(win); /* our puts have read values, which goes with the window */
  MPI_Request_free(&arrived);
  MPI_Win_free(&win);

  const long expected = (long)size * (size - 1) / 2;
  printf("%s: rank %d of %d has the sum %ld\n", sum == expected ? "ok" : "wrong", rank, size, sum);
  MPI_Finalize();
  return sum == expected ? 0 : 1;
}
