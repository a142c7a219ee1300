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

/// The child has the memory as it was at the fork, and its parent does not see what it stores.
void expect_private(int* memory, int count) {
  int to_child[2];
  CHECK_EQUAL(pipe(to_child), 0);
  for (int i = 0; i < count; ++i) memory[i] = i;
  const pid_t child = fork();
  if (child == 0) {
    support::limit_time();
    char token = 0;
    bool right = read(to_child[0], &token, 1) == 1;
    for (int i = 0; i < count; ++i) {
      right = right && memory[i] == i;
      memory[i] = -1;
    }
    _exit(right ? 0 : 1);
  }
  CHECK(child > 0);
  for (int i = 0; i < count; ++i) memory[i] = 2 * i;
  CHECK_EQUAL(write(to_child[1], "x", 1), 1);
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  for (int i = 0; i < count; ++i) CHECK_EQUAL(memory[i], 2 * i);
  close(to_child[0]);
  close(to_child[1]);
}

/// Memory of MPI_Alloc_mem, before, between and after windows on it.
void memory_around_a_child(const Program& program) {
  constexpr int count = 5000;
  int* memory = nullptr;
  MPI_Alloc_mem(count * sizeof(int), MPI_INFO_NULL, &memory);
  for (int round = 0; round < 2; ++round) {
    expect_private(memory, count);
    support::barrier();
    MPI_Win window;
    MPI_Win_create(memory, count * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    for (int i = 0; i < 2; ++i) {
      const int mark = 10 * program.rank() + i;
      MPI_Win_fence(0, window);
      MPI_Put(&mark, 1, MPI_INT, program.right(), count - 1, 1, MPI_INT, window);
      have_a_child();
      MPI_Win_fence(0, window);
      CHECK_EQUAL(memory[count - 1], 10 * program.left() + i);
    }
    MPI_Win_free(&window);
  }
  expect_private(memory, count);
  MPI_Free_mem(memory);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (Flavor flavor : {Flavor::create, Flavor::allocate}) {
    program.test("fences around a child", [&] { fences_around_a_child(flavor, program); });
    program.test("locks around a child", [&] { locks_around_a_child(flavor, program); });
  }
  program.test("memory around a child", [&] { memory_around_a_child(program); });
}
