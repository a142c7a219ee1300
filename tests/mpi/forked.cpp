// SPDX-License-Identifier: BSD-3-Clause
// G8, S5: a program that forks. The child owns nothing of its parent's: it ends by exit(), with all
// that runs then, and its parent's windows go on. Not among the usual programs: it needs nodes.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

/// Forks a child that ends by exit(), and waits for its end.
void have_a_child() {
  constexpr int status_of_child = 7;
  const pid_t child = fork();
  if (child == 0) {
    support::limit_time();  // alarms are not inherited
    std::exit(status_of_child);
  }
  CHECK(child > 0);
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), status_of_child);
}

void fences_around_a_child(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  MPI_Win_fence(0, window);
  for (int i = 0; i < 3; ++i) {
    const int mark = 10 * program.rank() + i;
    MPI_Put(&mark, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    have_a_child();
    MPI_Win_fence(i < 2 ? 0 : MPI_MODE_NOSUCCEED, window);
    CHECK_EQUAL(static_cast<int>(window[0]), 10 * program.left() + i);
    support::barrier();
  }
}

void locks_around_a_child(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const int one = 1;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < 3; ++i) {
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    have_a_child();
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
  support::barrier();
  if (program.rank() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK_EQUAL(static_cast<int>(window[0]), 3 * program.size());
    MPI_Win_unlock(0, window);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (Flavor flavor : {Flavor::create, Flavor::allocate}) {
    program.test("fences around a child", [&] { fences_around_a_child(flavor, program); });
    program.test("locks around a child", [&] { locks_around_a_child(flavor, program); });
  }
}
