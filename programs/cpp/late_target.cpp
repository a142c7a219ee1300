// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 is late: it exposes its memory after 100 ms of other work. Rank 0 puts into that memory,
// and has 100 ms of work that needs no answer. It closes its epoch once by the blocking call and
// once by the nonblocking one.

#include <oriel/oriel.hpp>

#include <cstdio>

namespace {

void work() {
  const double end = MPI_Wtime() + 0.1;
  while (MPI_Wtime() < end) {
  }
}

bool run(int rank) {
  bool right = true;
  const auto window = oriel::window<double>::allocate(1, MPI_COMM_WORLD);
  MPI_Group all;
  MPI_Group peer;
  const int other = 1 - rank;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &other, &peer);
  for (const bool nonblocking : {false, true}) {
    const double data = nonblocking ? 2 : 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (rank == 1) {
      work();  // late
      {
        const oriel::post_epoch epoch(window, peer);
      }  // waits for the put
      right = right && window.memory()[0] == data;
    } else if (!nonblocking) {
      {
        const oriel::start_epoch epoch(window, peer);
        window.put(data, 1, 0);
      }  // waits for rank 1
      work();
    } else {
      oriel::start_epoch epoch(oriel::nonblocking, window, peer);
      window.put(data, 1, 0);
      oriel::request closed = epoch.icomplete();  // does not wait
      work();
      closed.wait();  // rank 1 has the data; ours may be changed
    }
    if (rank == 0) {
      std::printf("%-12s%.3f s\n", nonblocking ? "nonblocking" : "blocking", MPI_Wtime() - begin);
    }
  }
  MPI_Group_free(&peer);
  MPI_Group_free(&all);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool right = run(rank);  // the window is freed before MPI_Finalize
  std::printf(right ? "ok: rank %d\n" : "wrong: rank %d\n", rank);
  MPI_Finalize();
  return right ? 0 : 1;
}
