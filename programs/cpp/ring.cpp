// SPDX-License-Identifier: BSD-3-Clause
// Heat spreads in a ring of cells, ten on each rank. In each step a rank puts its two edges into
// its neighbours' windows and waits for theirs: no epoch, no flag and no barrier. docs/cpp.md
// explains the program.

#include <oriel/oriel.hpp>

#include <array>
#include <cstdio>
#include <vector>

namespace {

void spread(std::vector<double>& cells, double before, double after) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double next = i + 1 < cells.size() ? cells[i + 1] : after;
    const double now = cells[i];
    cells[i] = now + 0.25 * (before - now) + 0.25 * (next - now);
    before = now;
  }
}

bool run(int rank, int size) {
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  std::vector<double> ring(10 * static_cast<std::size_t>(size));  // to check the result
  ring[3] = 100;
  const auto own = ring.begin() + 10 * rank;
  std::vector<double> cells(own, own + 10);

  const auto window = oriel::window<double>::allocate(4, MPI_COMM_WORLD);
  std::array arrivals = {window.notify_init(left, 0), window.notify_init(right, 1)};
  for (int step = 0; step < 100; ++step) {
    const int slot =
        2 * (step % 2);  // a neighbour is at most one step ahead: it waits for our data
    const std::array edges = {cells.front(), cells.back()};
    for (auto& each : arrivals) each.start();
    window.put_notify(edges[1], right, slot, 0);
    window.put_notify(edges[0], left, slot + 1, 1);
    for (auto& each : arrivals) each.wait();  // both neighbours' edges are here
    window.flush_local_all();                 // our edges may be overwritten
    const auto halo = window.memory().subspan(static_cast<std::size_t>(slot), 2);
    spread(cells, halo[0], halo[1]);
    spread(ring, ring.back(), ring.front());
  }
  return std::vector<double>(own, own + 10) == cells;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool right = run(rank, size);  // the window is freed before MPI_Finalize
  std::printf(right ? "ok: rank %d of %d\n" : "wrong: rank %d of %d\n", rank, size);
  MPI_Finalize();
  return right ? 0 : 1;
}
