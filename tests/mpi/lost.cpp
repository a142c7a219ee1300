// SPDX-License-Identifier: BSD-3-Clause
// The last rank is lost while others have epochs with it: their calls fail with a sentence, within
// ORIEL_PEER_TIMEOUT; with the argument `completion`, the wait for a request of ORIEL_Rrput; with
// `dynamic`, a flush of long operations on a dynamic window, which the target moves; with `early`,
// the first call for which rank 0 needs the last rank. Not a test by itself: its driver sees to the
// loss when rank 0 is ready, and ends what is left of the job.
#include <unistd.h>

#include <string_view>
#include <vector>

#include "support/loss.hpp"
#include "support/program.hpp"
#include "support/remote_completion.hpp"
#include "support/window.hpp"

namespace {

/// Attached to a window of all ranks, and where the last rank's lies.
struct Attached {
  std::vector<int> memory = std::vector<int>(1 << 20);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Aint there = 0;

  explicit Attached(int last) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_attach(window, memory.data(), bytes());
    MPI_Get_address(memory.data(), &there);
    MPI_Bcast(&there, 1, MPI_AINT, last, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
  }
  MPI_Aint bytes() const { return static_cast<MPI_Aint>(memory.size() * sizeof(int)); }
  /// All of it to that rank and back.
  int move(int last) {
    const int count = static_cast<int>(memory.size());
    MPI_Put(memory.data(), count, MPI_INT, last, there, count, MPI_INT, window);
    MPI_Get(memory.data(), count, MPI_INT, last, there, count, MPI_INT, window);
    return MPI_Win_flush(last, window);
  }
};

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  support::Window<int> window(support::Flavor::allocate, 4);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  const int last = program.size() - 1;
  Attached attached(last);
  MPI_Win_lock_all(0, window);
  if (program.rank() != 0) {
    pause();
    return 1;
  }
  const int value = 7;
  if (argc == 1 || std::string_view(argv[1]) != "early") {
    MPI_Put(&value, 1, MPI_INT, last, 0, 1, MPI_INT, window);
    CHECK_EQUAL(MPI_Win_flush(last, window), MPI_SUCCESS);
  }
  std::printf("ready\n");
  std::fflush(stdout);
  const double begin = MPI_Wtime();
  int code = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc > 1 && std::string_view(argv[1]) == "completion") {
    const support::RemoteCompletion oriel;
    while (code == MPI_SUCCESS) {
      MPI_Request request;
      oriel.Rrput(&value, 1, MPI_INT, last, 0, 1, MPI_INT, window, &request);
      code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  while (code == MPI_SUCCESS && argc > 1 && std::string_view(argv[1]) == "dynamic") {
    code = attached.move(last);
  }
  while (code == MPI_SUCCESS) {
    MPI_Put(&value, 1, MPI_INT, last, 0, 1, MPI_INT, window);
    code = MPI_Win_flush(last, window);
  }
  support::tell_loss(code, MPI_Wtime() - begin);
}
