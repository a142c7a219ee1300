// SPDX-License-Identifier: BSD-3-Clause
// E10: operations on a rank of another node let the host advance its own traffic, in every way that
// an operation takes through Oriel. Two ranks. support/counted_host.cpp counts.
#include <dlfcn.h>

#include <array>
#include <cstddef>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

constexpr int target = 1;
constexpr int calls = 64;  // under way without a wait

long tests_of_host() {
  static const auto counted = reinterpret_cast<long (*)()>(dlsym(RTLD_DEFAULT, "counted_tests"));
  CHECK(counted != nullptr);
  return counted();
}

/// Counts during calls that do not wait. A flush waits, and a wait lets the host advance, so
/// flushes are not counted.
template <typename Call>
void look_at(const Program& program, Window<long>& window, Call&& call) {
  constexpr int rounds = 256;
  if (program.rank() == target) return;
  long during_calls = 0;
  for (int round = 0; round < rounds; ++round) {
    const long before = tests_of_host();
    for (int i = 0; i < calls; ++i) call(i);
    during_calls += tests_of_host() - before;
    MPI_Win_flush(target, window);
  }
  // One of 512 calls lets the host advance (steps::host_interval). Half of that is required.
  CHECK(during_calls >= calls * rounds / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  Window<long> window(Flavor::allocate, 2);
  MPI_Win_lock_all(0, window);
  const long one = 1;
  std::array<long, calls> got{};
  const auto test = [&](const char* name, auto&& call) {
    program.test(name, [&] {
      look_at(program, window, call);
      support::barrier();
    });
  };
  test("puts", [&](int) { MPI_Put(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, window); });
  test("puts of two datatypes",
       [&](int) { MPI_Put(&one, 1, MPI_LONG, target, 0, sizeof one, MPI_BYTE, window); });
  test("gets", [&](int i) {
    MPI_Get(&got[static_cast<std::size_t>(i)], 1, MPI_LONG, target, 1, 1, MPI_LONG, window);
  });
  test("accumulates",
       [&](int) { MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, window); });
  MPI_Win_unlock_all(window);
}
