// SPDX-License-Identifier: BSD-3-Clause
// G5, S3: post, start, complete, wait and test; groups of every shape.
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Group;
using support::Program;
using support::Window;

std::vector<int> everyone(const Program& program) {
  std::vector<int> ranks;
  for (int rank = 0; rank < program.size(); ++rank) ranks.push_back(rank);
  return ranks;
}

/// Everybody exposes to everybody, itself included.
void all_to_all(Flavor flavor, const Program& program) {
  const auto size = static_cast<std::size_t>(program.size());
  Window<int> window(flavor, size);
  const Group all(everyone(program));
  for (int round = 1; round <= 10; ++round) {
    const int mark = round * 100 + program.rank();
    MPI_Win_post(all, 0, window);
    MPI_Win_start(all, 0, window);
    for (int target = 0; target < program.size(); ++target) {
      MPI_Put(&mark, 1, MPI_INT, target, program.rank(), 1, MPI_INT, window);
    }
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    for (std::size_t origin = 0; origin < size; ++origin) {
      CHECK_EQUAL(window[origin], round * 100 + static_cast<int>(origin));
    }
  }
}

/// Only one pair of ranks takes part; the others never hear of it.
void one_pair(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const int origin = 0;
  const int target = program.size() - 1;
  for (int round = 1; round <= 10; ++round) {
    if (program.rank() == target) MPI_Win_post(Group({origin}), 0, window);
    if (program.rank() == origin) {
      MPI_Win_start(Group({target}), 0, window);
      MPI_Put(&round, 1, MPI_INT, target, 0, 1, MPI_INT, window);
      MPI_Win_complete(window);
    }
    if (program.rank() == target) {
      MPI_Win_wait(window);
      CHECK_EQUAL(window[0], round);
    }
  }
}

/// One target, all others are origins; some send nothing, which must end the exposure as well.
void many_origins(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  Window<int> window(flavor, static_cast<std::size_t>(program.size()));
  std::vector<int> origins = everyone(program);
  origins.erase(origins.begin());
  for (int round = 1; round <= 10; ++round) {
    if (program.rank() == 0) {
      MPI_Win_post(Group(origins), 0, window);
      MPI_Win_wait(window);
      for (int rank : origins) {
        if (rank % 2 == 1) CHECK_EQUAL(window[static_cast<std::size_t>(rank)], round);
      }
    } else {
      MPI_Win_start(Group({0}), 0, window);
      if (program.rank() % 2 == 1) {
        MPI_Put(&round, 1, MPI_INT, 0, program.rank(), 1, MPI_INT, window);
      }
      MPI_Win_complete(window);
    }
  }
}

/// The target looks with MPI_Win_test until the epoch is over.
void test_calls(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const Group left({program.left()});
  const Group right({program.right()});
  for (int round = 1; round <= 10; ++round) {
    MPI_Win_post(left, 0, window);
    MPI_Win_start(right, 0, window);
    MPI_Put(&round, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    int flag = 0;
    while (!flag) MPI_Win_test(window, &flag);
    CHECK_EQUAL(window[0], round);
  }
}

/// MPI_Win_test must say no while an origin has not completed.
void test_says_no(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  Window<int> window(flavor, 1);
  const int target = 1;
  if (program.rank() == target) {
    MPI_Win_post(Group({0}), 0, window);
    for (int i = 0; i < 10; ++i) {
      int flag = 1;
      MPI_Win_test(window, &flag);
      CHECK(!flag);
    }
    MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Win_wait(window);
  }
  if (program.rank() == 0) {
    MPI_Win_start(Group({target}), 0, window);
    MPI_Recv(nullptr, 0, MPI_INT, target, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_complete(window);
  }
}

/// NOCHECK on both sides, the post being known to have happened.
void nocheck(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const Group left({program.left()});
  const Group right({program.right()});
  for (int round = 1; round <= 3; ++round) {
    MPI_Win_post(left, MPI_MODE_NOCHECK, window);
    support::barrier();
    MPI_Win_start(right, MPI_MODE_NOCHECK, window);
    MPI_Put(&round, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    CHECK_EQUAL(window[0], round);
  }
}

void asserts(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const Group left({program.left()});
  const Group right({program.right()});
  window[0] = 7;
  for (const int assertion : std::initializer_list<int>{MPI_MODE_NOSTORE, MPI_MODE_NOPUT,
                                                        MPI_MODE_NOSTORE | MPI_MODE_NOPUT}) {
    int got = 0;
    MPI_Win_post(left, assertion, window);
    MPI_Win_start(right, 0, window);
    MPI_Get(&got, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    CHECK_EQUAL(got, 7);
  }
}

void empty_groups(Flavor flavor) {
  Window<int> window(flavor, 1);
  for (int round = 0; round < 3; ++round) {
    MPI_Win_post(MPI_GROUP_EMPTY, 0, window);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
  }
  MPI_Win_post(MPI_GROUP_EMPTY, 0, window);
  int flag = 0;
  MPI_Win_test(window, &flag);
  CHECK(flag);
}

/// The group may be freed, and name its ranks in any order, as soon as the call returned.
void group_order(Flavor flavor, const Program& program) {
  const auto size = static_cast<std::size_t>(program.size());
  Window<int> window(flavor, size);
  std::vector<int> backwards = everyone(program);
  std::reverse(backwards.begin(), backwards.end());
  MPI_Win_post(Group(backwards), 0, window);
  MPI_Win_start(Group(backwards), 0, window);
  const int mark = program.rank() + 1;
  for (int target : backwards) {
    MPI_Accumulate(&mark, 1, MPI_INT, target, program.rank(), 1, MPI_INT, MPI_SUM, window);
  }
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  for (std::size_t origin = 0; origin < size; ++origin) {
    CHECK_EQUAL(window[origin], static_cast<int>(origin) + 1);
  }
}

/// A handle names another group when the one before has been freed.
void groups_made_anew(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  for (int round = 1; round <= 20; ++round) {
    const bool to_the_right = round % 2 == 0;
    MPI_Win_post(Group({to_the_right ? program.left() : program.right()}), 0, window);
    const int target = to_the_right ? program.right() : program.left();
    MPI_Win_start(Group({target}), 0, window);
    const int mark = 100 * round + program.rank();
    MPI_Put(&mark, 1, MPI_INT, target, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    CHECK_EQUAL(window[0], 100 * round + (to_the_right ? program.left() : program.right()));
  }
}

/// start before post: the origin's epoch waits for the exposure, and loses nothing.
void late_post(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  Window<int> window(flavor, 64);
  std::vector<int> marks(64, 5);
  if (program.rank() == 0) {
    MPI_Win_start(Group({1}), 0, window);
    MPI_Put(marks.data(), 64, MPI_INT, 1, 0, 64, MPI_INT, window);
    MPI_Win_complete(window);
  }
  if (program.rank() == 1) {
    support::compute(0.01);
    for (std::size_t i = 0; i < 64; ++i) CHECK_EQUAL(window[i], 0);
    MPI_Win_post(Group({0}), 0, window);
    MPI_Win_wait(window);
    for (std::size_t i = 0; i < 64; ++i) CHECK_EQUAL(window[i], 5);
  }
}

/// A window that is never locked, and a target that waits in a call of the host's before it waits
/// for its origin (E10).
void between_host_calls(Flavor flavor, const Program& program) {
  const support::Info info({{"no_locks", "true"}});
  Window<int> window(flavor, 1, MPI_COMM_WORLD, info);
  const int target = program.size() - 1;
  window[0] = 40 + program.rank();
  if (program.rank() == target) MPI_Win_post(Group({0}), 0, window);
  int got = 0;
  if (program.rank() == 0) {
    MPI_Win_start(Group({target}), 0, window);
    MPI_Get(&got, 1, MPI_INT, target, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    CHECK_EQUAL(got, 40 + target);
  }
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_free(&copy);
  if (program.rank() == target) MPI_Win_wait(window);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (Flavor flavor : support::flavors()) {
    program.test("all to all", [&] { all_to_all(flavor, program); });
    program.test("one pair", [&] { one_pair(flavor, program); });
    program.test("many origins", [&] { many_origins(flavor, program); });
    program.test("test calls", [&] { test_calls(flavor, program); });
    program.test("test says no", [&] { test_says_no(flavor, program); });
    program.test_unless_host("openmpi", "its wait returns early when the post said so", "nocheck",
                             [&] { nocheck(flavor, program); });
    program.test("asserts", [&] { asserts(flavor, program); });
    program.test("empty groups", [&] { empty_groups(flavor); });
    program.test("group order", [&] { group_order(flavor, program); });
    program.test("groups made anew", [&] { groups_made_anew(flavor, program); });
    program.test("late post", [&] { late_post(flavor, program); });
    program.test("between host calls", [&] { between_host_calls(flavor, program); });
  }
}
