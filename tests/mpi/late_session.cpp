// SPDX-License-Identifier: BSD-3-Clause
// G8: MPI has granted no threads; one begins a session all the same, which MPI allows at any time,
// while the program waits in a call on a window.
#include <unistd.h>

#include <thread>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

constexpr unsigned begins_after = 50'000;  // microseconds
constexpr unsigned late_by = 250'000;

void begin_and_end_session() {
  usleep(begins_after);
  MPI_Session session = MPI_SESSION_NULL;
  CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Session_finalize(&session), MPI_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  program.test("a session is begun during a wait", [&] {
    support::Window<int> window(support::Flavor::allocate, 1);
    MPI_Win_fence(0, window);
    std::thread thread;
    if (program.rank() == 0) {
      thread = std::thread(begin_and_end_session);
    } else {
      usleep(late_by);
    }
    MPI_Win_fence(0, window);
    const int value = 1 + program.rank();
    MPI_Put(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    if (thread.joinable()) thread.join();
    MPI_Win_fence(0, window);
    CHECK_EQUAL(window[0], 1 + program.left());
  });
}
