// SPDX-License-Identifier: BSD-3-Clause
// G8: one thread of each rank calls exit() while another one is in epochs. Until the process ends,
// the calls of the other thread work. Not a test by itself: launchers may call a program that ends
// without MPI_Finalize failed, and end its other ranks, so the driver looks at what is printed.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <thread>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

constexpr int rounds_before_exit = 100;
constexpr int rounds = 2000;

std::atomic<int> done{0};

/// Writes without the C library's streams, which may be closed.
template <std::size_t bytes>
void print(const char (&line)[bytes]) {
  if (::write(STDOUT_FILENO, line, bytes - 1) < 0) std::_Exit(2);
}

/// The last that exit() runs: keeps the process there until the other thread has made its rounds.
void linger(int, void*) {
  if (done == 0) return;  // a program that failed before
  while (done != rounds) ::usleep(1000);
  print("all rounds\n");
}

/// Runs before the constructors of all libraries, so that linger() runs after their destructors:
/// exit() takes the handlers in reverse order, and a handler of on_exit() belongs to no library.
void register_linger() {
  ::on_exit(linger, nullptr);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all)() = register_linger;

/// Rounds of post, start, complete and wait on two windows, in which all ranks put to the next one.
void go_round(const Program& program, Window<int>& one, Window<int>& other) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group from = MPI_GROUP_NULL;
  MPI_Group to = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int left = program.left();
  const int right = program.right();
  MPI_Group_incl(world, 1, &left, &from);
  MPI_Group_incl(world, 1, &right, &to);
  for (int round = 1; round <= rounds; ++round) {
    for (Window<int>* window : {&one, &other}) {
      MPI_Win_post(from, 0, *window);
      MPI_Win_start(to, 0, *window);
      MPI_Put(&round, 1, MPI_INT, right, 0, 1, MPI_INT, *window);
      MPI_Win_complete(*window);
      MPI_Win_wait(*window);
      CHECK_EQUAL(static_cast<int>((*window)[0]), round);
    }
    done = round;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGSEGV, [](int) {
    print("crashed\n");
    std::_Exit(1);
  });
  Program program(argc, argv, MPI_THREAD_MULTIPLE);
  Window<int> one(Flavor::allocate, 1);
  Window<int> other(Flavor::create, 1);
  std::thread([&] { go_round(program, one, other); }).detach();
  while (done < rounds_before_exit) ::usleep(100);
  std::exit(0);
}
