// SPDX-License-Identifier: BSD-3-Clause
// The last rank dies by SIGKILL while rank 0 polls for it: MPI_Win_test, or MPI_Test of a request
// that waits for a lock which the dead one holds, for its result or for its target (Q7). The poll
// ends in an error. Not a test by itself: its driver looks at the sentence, and ends what is left
// of the job.
#include <csignal>
#include <string_view>

#include "support/loss.hpp"
#include "support/program.hpp"
#include "support/remote_completion.hpp"
#include "support/window.hpp"

namespace {

int poll_exposure(MPI_Win win, int last) {
  MPI_Group world;
  MPI_Group origin;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &last, &origin);
  int code = MPI_Win_post(origin, 0, win);
  for (int over = 0; code == MPI_SUCCESS && over == 0;) code = MPI_Win_test(win, &over);
  return code;
}

int poll_request(MPI_Win win, int last, bool there) {
  int value = 0;
  MPI_Request request;
  MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win);
  int code = there ? support::RemoteCompletion().Rrput(&value, 1, MPI_INT, last, 0, 1, MPI_INT, win,
                                                       &request)
                   : MPI_Rget(&value, 1, MPI_INT, last, 0, 1, MPI_INT, win, &request);
  for (int over = 0; code == MPI_SUCCESS && over == 0;) {
    code = MPI_Test(&request, &over, MPI_STATUS_IGNORE);
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  const std::string_view what = argc > 1 ? argv[1] : "exposure";
  support::Window<int> window(support::Flavor::allocate, 1);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int last = program.size() - 1;
  if (program.rank() == last) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window);
    support::barrier();
    std::raise(SIGKILL);
  }
  support::barrier();
  const double begin = MPI_Wtime();
  const int code = what == "exposure" ? poll_exposure(window, last)
                                      : poll_request(window, last, what == "completion");
  support::tell_loss(code, MPI_Wtime() - begin);
}
