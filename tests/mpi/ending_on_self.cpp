// SPDX-License-Identifier: BSD-3-Clause
// G8: a program makes windows on MPI_COMM_SELF, the last one while MPI ends, by the delete callback
// of an attribute of that communicator.
#include "support/program.hpp"

namespace {

using support::Program;

bool called = false;

void make_a_window() {
  void* memory;
  MPI_Win window;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &window);
  MPI_Win_free(&window);
}

int use_a_window(MPI_Comm, int, void*, void*) {
  make_a_window();
  called = true;
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  {
    Program program(argc, argv);
    program.test("a window on MPI_COMM_SELF in MPI_Finalize", [] {
      int key = MPI_KEYVAL_INVALID;
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, use_a_window, &key, nullptr);
      MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
      make_a_window();
    });
  }
  return called ? 0 : 1;
}
