// SPDX-License-Identifier: BSD-3-Clause
// Pairs of ranks, of which one is late, each in another call (B1, B2): of n ranks, r waits for
// r + n/2. Not a test by itself: its drivers look at what Oriel says of the waits.
//   late FILE          until the file is there
//   late FILE circle   two ranks wait for one another until they are ended
//   late FILE others   of three ranks two seem to, but the one waits for the third, which is late
//   late FILE overtaken  the same on one window, in a blocking call, by a reorder key
//   late FILE putting  of four ranks on two nodes the late one puts to another node meanwhile
//   late FILE making|freeing   of two ranks one makes or frees a window, and the other one is late
//   late FILE beside   as making, while another thread of the rank is in a call of the host's
//   late MS TURNS [WORK [nonblocking|prompt]]
//     for so many milliseconds, so often, and with ORIEL_TEST_PACE until the test ends the work
//     (support/paced.hpp). The rank that waits works for WORK milliseconds behind its call unless
//     they are 0, and prints how long it waited. `nonblocking`: its call is the nonblocking one,
//     and it waits behind the work. `prompt`: the late rank makes its call before its own work, so
//     that nobody waits.
#include <unistd.h>
#include <oriel/cpp/weak.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "support/paced.hpp"
#include "support/program.hpp"

namespace {

constexpr int waiting = 0;  // in each pair
constexpr int late = 1;
constexpr int long_bytes = 1 << 20;
constexpr int long_puts = 64;

const char* signal_file = nullptr;
unsigned milliseconds = 0;
unsigned work_milliseconds = 0;
bool nonblocking = false;
bool prompt = false;
int turns = 1;
int turn = 0;
double waited = 0;
std::optional<support::Paced> paced;

/// A barrier that leaves the processor to others: there are more ranks than processors.
void meet(MPI_Comm ranks) {
  MPI_Request request;
  MPI_Ibarrier(ranks, &request);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    usleep(100);
  }
}

void work_for(unsigned duration) {
  paced ? paced->work() : static_cast<void>(usleep(duration * 1000));
}

/// The work of the rank that has waited.
void work_behind() {
  if (work_milliseconds != 0) work_for(work_milliseconds);
}

/// The late rank's work.
void compute() {
  if (signal_file == nullptr) work_for(milliseconds);
  while (signal_file != nullptr && access(signal_file, F_OK) != 0) usleep(10'000);
}

/// The late rank's call that the other one waits for, and the work before it, or behind its
/// nonblocking form.
template <typename Blocking, typename Nonblocking>
void compute_before(Blocking&& blocking, Nonblocking&& begin) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (prompt) begin(&request);
  compute();
  if (!prompt) blocking();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// The call in which the other one waits.
template <typename Call>
void timed(Call&& call) {
  const double begun = MPI_Wtime();
  paced ? paced->call(call) : call();
  waited += MPI_Wtime() - begun;
}

/// The same of a call that has a nonblocking form, with the work behind it.
template <typename Blocking, typename Nonblocking>
void timed_with_work(Blocking&& blocking, Nonblocking&& begin) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (nonblocking) {
    begin(&request);
  } else {
    timed(blocking);
  }
  work_behind();
  timed([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
}

/// A window of two ranks, named.
MPI_Win make(MPI_Comm pair, const char* name, MPI_Aint bytes = 64, MPI_Info info = MPI_INFO_NULL) {
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(bytes, 1, info, pair, &memory, &win);
  MPI_Win_set_name(win, name);
  return win;
}

/// Too long to be kept for a target of another node that has not posted.
void put_long(int target, MPI_Win win) {
  static const std::vector<char> data(long_bytes);
  MPI_Put(data.data(), long_bytes, MPI_BYTE, target, 0, long_bytes, MPI_BYTE, win);
}

MPI_Group group_of(MPI_Comm pair, int rank) {
  MPI_Group all;
  MPI_Group one;
  MPI_Comm_group(pair, &all);
  MPI_Group_incl(all, 1, &rank, &one);
  MPI_Group_free(&all);
  return one;
}

/// Of a window: who waits for whom, in one turn.
using Scenario = void (*)(MPI_Comm pair, int rank, MPI_Group other, MPI_Win win);

void late_post(MPI_Comm, int rank, MPI_Group other, MPI_Win win) {
  if (rank == waiting) {
    MPI_Win_start(other, 0, win);
    put_long(late, win);
    timed_with_work([&] { MPI_Win_complete(win); },
                    [&](MPI_Request* request) { ORIEL_Win_icomplete(win, request); });
  } else {
    const auto post = [&](auto...) { MPI_Win_post(other, 0, win); };
    compute_before(post, post);
    MPI_Win_wait(win);
  }
}

void late_complete(MPI_Comm, int rank, MPI_Group other, MPI_Win win) {
  if (rank == waiting) {
    MPI_Win_post(other, 0, win);
    timed_with_work([&] { MPI_Win_wait(win); },
                    [&](MPI_Request* request) { ORIEL_Win_iwait(win, request); });
  } else {
    MPI_Win_start(other, 0, win);
    compute_before([&] { MPI_Win_complete(win); },
                   [&](MPI_Request* request) { ORIEL_Win_icomplete(win, request); });
  }
}

void late_fence(MPI_Comm, int rank, MPI_Group, MPI_Win win) {
  if (turn == 0) MPI_Win_fence(0, win);
  if (rank == waiting) {
    timed_with_work([&] { MPI_Win_fence(0, win); },
                    [&](MPI_Request* request) { ORIEL_Win_ifence(0, win, request); });
  } else {
    compute_before([&] { MPI_Win_fence(0, win); },
                   [&](MPI_Request* request) { ORIEL_Win_ifence(0, win, request); });
  }
}

/// The late rank's operations and its closing fence are called before the epoch can begin: the
/// other rank waits for nothing but the transfers, which come behind the work.
void early_fence(MPI_Comm pair, int rank, MPI_Group, MPI_Win win) {
  if (rank == waiting) {
    MPI_Recv(nullptr, 0, MPI_INT, late, 0, pair, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    timed_with_work([&] { MPI_Win_fence(0, win); },
                    [&](MPI_Request* request) { ORIEL_Win_ifence(0, win, request); });
  } else {
    std::array<MPI_Request, 2> requests;
    ORIEL_Win_ifence(0, win, &requests[0]);
    for (int put = 0; put < long_puts; ++put) put_long(waiting, win);
    ORIEL_Win_ifence(0, win, &requests[1]);
    MPI_Send(nullptr, 0, MPI_INT, waiting, 0, pair);
    compute();
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
}

void late_unlock(MPI_Comm pair, int rank, MPI_Group, MPI_Win win) {
  if (rank == late) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, late, 0, win);
    MPI_Win_flush(late, win);
  }
  meet(pair);
  if (rank == late) {
    compute_before([&] { MPI_Win_unlock(late, win); },
                   [&](MPI_Request* request) { ORIEL_Win_iunlock(late, win, request); });
  } else {
    const int value = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, late, 0, win);
    MPI_Put(&value, 1, MPI_INT, late, 0, 1, MPI_INT, win);
    timed_with_work([&] { MPI_Win_unlock(late, win); },
                    [&](MPI_Request* request) { ORIEL_Win_iunlock(late, win, request); });
  }
}

void late_notification(MPI_Comm, int rank, MPI_Group, MPI_Win win) {
  MPI_Win_lock_all(0, win);
  if (rank == waiting) {
    MPI_Status status;
    timed([&] { ORIEL_Notify_probe(win, late, MPI_ANY_TAG, &status); });
    MPI_Request request;
    ORIEL_Notify_init(win, late, MPI_ANY_TAG, 1, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  } else {
    const int value = 1;
    compute();
    ORIEL_Put_notify(&value, 1, MPI_INT, waiting, 0, 1, MPI_INT, win, 7);
  }
  MPI_Win_unlock_all(win);
  if (rank == waiting) work_behind();
}

void late_request(MPI_Comm, int rank, MPI_Group other, MPI_Win win) {
  if (rank == waiting) {
    MPI_Request request;
    MPI_Win_start(other, 0, win);
    put_long(late, win);
    ORIEL_Win_icomplete(win, &request);
    timed([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
    work_behind();
  } else {
    compute();
    MPI_Win_post(other, 0, win);
    MPI_Win_wait(win);
  }
}

struct Named {
  const char* name;
  Scenario play;
  MPI_Aint bytes = 64;  // of the window
};
// Fewer ranks play the first ones.
constexpr std::array<Named, 7> scenarios{{{"late post", late_post, long_bytes},
                                          {"late complete", late_complete},
                                          {"late fence", late_fence},
                                          {"late unlock", late_unlock},
                                          {"late notification", late_notification},
                                          {"late request", late_request, long_bytes},
                                          {"early fence", early_fence, long_bytes}}};

void play(const Named& scenario, MPI_Comm pair, int rank) {
  MPI_Win win = make(pair, scenario.name, scenario.bytes);
  MPI_Group other = group_of(pair, 1 - rank);
  for (turn = 0; turn < turns; ++turn) {
    meet(pair);
    scenario.play(pair, rank, other, win);
  }
  meet(pair);  // nobody waits in the freeing
  MPI_Group_free(&other);
  MPI_Win_free(&win);
}

/// Rank 0 in a fence of the one window, rank 1 in a fence of the other.
void circle(MPI_Comm pair, int rank) {
  MPI_Win one = make(pair, "one");
  MPI_Win two = make(pair, "two");
  MPI_Win_fence(0, rank == 0 ? one : two);
}

/// Rank 0 has an epoch pending for rank 1's post, and waits for another one, for rank 2's.
void others(int rank, bool overtaken) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, ORIEL_ACCESS_AFTER_ACCESS_REORDER, "1");
  MPI_Win awaited = make(MPI_COMM_WORLD, "awaited", long_bytes, info);
  MPI_Win other = make(MPI_COMM_WORLD, "pending");
  MPI_Win pending = overtaken ? awaited : other;
  MPI_Info_free(&info);
  MPI_Win fenced = make(MPI_COMM_WORLD, "fenced");
  const auto access = [](int target, MPI_Win win) {
    const int value = 1;
    MPI_Group group = group_of(MPI_COMM_WORLD, target);
    MPI_Request request;
    MPI_Win_start(group, 0, win);
    MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win);
    ORIEL_Win_icomplete(win, &request);
    MPI_Group_free(&group);
    return request;
  };
  const auto access_blocking = [](int target, MPI_Win win) {
    MPI_Group group = group_of(MPI_COMM_WORLD, target);
    MPI_Win_start(group, 0, win);
    put_long(target, win);
    MPI_Win_complete(win);
    MPI_Group_free(&group);
    return MPI_REQUEST_NULL;
  };
  const auto expose = [](MPI_Win win) {
    MPI_Group group = group_of(MPI_COMM_WORLD, 0);
    MPI_Win_post(group, 0, win);
    MPI_Win_wait(win);
    MPI_Group_free(&group);
  };
  if (rank == 0) {
    MPI_Request first = access(1, pending);
    MPI_Request second = overtaken ? access_blocking(2, awaited) : access(2, awaited);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, fenced);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Win_fence(0, fenced);
    expose(pending);
  } else {
    compute();
    expose(awaited);
    MPI_Win_fence(0, fenced);
  }
  for (MPI_Win* win : {&other, &awaited, &fenced}) MPI_Win_free(win);
}

/// Rank 0 waits in a fence for rank 1, whose puts go to another node.
void put_meanwhile(int rank) {
  constexpr int elsewhere = 2;  // the first rank of the other node
  MPI_Comm node;
  MPI_Comm_split(MPI_COMM_WORLD, rank / elsewhere, 0, &node);
  MPI_Win fenced = make(node, "fenced");
  MPI_Win win = make(MPI_COMM_WORLD, "put to");
  MPI_Win_fence(0, fenced);
  MPI_Win_lock_all(0, win);
  if (rank == late) {
    const int value = 1;
    while (access(signal_file, F_OK) != 0) {
      for (int put = 0; put < 10; ++put) {
        MPI_Put(&value, 1, MPI_INT, elsewhere, 0, 1, MPI_INT, win);
      }
      usleep(1000);  // the other node may be slow to receive them
    }
  }
  if (rank < elsewhere) MPI_Win_fence(0, fenced);
  MPI_Win_unlock_all(win);
  meet(MPI_COMM_WORLD);
  MPI_Win_free(&win);
  MPI_Win_free(&fenced);
  MPI_Comm_free(&node);
}

void collective_on_window(bool freeing, int rank) {
  MPI_Win win = MPI_WIN_NULL;
  if (freeing) win = make(MPI_COMM_WORLD, "freed");
  if (rank == late) compute();
  if (!freeing) win = make(MPI_COMM_WORLD, "made");
  MPI_Win_free(&win);
}

void make_beside_a_thread(int rank) {
  MPI_Win first = make(MPI_COMM_WORLD, "first");
  int token = 0;
  std::optional<std::jthread> other;
  if (rank == waiting) {
    other.emplace(
        [&] { MPI_Recv(&token, 1, MPI_INT, late, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
    usleep(100'000);  // so that the host has this thread in its progress engine, on Open MPI
  } else {
    compute();
  }
  MPI_Win win = make(MPI_COMM_WORLD, "made");
  if (rank == late) MPI_Send(&token, 1, MPI_INT, waiting, 0, MPI_COMM_WORLD);
  other.reset();
  MPI_Win_free(&win);
  MPI_Win_free(&first);
}

}  // namespace

int main(int argc, char** argv) {
  const auto asked_for = [&](const char* word) {
    return argc > 2 && std::strcmp(argv[2], word) == 0;
  };
  const bool in_circle = asked_for("circle");
  const bool overtaken = asked_for("overtaken");
  const bool with_others = overtaken || asked_for("others");
  const bool putting = asked_for("putting");
  const bool freeing = asked_for("freeing");
  const bool making = asked_for("making");
  const bool beside = asked_for("beside");
  if (argc > 2 && !in_circle && !with_others && !putting && !freeing && !making && !beside) {
    milliseconds = static_cast<unsigned>(std::atoi(argv[1]));
    turns = std::atoi(argv[2]);
    if (argc > 3) work_milliseconds = static_cast<unsigned>(std::atoi(argv[3]));
    nonblocking = argc > 4 && std::strcmp(argv[4], "nonblocking") == 0;
    prompt = argc > 4 && std::strcmp(argv[4], "prompt") == 0;
  } else {
    signal_file = argv[1];
  }
  support::Program program(1, argv, beside ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
  if (beside) {
    make_beside_a_thread(program.rank());
    return 0;
  }
  if (with_others) {
    others(program.rank(), overtaken);
    return 0;
  }
  if (putting) {
    put_meanwhile(program.rank());
    return 0;
  }
  if (freeing || making) {
    collective_on_window(freeing, program.rank());
    return 0;
  }
  const int pairs = program.size() / 2;
  if (support::Paced::wanted()) paced.emplace(program.rank());
  const int pair_number = program.rank() % pairs;
  const int rank = program.rank() / pairs;
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, pair_number, 0, &pair);
  if (in_circle) {
    circle(pair, rank);
  } else {
    CHECK(program.size() % 2 == 0 && pairs <= static_cast<int>(scenarios.size()));
    play(scenarios[static_cast<std::size_t>(pair_number)], pair, rank);
    meet(MPI_COMM_WORLD);
    if (rank == waiting) std::printf("rank %d waited %.6f s\n", program.rank(), waited);
  }
  MPI_Comm_free(&pair);
  return 0;
}
