// SPDX-License-Identifier: BSD-3-Clause
// G8: a program whose first window is made and used while MPI ends, by the delete callback of an
// attribute of MPI_COMM_SELF.
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

bool called = false;

int use_a_window(MPI_Comm, int, void*, void*) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    Window<int> window(Flavor::allocate, 1);
    const int value = 1 + rank;
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK_EQUAL(static_cast<int>(window[0]), 1 + (rank + size - 1) % size);
  }
  called = true;
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  {
    Program program(argc, argv);
    program.test("a first window in MPI_Finalize", [] {
      int key = MPI_KEYVAL_INVALID;
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, use_a_window, &key, nullptr);
      MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    });
  }
  return called ? 0 : 1;
}
