// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize with windows that the program has not freed: ranks that have come there serve those
// that still have operations for them. With the argument `killed` the last rank is killed instead,
// and rank 0's MPI_Finalize does not wait for it: its driver ends what is left of the job.
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <vector>

#include "support/notified.hpp"
#include "support/program.hpp"

namespace {

constexpr int count = 1 << 20;

/// The last rank's accesses to every other rank, which is in MPI_Finalize.
void access_all(MPI_Win window, int* memory) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> values(count, 7);
  std::vector<int> seen(count, 0);
  for (int target = 0; target < size; ++target) {
    const int one = 1;
    int before = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Put(values.data(), count, MPI_INT, target, 0, count, MPI_INT, window);
    MPI_Win_flush(target, window);
    MPI_Fetch_and_op(&one, &before, MPI_INT, target, 0, MPI_SUM, window);
    MPI_Win_flush(target, window);
    MPI_Get(seen.data(), count, MPI_INT, target, 0, count, MPI_INT, window);
    MPI_Win_unlock(target, window);
    CHECK_EQUAL(before, 7);
    CHECK_EQUAL(seen.front(), 8);
    CHECK_EQUAL(seen.back(), 7);
  }
  CHECK_EQUAL(memory[0], 8);
}

/// More notifications than their queue has space for, to a rank that is in MPI_Finalize.
void notify_often(MPI_Win window) {
  const support::Notified oriel;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < 20'000; ++i) {
    oriel.Put_notify(&i, 1, MPI_INT, 0, 0, 1, MPI_INT, window, 1);
  }
  MPI_Win_flush_all(window);
  MPI_Win_unlock_all(window);
}

/// The host's MPI_Finalize has begun on rank 0.
int tell_end(MPI_Comm, int, void*, void*) {
  std::printf("after 0.0 s, class MPI_ERR_OTHER: the host ends MPI\n");
  std::fflush(stdout);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const bool killed = argc > 1 && std::strcmp(argv[1], "killed") == 0;
  support::Program program(argc, argv);
  int* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(count * MPI_Aint{sizeof(int)}, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &window);
  support::barrier();
  const bool last = program.rank() == program.size() - 1;
  if (killed) {
    if (last) std::raise(SIGKILL);
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, tell_end, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    return 0;
  }
  if (last) {
    // The others make no call but MPI_Finalize from here on: what needs a call of theirs is served
    // there, however late they come. The test needs this time for the rest, which a rank may serve
    // before it has come there.
    usleep(300'000);
    access_all(window, memory);
    notify_often(window);
  }
}
