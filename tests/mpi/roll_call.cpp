// SPDX-License-Identifier: BSD-3-Clause
// B2: makes one window of the kind given, or one that rank 1 begins late. Not among the usual
// programs: test_roll_call.py starts some ranks without Oriel.
#include <unistd.h>

#include <string>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Window;

void make_shared_window() {
  void* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate_shared(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_free(&window);
}

void make_dynamic_window() {
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_free(&window);
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  program.test("create", [] { const Window<int> window(Flavor::create, 1); });
  program.test("allocate", [] { const Window<int> window(Flavor::allocate, 1); });
  program.test("shared", make_shared_window);
  program.test("dynamic", make_dynamic_window);
  program.test("late", [&] {
    constexpr unsigned longer_than_the_limit_s = 7;
    if (program.rank() == 1) sleep(longer_than_the_limit_s);
    const Window<int> window(Flavor::allocate, 1);
  });
  return 0;
}
