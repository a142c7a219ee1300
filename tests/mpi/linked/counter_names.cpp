// SPDX-License-Identifier: BSD-3-Clause
// N8: notification counters as a program writes them that knows only the names of the MPI Forum's
// draft, and as one does that was written for Intel MPI.
#include "oriel/forum_notify.h"
#include "oriel/intel_notify.h"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

void forums_names(const Program& program) {
  Window<int> window(Flavor::allocate, 2);
  int* most = nullptr;
  int found = 0;
  int number = 0;
  MPI_Win_get_attr(window, MPI_WIN_NOTIFICATION_NUM_UB, &most, &found);
  CHECK(found != 0 && *most > 0);
  // The same attributes as the Forum's minutes spell them.
  for (const int keyval : {MPI_WIN_NOTIFY_NUMSB, MPI_WIN_NOTIFY_NUMUB}) {
    MPI_Win_get_attr(window, keyval, &most, &found);
    CHECK(found != 0 && *most > 0);
  }
  MPI_Count* largest = nullptr;
  MPI_Win_get_attr(window, MPI_WIN_NOTIFY_VALUE_UB, &largest, &found);
  CHECK(found != 0 && *largest > 0);
  const support::Info same({{"mpi_assert_same_num_notifications", "true"}});
  MPI_Win_set_num_notify(window, same, 2);
  MPI_Win_get_num_notify(window, program.right(), &number);
  CHECK_EQUAL(number, 2);
  const int value = program.rank();
  int got = -1;
  MPI_Request request;
  MPI_Win_lock_all(0, window);
  MPI_Put_notify(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, 1, window);
  MPI_Get_notify(&got, 1, MPI_INT, program.right(), 0, 1, MPI_INT, 1, window);
  MPI_Raccumulate_notify(&value, 1, MPI_INT, program.right(), 1, 1, MPI_INT, MPI_SUM, 1, window,
                         &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_all(window);
  CHECK_EQUAL(got, value);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Put_notify(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, 2, window),
              MPI_ERR_RMA_NOTIFICATION);
  MPI_Win_unlock_all(window);
  support::barrier();
  MPI_Count told = 0;
  MPI_Win_get_notify_value(window, 1, &told);
  CHECK_EQUAL(told, 3);
  MPI_Win_reset_notify_value(window, 1, &told);
  CHECK_EQUAL(told, 3);
  CHECK_EQUAL(window[0], program.left());
  CHECK_EQUAL(window[1], program.left());
}

void intels_names(const Program& program) {
  Window<int> window(Flavor::allocate, 1);
  MPIX_Win_create_notify(window, 1);
  const int value = program.rank();
  MPI_Win_lock_all(0, window);
  MPIX_Put_notify(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, 0, window);
  MPI_Count told = 0;
  while (told == 0) MPI_Win_notify_get_value(window, 0, &told);
  CHECK_EQUAL(window[0], program.left());
  support::barrier();
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_EQUAL(MPIX_Win_get_notify_request(window, 0, 2, &request), MPI_SUCCESS);
  int complete = 1;
  MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
  CHECK_EQUAL(complete, 0);
  support::barrier();
  const int next = value + 100;
  MPIX_Put_notify(&next, 1, MPI_INT, program.right(), 0, 1, MPI_INT, 0, window);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_EQUAL(window[0], program.left() + 100);
  MPI_Win_notify_set_value(window, 0, 0);
  MPIX_Win_get_notify(window, 0, &told);
  CHECK_EQUAL(told, 0);
  MPI_Win_unlock_all(window);
  MPIX_Win_free_notify(window);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  program.test("the Forum's names", [&] { forums_names(program); });
  program.test("Intel's names", [&] { intels_names(program); });
}
