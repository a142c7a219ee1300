// SPDX-License-Identifier: BSD-3-Clause
// A rank that computes while another one waits for something that is done for it there only when
// it calls MPI (B1). Rank 1 is late, others wait; the test ends its work (support/paced.hpp). Not a
// test by itself.
//   inattentive TURNS SCENARIO   so often; SCENARIO as below
#include <oriel/cpp/weak.hpp>

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "support/paced.hpp"
#include "support/program.hpp"

namespace {

constexpr int waiting = 0;
constexpr int late = 1;
// More than a queue has space for.
constexpr int many = 3000;

std::optional<support::Paced> paced;

/// True for the late rank, which has computed. Others come back when that begins.
bool computed(int rank) {
  if (rank != late) {
    MPI_Recv(nullptr, 0, MPI_INT, late, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return false;
  }
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int other = 0; other < ranks; ++other) {
    if (other != late) MPI_Send(nullptr, 0, MPI_INT, other, 0, MPI_COMM_WORLD);
  }
  paced->work();
  return true;
}

/// The turns of a scenario, on a window that all of its epochs are in.
template <typename Turn>
void play_on_window(const char* name, int turns, Turn&& turn) {
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_name(win, name);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < turns; ++i) {
    turn(win);
    MPI_Barrier(MPI_COMM_WORLD);  // in which the late rank serves the other one
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

// Between nodes, where no thread of rank 1's serves others.

void flush(int rank, MPI_Win win) {
  const int value = 1;
  if (computed(rank)) return;
  MPI_Put(&value, 1, MPI_INT, late, 0, 1, MPI_INT, win);
  paced->call([&] { MPI_Win_flush(late, win); });
}

void request(int rank, MPI_Win win) {
  int value = 0;
  MPI_Request request;
  if (computed(rank)) return;
  MPI_Rget(&value, 1, MPI_INT, late, 0, 1, MPI_INT, win, &request);
  paced->call([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
}

/// The late rank enters the fence in time. Rank 2 waits for what it passes on of rank 0.
void play_fences(int rank, int turns) {
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_name(win, "fence");
  MPI_Win_fence(0, win);
  for (int i = 0; i < turns; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == late) ORIEL_Win_ifence(0, win, &request);
    if (!computed(rank)) paced->call([&] { MPI_Win_fence(0, win); });
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Win_free(&win);
}

// On one node.

void queue(int rank, MPI_Win win) {
  const int value = 1;
  if (!computed(rank)) {
    for (int i = 0; i < many; ++i) {
      ORIEL_Put_notify(&value, 1, MPI_INT, late, 0, 1, MPI_INT, win, 7);
    }
    paced->call([&] { MPI_Win_flush(late, win); });
    return;
  }
  MPI_Request request;
  ORIEL_Notify_init(win, waiting, 7, many, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

// On one node or several.

void play_collective(int rank, int turns) {
  std::array<int, 2> sent{};
  std::array<int, 2> received{};
  MPI_Request request;
  ORIEL_Alltoall_init(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, MPI_COMM_WORLD,
                      MPI_INFO_NULL, &request);
  for (int i = 0; i < turns; ++i) {
    computed(rank);
    MPI_Start(&request);
    paced->call([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
  }
  MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(1, argv);
  CHECK(argc == 3 && program.size() <= 3 && support::Paced::wanted());
  const int turns = std::atoi(argv[1]);
  const int rank = program.rank();
  paced.emplace(rank);
  const auto asked_for = [&](const char* scenario) { return std::strcmp(argv[2], scenario) == 0; };
  if (asked_for("flush")) {
    play_on_window("flush", turns, [rank](MPI_Win win) { flush(rank, win); });
  } else if (asked_for("request")) {
    play_on_window("request", turns, [rank](MPI_Win win) { request(rank, win); });
  } else if (asked_for("fence")) {
    play_fences(rank, turns);
  } else if (asked_for("queue")) {
    play_on_window("queue", turns, [rank](MPI_Win win) { queue(rank, win); });
  } else {
    CHECK(asked_for("collective"));
    play_collective(rank, turns);
  }
  return 0;
}
