// SPDX-License-Identifier: BSD-3-Clause
// The last rank dies by SIGKILL within an accumulate, when some elements are combined and others
// are not: where its origin buffer ends too early. The next accumulate to the same target fails and
// names it. Not a test by itself: its driver looks at the sentence, and ends what is left of the
// job.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string_view>

#include "support/loss.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

constexpr std::size_t page = 4096;
// Too many for CPU atomics: the target's memory is its origin's alone meanwhile.
constexpr int elements = 4 * page / sizeof(std::int64_t);

[[noreturn]] void die_within(MPI_Win win) {
  void* data =
      ::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::mprotect(static_cast<char*>(data) + 2 * page, 2 * page, PROT_NONE);
  std::signal(SIGSEGV, [](int) { ::kill(::getpid(), SIGKILL); });
  MPI_Accumulate(data, elements, MPI_INT64_T, 0, 0, elements, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_flush(0, win);
  std::puts("survived");
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  const bool create = argc > 1 && std::string_view(argv[1]) == "create";
  support::Window<std::int64_t> window(create ? support::Flavor::create : support::Flavor::allocate,
                                       elements);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  const int last = program.size() - 1;
  pid_t pid = ::getpid();
  MPI_Bcast(&pid, sizeof pid, MPI_BYTE, last, MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  if (program.rank() == last) die_within(window);
  while (::kill(pid, 0) == 0 || errno != ESRCH) ::usleep(1000);
  std::printf("ready\n");
  std::fflush(stdout);
  const double begin = MPI_Wtime();
  const std::int64_t one = 1;
  int code = MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, window);
  if (code == MPI_SUCCESS) code = MPI_Win_flush(0, window);
  support::tell_loss(code, MPI_Wtime() - begin);
}
