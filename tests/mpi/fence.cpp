// SPDX-License-Identifier: BSD-3-Clause
// G5, S1: fence with every assert, and what it orders.
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

/// Puts to all, local stores, gets from all, in turn: each sees what the fence before it ordered.
void rounds(Flavor flavor, const Program& program) {
  const auto size = static_cast<std::size_t>(program.size());
  Window<int> window(flavor, size + 1);
  MPI_Win_fence(0, window);
  for (int round = 0; round < 20; ++round) {
    const int mark = round * 100 + program.rank();
    for (int target = 0; target < program.size(); ++target) {
      MPI_Put(&mark, 1, MPI_INT, target, program.rank(), 1, MPI_INT, window);
    }
    MPI_Win_fence(0, window);
    for (std::size_t origin = 0; origin < size; ++origin) {
      CHECK_EQUAL(window[origin], round * 100 + static_cast<int>(origin));
    }
    window[size] = mark + 50;
    MPI_Win_fence(MPI_MODE_NOPUT, window);
    int got = -1;
    MPI_Get(&got, 1, MPI_INT, program.right(), program.size(), 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSTORE, window);
    CHECK_EQUAL(got, round * 100 + program.right() + 50);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

/// The first fence ends nothing and need not be a barrier, yet what an operation reads behind it is
/// what the target, however late, had stored before its own.
void first_fence(Flavor flavor, const Program& program) {
  for (int assertion : {0, static_cast<int>(MPI_MODE_NOPRECEDE)}) {
    Window<int> window(flavor, 1);
    if (program.rank() == 0) support::compute(0.005);
    window[0] = 70 + program.rank();
    MPI_Win_fence(assertion, window);
    int got = 0;
    MPI_Get(&got, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK_EQUAL(got, 70 + program.right());
  }
}

/// Accumulates of all ranks to one counter, ended by one fence.
void accumulates(Flavor flavor, const Program& program) {
  Window<long> window(flavor, 2);
  const long one = 1;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  for (int i = 0; i < 50; ++i) {
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, window);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  if (program.rank() == 0) CHECK_EQUAL(window[1], 50L * program.size());
}

/// The whole table of asserts that a correct program may give around one put.
void asserts(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  int expected = 0;
  const int opening[] = {0, MPI_MODE_NOPRECEDE, MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE,
                         MPI_MODE_NOSTORE};
  const int closing[] = {0, MPI_MODE_NOSUCCEED, MPI_MODE_NOSTORE,
                         MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED,
                         MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED};
  for (int first : opening) {
    for (int last : closing) {
      // NOPRECEDE orders nothing before it, so the last round's check of others must be over.
      if (first & MPI_MODE_NOPRECEDE) support::barrier();
      MPI_Win_fence(first, window);
      const int mark = ++expected;
      MPI_Put(&mark, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
      MPI_Win_fence(last, window);
      CHECK_EQUAL(window[0], expected);
      // Opens and closes an empty epoch: nobody may write before all have looked.
      MPI_Win_fence(MPI_MODE_NOPUT, window);
      MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    }
  }
}

/// A fence that closes an epoch is a barrier: what a late rank stored before it is there after it.
void barrier_semantics(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  MPI_Win_fence(0, window);
  for (int round = 1; round <= 3; ++round) {
    if (program.rank() == round % program.size()) support::compute(0.01);
    window[0] = round;
    MPI_Win_fence(0, window);
    int got = 0;
    MPI_Get(&got, 1, MPI_INT, program.left(), 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK_EQUAL(got, round);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

/// Fence epochs and others on one window, one after the other.
void after_other_epochs(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const support::Group left({program.left()});
  const support::Group right({program.right()});
  for (int round = 0; round < 5; ++round) {
    int mark = 10 * round + 1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    MPI_Put(&mark, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK_EQUAL(window[0], mark);
    ++mark;
    MPI_Win_post(left, 0, window);
    MPI_Win_start(right, 0, window);
    MPI_Put(&mark, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    CHECK_EQUAL(window[0], mark);
    ++mark;
    support::barrier();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
    MPI_Put(&mark, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_unlock(program.right(), window);
    support::barrier();
    MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
    CHECK_EQUAL(window[0], mark);
    MPI_Win_unlock(program.rank(), window);
  }
}

/// Fences on two windows, interleaved.
void two_windows(Flavor flavor, const Program& program) {
  Window<int> first(flavor, 1);
  Window<int> second(flavor, 1);
  MPI_Win_fence(0, first);
  MPI_Win_fence(0, second);
  for (int round = 1; round <= 5; ++round) {
    const int mark = round;
    MPI_Put(&mark, 1, MPI_INT, program.right(), 0, 1, MPI_INT, first);
    MPI_Put(&mark, 1, MPI_INT, program.left(), 0, 1, MPI_INT, second);
    MPI_Win_fence(0, second);
    MPI_Win_fence(0, first);
    CHECK_EQUAL(first[0], round);
    CHECK_EQUAL(second[0], round);
    MPI_Win_fence(0, first);
    MPI_Win_fence(0, second);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (Flavor flavor : support::flavors()) {
    program.test("rounds", [&] { rounds(flavor, program); });
    program.test("first fence", [&] { first_fence(flavor, program); });
    program.test("accumulates", [&] { accumulates(flavor, program); });
    program.test("asserts", [&] { asserts(flavor, program); });
    program.test("barrier semantics", [&] { barrier_semantics(flavor, program); });
    program.test("after other epochs", [&] { after_other_epochs(flavor, program); });
    program.test("two windows", [&] { two_windows(flavor, program); });
  }
}
