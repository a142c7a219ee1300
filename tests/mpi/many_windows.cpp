// SPDX-License-Identifier: BSD-3-Clause
// Ten thousand windows alive at once under the usual limit of descriptors: they cost neither
// descriptors nor mappings. Most are of one rank each, because those of all ranks take their time.
#include <sys/resource.h>

#include <fstream>
#include <iterator>

#include "support/open_descriptors.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

constexpr int elements = 8;
// One window in so many is of all ranks, and one in so many has more memory than the small
// ones, which share pages.
constexpr int apart = 40;
constexpr int large_apart = 100;
constexpr MPI_Aint large_bytes = 300'000;

struct Made {
  MPI_Win win = MPI_WIN_NULL;
  double* data = nullptr;
  double* alloc_mem = nullptr;  // to be freed
  std::vector<double> own;
};

/// Created and allocated ones in turn, and on memory of MPI_Alloc_mem.
void make(Made& made, int index, MPI_Comm comm, MPI_Aint bytes) {
  int code = MPI_SUCCESS;
  switch (index % 3) {
    case 0:
      made.own.resize(static_cast<std::size_t>(bytes) / sizeof(double));
      made.data = made.own.data();
      code = MPI_Win_create(made.data, bytes, sizeof(double), MPI_INFO_NULL, comm, &made.win);
      break;
    case 1:
      code = MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, comm, &made.data, &made.win);
      break;
    default:
      MPI_Alloc_mem(bytes, MPI_INFO_NULL, &made.alloc_mem);
      made.data = made.alloc_mem;
      code = MPI_Win_create(made.data, bytes, sizeof(double), MPI_INFO_NULL, comm, &made.win);
  }
  CHECK_EQUAL(code, MPI_SUCCESS);
}

void destroy(Made& made) {
  MPI_Win_free(&made.win);
  if (made.alloc_mem != nullptr) MPI_Free_mem(made.alloc_mem);
}

/// Every rank writes into its neighbour's memory and reads it back.
void use(Made& made, int neighbour, double value) {
  double back = 0;
  MPI_Win_fence(0, made.win);
  MPI_Put(&value, 1, MPI_DOUBLE, neighbour, elements - 1, 1, MPI_DOUBLE, made.win);
  MPI_Win_fence(0, made.win);
  MPI_Get(&back, 1, MPI_DOUBLE, neighbour, elements - 1, 1, MPI_DOUBLE, made.win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, made.win);
  CHECK_EQUAL(back, value);
}

long mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n');
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  constexpr int windows = 10'000;
  const rlimit limit{1024, 1024};
  CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::vector<Made> made(static_cast<std::size_t>(windows));
  long descriptors_before = 0;
  long mappings_before = 0;
  const auto is_shared = [](int index) { return index % apart == 0; };
  program.test("made", [&] {
    for (int i = 0; i < windows; ++i) {
      const MPI_Aint bytes = i % large_apart == 0 ? large_bytes : elements * sizeof(double);
      make(made[static_cast<std::size_t>(i)], i, is_shared(i) ? MPI_COMM_WORLD : MPI_COMM_SELF,
           bytes);
      if (i != 3 * large_apart) continue;
      descriptors_before = support::open_descriptors();
      mappings_before = mappings();
    }
  });
  program.test_unless_host("any", "a host may take some", "constant cost", [&] {
    CHECK_EQUAL(support::open_descriptors(), descriptors_before);
    // The heaps of the program and of the host grow.
    CHECK(mappings() < mappings_before + 200);
  });
  program.test("used", [&] {
    for (int i = 0; i < windows; i += windows / 50) {
      const bool shared = is_shared(i);
      use(made[static_cast<std::size_t>(i)], shared ? program.right() : 0, i + 0.5);
    }
    const int last = (windows - 1) / apart * apart;
    use(made[static_cast<std::size_t>(last)], program.right(), 1.5);
    use(made.front(), program.right(), 2.5);
  });
  program.test("freed", [&] {
    for (Made& one : made) destroy(one);
    Made again;
    make(again, 1, MPI_COMM_WORLD, elements * sizeof(double));
    use(again, program.right(), 3.5);
    destroy(again);
  });
  return 0;
}
