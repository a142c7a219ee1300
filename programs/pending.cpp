// SPDX-License-Identifier: BSD-3-Clause

// Very many pending nonblocking epochs in one process (E4, E14). Rank 1 holds the exclusive lock of
// its own window; rank 0 opens and closes N lock epochs there, each with one MPI_Accumulate, none
// of which can start. Then rank 1 lets go and rank 0 waits for all. Twice: the second time must
// find the memory of the first. One JSON line per turn.

#include <dlfcn.h>
#include <mpi.h>
#include <oriel/oriel.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/failure.hpp"
#include "bench/options.hpp"
#include "bench/two_ranks.hpp"
#include "bench/window.hpp"

namespace {

using bench::fail;

constexpr int turns = 2;
constexpr int origin = 0;
constexpr int holder = 1;

template <typename Function>
Function find(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  if (!symbol) {
    fail(std::string("the call ") + name +
         " is not in this process; start the program with oriel run, which loads the library.");
  }
  return reinterpret_cast<Function>(symbol);
}

/// Memory of this process that is in use, in KB.
std::int64_t resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes;
  }
  fail("/proc/self/status does not tell how much memory is in use; the test needs Linux.");
}

class Pending {
 public:
  explicit Pending(std::int64_t epochs)
      : epochs_(epochs), requests_(static_cast<std::size_t>(epochs), MPI_REQUEST_NULL) {}

  void play() {
    for (int turn = 1; turn <= turns; ++turn) {
      if (rank_ == holder) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, holder, 0, window_.handle());
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank_ == origin) play_origin(turn);
      if (rank_ == holder) {
        int word = 0;
        MPI_Recv(&word, 1, MPI_INT, origin, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(turn - 1, "while the epochs are pending");
        MPI_Win_unlock(holder, window_.handle());
      }
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank_ == holder) {
        const bench::OwnPart mine(window_, holder);
        expect(turn, "after all epochs");
      }
    }
  }

 private:
  void play_origin(int turn) {
    const std::int64_t before_kb = resident_kb();
    const double begin = MPI_Wtime();
    for (MPI_Request& request : requests_) {
      MPI_Request opened = MPI_REQUEST_NULL;
      ilock_(MPI_LOCK_EXCLUSIVE, holder, 0, window_.handle(), &opened);
      MPI_Request_free(&opened);
      MPI_Accumulate(&one_, 1, MPI_INT64_T, holder, 0, 1, MPI_INT64_T, MPI_SUM, window_.handle());
      iunlock_(holder, window_.handle(), &request);
    }
    const double opened = MPI_Wtime();
    const std::int64_t pending_kb = resident_kb();
    int done = 0;
    MPI_Test(&requests_.front(), &done, MPI_STATUS_IGNORE);
    if (done) fail("an epoch completed while another rank held the exclusive lock it needs.");
    const int word = 0;
    MPI_Send(&word, 1, MPI_INT, holder, 0, MPI_COMM_WORLD);
    for (MPI_Request& request : requests_) MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double end = MPI_Wtime();
    std::printf(
        "{\"turn\":%d,\"pending\":%lld,\"open_s\":%.3f,\"complete_s\":%.3f,\"before_kb\":%lld,"
        "\"pending_kb\":%lld,\"after_kb\":%lld,\"grown_bytes_per_epoch\":%.1f}\n",
        turn, static_cast<long long>(epochs_), opened - begin, end - opened,
        static_cast<long long>(before_kb), static_cast<long long>(pending_kb),
        static_cast<long long>(resident_kb()),
        1024.0 * static_cast<double>(pending_kb - before_kb) / static_cast<double>(epochs_));
    std::fflush(stdout);
  }

  void expect(int finished_turns, const char* when) const {
    const std::int64_t expected = finished_turns * epochs_;
    const std::int64_t found = *static_cast<volatile std::int64_t*>(window_.base());
    if (found == expected) return;
    fail(std::string(when) + " the sum in the window is " + std::to_string(found) +
         " and should be " + std::to_string(expected) + ".");
  }

  static int rank_in_world() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }

  const decltype(&ORIEL_Win_ilock) ilock_ = find<decltype(&ORIEL_Win_ilock)>("ORIEL_Win_ilock");
  const decltype(&ORIEL_Win_iunlock) iunlock_ =
      find<decltype(&ORIEL_Win_iunlock)>("ORIEL_Win_iunlock");
  const int rank_ = rank_in_world();
  const std::int64_t epochs_;
  const std::int64_t one_ = 1;
  const bench::Window window_{bench::Memory::allocated, sizeof(std::int64_t)};
  std::vector<MPI_Request> requests_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::expect_two_ranks("test");
  std::int64_t epochs = 1'000'000;
  bench::take_options(argc, argv, {{"--pending", bench::number(epochs)}});
  Pending(epochs).play();
  MPI_Finalize();
}
