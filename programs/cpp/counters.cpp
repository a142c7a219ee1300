// SPDX-License-Identifier: BSD-3-Clause
// Every rank puts a block to every rank in each step. Counters at the target count the blocks; no
// request is matched and no rank polls for each peer. docs/guides/counters.md explains the program.

#include <oriel/oriel.hpp>

#include <cstdio>
#include <vector>

namespace {

double block(int from, int to, int step) {
  return from + 100.0 * to + 10000.0 * step;
}

bool run(int rank, int ranks) {
  bool right = true;
  std::vector<double> sent(static_cast<std::size_t>(ranks));
  // A block of every rank, for even and for odd steps.
  const auto window = oriel::window<double>::allocate(2 * sent.size(), MPI_COMM_WORLD);
  window.set_num_notify(2);  // collective: two counters on each rank
  for (int step = 0; step < 20; ++step) {
    const int parity = step % 2;  // a peer is at most one step ahead: it waits for us
    const int half = parity * ranks;
    for (int peer = 0; peer < ranks; ++peer) {
      double& each = sent[static_cast<std::size_t>(peer)];
      each = block(rank, peer, step);
      window.put_notify_counter(each, peer, half + rank, parity);
    }
    window.get_notify_request(parity, (step / 2 + 1) * ranks).wait();  // all have arrived
    const auto arrived = window.memory().subspan(static_cast<std::size_t>(half), sent.size());
    for (int peer = 0; peer < ranks; ++peer) {
      right = right && arrived[static_cast<std::size_t>(peer)] == block(peer, rank, step);
    }
    window.flush_local_all();  // the blocks may be written again
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool right = run(rank, ranks);  // the window is freed before MPI_Finalize
  std::printf(right ? "ok: rank %d of %d\n" : "wrong: rank %d of %d\n", rank, ranks);
  MPI_Finalize();
  return right ? 0 : 1;
}
