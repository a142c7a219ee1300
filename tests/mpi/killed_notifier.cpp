// SPDX-License-Identifier: BSD-3-Clause
// The last rank dies by SIGKILL while the others wait for its notification: MPI_Wait, MPI_Test,
// ORIEL_Notify_probe, ORIEL_Notify_iprobe, a wait for anybody's, one for a single one (Q6), a loop
// of looks at a counter, or a wait for its threshold. What it had sent before is there; then the
// call ends in an error. Not a test by itself: its driver looks at the sentence, and ends what is
// left of the job.
#include <csignal>
#include <string_view>

#include "support/counters.hpp"
#include "support/loss.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

int hear(std::string_view how, MPI_Win win, int source) {
  const support::Notified oriel;
  int over = 0;
  int code = MPI_SUCCESS;
  if (how == "probe") return oriel.Notify_probe(win, source, 2, MPI_STATUS_IGNORE);
  if (how == "iprobe") {
    while (code == MPI_SUCCESS && over == 0) {
      code = oriel.Notify_iprobe(win, source, 2, &over, MPI_STATUS_IGNORE);
    }
    return code;
  }
  MPI_Request request;
  if (how == "counter") {
    const support::Counters counters;
    MPI_Count value = 0;
    while (code == MPI_SUCCESS && value < 2) code = counters.Win_get_notify_value(win, 0, &value);
    CHECK_EQUAL(value, 1);
    return code;
  }
  if (how == "threshold") {
    support::Counters().Win_get_notify_request(win, 0, 2, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (how == "once") {
    oriel.Win_wait_notify(win, 2, &request);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    return code;
  }
  oriel.Notify_init(win, how == "any" ? MPI_ANY_SOURCE : source, 2, 1, &request);
  MPI_Start(&request);
  if (how != "test") return MPI_Wait(&request, MPI_STATUS_IGNORE);
  while (code == MPI_SUCCESS && over == 0) code = MPI_Test(&request, &over, MPI_STATUS_IGNORE);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  support::Window<int> window(support::Flavor::allocate, 1);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int last = program.size() - 1;
  const support::Notified oriel;
  const support::Counters counters;
  counters.Win_set_num_notify(window, MPI_INFO_NULL, 1);
  if (program.rank() == last) {
    for (int rank = 0; rank < last; ++rank) {
      counters.Put_notify_counter(&last, 0, MPI_INT, rank, 0, 0, MPI_INT, 0, window);
      oriel.Put_notify(&last, 1, MPI_INT, rank, 0, 1, MPI_INT, window, 1);
    }
    MPI_Win_flush_all(window);
    support::barrier();
    // Or it lives on, and its driver cuts it off from the others.
    if (argc > 2 && std::string_view(argv[2]) == "alive") pause();
    std::raise(SIGKILL);
  }
  support::barrier();
  MPI_Request sent;
  oriel.Notify_init(window, last, 1, 1, &sent);
  MPI_Start(&sent);
  CHECK_EQUAL(MPI_Wait(&sent, MPI_STATUS_IGNORE), MPI_SUCCESS);
  CHECK_EQUAL(window[0], last);
  std::printf("ready\n");
  std::fflush(stdout);
  const double begin = MPI_Wtime();
  const int code = hear(argc > 1 ? argv[1] : "wait", window, last);
  support::tell_loss(code, MPI_Wtime() - begin);
}
