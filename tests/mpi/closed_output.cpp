// SPDX-License-Identifier: BSD-3-Clause
// G1, B4: ranks without standard descriptors that print all the same, as daemons do. What they
// print reaches no window, no file and no connection of Oriel's. Not among the usual programs: its
// settings name files.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

constexpr std::array outputs{STDOUT_FILENO, STDERR_FILENO};

/// No standard output and no standard error while it lives.
class ClosedOutput {
 public:
  ClosedOutput() {
    std::fflush(nullptr);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      kept_[i] = fcntl(outputs[i], F_DUPFD_CLOEXEC, 200);
      close(outputs[i]);
    }
  }
  ~ClosedOutput() {
    for (std::size_t i = 0; i < outputs.size(); ++i) dup2(kept_[i], outputs[i]);
  }
  ClosedOutput(const ClosedOutput&) = delete;
  ClosedOutput& operator=(const ClosedOutput&) = delete;

 private:
  std::array<int, outputs.size()> kept_{};
};

/// More than the arena of a window of this size has.
void print_much() {
  const std::string line(std::size_t{64} << 10, 'x');
  for (int i = 0; i < 64; ++i) {
    for (const int output : outputs) {
      // A host may have opened something there in the meantime.
      [[maybe_unused]] const ssize_t written = write(output, line.data(), line.size());
    }
  }
}

void prints_beside_a_window(Flavor flavor, const Program& program) {
  constexpr std::size_t words = std::size_t{1} << 17;
  bool right = true;
  {
    const ClosedOutput closed;
    Window<int> window(flavor, words);
    std::fill_n(&window[0], words, -1);
    const std::vector<int> numbers(words, program.rank());
    std::vector<int> got(words);
    support::barrier();
    for (int round = 0; round < 2; ++round) {
      print_much();
      MPI_Win_fence(0, window);
      MPI_Put(numbers.data(), int(words), MPI_INT, program.right(), 0, int(words), MPI_INT, window);
      MPI_Win_fence(0, window);
      print_much();
      MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
      MPI_Get(got.data(), int(words), MPI_INT, program.right(), 0, int(words), MPI_INT, window);
      MPI_Win_unlock(program.right(), window);
      right = right && got == numbers &&
              std::all_of(&window[0], &window[0] + words,
                          [&](int number) { return number == program.left(); });
      MPI_Win_fence(0, window);
    }
  }
  CHECK(right);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  // The host's own connections are made before the descriptors are closed.
  std::vector<int> all(std::size_t(program.size()));
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  support::barrier();
  for (Flavor flavor : {Flavor::allocate, Flavor::create}) {
    program.test("prints beside a window", [&] { prints_beside_a_window(flavor, program); });
  }
}
