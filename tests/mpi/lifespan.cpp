// SPDX-License-Identifier: BSD-3-Clause
// G8: what the library keeps for its windows lives as long as somebody may need it: a thread makes
// and frees windows of MPI_Init's world while another one opens and closes sessions.
#include <atomic>
#include <chrono>
#include <thread>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

/// All ranks make windows, use and free them, while a thread of each opens and closes sessions.
void windows_beside_sessions(const Program& program) {
  constexpr int least_windows = 60;
  constexpr int least_sessions = 20;
  std::atomic<int> opened{0};
  std::atomic<bool> over{false};
  std::thread sessions([&] {
    while (!over) {
      MPI_Session session;
      MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
      MPI_Session_finalize(&session);
      ++opened;
      // Hosts do not share their lock. Nor is a nap of less than a millisecond safe: next to a
      // thread that yields, as Open MPI's ranks do where they wait, Linux 6.18 then gives all other
      // processes of the machine next to no time, the ranks that this one waits for among them.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  const auto enough_everywhere = [&] {
    int enough = opened >= least_sessions ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return enough == 1;
  };
  for (int i = 0; i < least_windows || !enough_everywhere(); ++i) {
    Window<int> window(i % 2 == 0 ? Flavor::create : Flavor::allocate, 1);
    MPI_Win_fence(0, window);
    MPI_Put(&i, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK_EQUAL(static_cast<int>(window[0]), i);
  }
  over = true;
  sessions.join();
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv, MPI_THREAD_MULTIPLE);
  if (program.thread_level() < MPI_THREAD_MULTIPLE) return 0;
  program.test("windows beside sessions", [&] { windows_beside_sessions(program); });
}
