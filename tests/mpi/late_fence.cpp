// SPDX-License-Identifier: BSD-3-Clause
// A fence for which one rank is late by more than ORIEL_PEER_TIMEOUT. It lives, so all others wait,
// however many of them ask after it: the nodes' kernels hold one connection that is not accepted
// (somaxconn), which takes a node of its own.
#include <unistd.h>

#include <fstream>

#include "support/program.hpp"
#include "support/window.hpp"

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  program.test("a rank that is late for a fence", [&] {
    support::barrier();  // the host has its connections
    std::ofstream somaxconn("/proc/sys/net/core/somaxconn");
    CHECK(bool(somaxconn << 1 << std::flush));
    support::Window<int> window(support::Flavor::allocate, 1);
    const int value = 1 + program.rank();
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    if (program.rank() == 0) sleep(3);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK_EQUAL(static_cast<int>(window[0]), 1 + program.left());
  });
}
