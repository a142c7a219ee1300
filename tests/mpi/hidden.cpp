// SPDX-License-Identifier: BSD-3-Clause
// Ranks on one host that cannot see each other's processes: messages carry their windows, and
// shared ones are refused. Not a test by itself: its driver hides them.
#include <oriel/oriel.h>

#include <string>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

std::string paths(MPI_Win win) {
  MPI_Info info;
  MPI_Win_get_info(win, &info);
  char value[256] = "";
  int flag = 0;
  MPI_Info_get(info, ORIEL_PATHS, sizeof value - 1, value, &flag);
  MPI_Info_free(&info);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  program.test("messages", [&] {
    for (const auto flavor : {support::Flavor::create, support::Flavor::allocate}) {
      // The second one on communicators that have been met.
      for (int i = 0; i < 2; ++i) {
        support::Window<int> window(flavor, 1);
        const std::string way = "rank " + std::to_string(program.right()) + " over ";
        if (paths(window).find(way) == std::string::npos) {
          support::fail(__FILE__, __LINE__, "the paths are " + paths(window));
        }
        const int value = 1 + program.rank();
        MPI_Win_fence(0, window);
        MPI_Put(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        CHECK_EQUAL(+window[0], 1 + program.left());
      }
    }
  });
  program.test("shared", [&] {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    void* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    const int code = MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, comm, &base, &win);
    CHECK_CLASS(code, MPI_ERR_RMA_SHARED);
    CHECK(support::class_name(code).find("hidden from each other") != std::string::npos);
    MPI_Comm_free(&comm);
  });
  return 0;
}
