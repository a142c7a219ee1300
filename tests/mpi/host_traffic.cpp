// SPDX-License-Identifier: BSD-3-Clause
// E10: while a rank waits in a call of ours, or asks in a loop, the host's own messages go on. One
// of several MB that it has sent goes only when its sender looks after it; what the sender waits
// for comes behind it.
#include <array>
#include <vector>

#include "support/counters.hpp"
#include "support/nonblocking.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

constexpr int bytes = 2 << 20;

/// Each even rank sends to the odd one behind it and calls wait(); that one receives, and answers.
template <typename Wait, typename Answer>
void behind_a_message(const Program& program, Wait&& wait, Answer&& answer) {
  const int partner = program.rank() ^ 1;
  if (partner < program.size()) {
    std::vector<char> message(bytes);
    if (program.rank() % 2 == 0) {
      MPI_Request sent;
      MPI_Isend(message.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD, &sent);
      wait(partner, sent);
      MPI_Wait(&sent, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(message.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      answer(partner);
    }
  }
  support::barrier();
}

void fences(const Program& program) {
  Window<int> window(Flavor::allocate, 1);
  // Ranks without a partner, too.
  const auto fence = [&](auto&&...) { MPI_Win_fence(0, window); };
  behind_a_message(program, fence, fence);
  if ((program.rank() ^ 1) >= program.size()) fence();
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

void notifications(const Program& program) {
  const support::Notified oriel;
  Window<int> window(Flavor::allocate, 1);
  const auto answer = [&](int partner) {
    const int value = 1;
    oriel.Put_notify(&value, 1, MPI_INT, partner, 0, 1, MPI_INT, window, 7);
    MPI_Win_flush(partner, window);
  };
  const auto by_request = [&](auto&& wait) {
    behind_a_message(
        program,
        [&](int partner, MPI_Request& sent) {
          std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, sent};
          oriel.Notify_init(window, partner, 7, 1, &requests[0]);
          MPI_Start(&requests[0]);
          wait(requests.data());
          sent = requests[1];
          MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
          MPI_Request_free(&requests[0]);
        },
        answer);
  };
  int index = 0;
  int count = 0;
  std::array<int, 2> indices{};
  const auto until = [](auto&& test) {
    for (int done = 0; done == 0;) test(&done);
  };
  by_request([&](MPI_Request* requests) { MPI_Wait(requests, MPI_STATUS_IGNORE); });
  by_request([&](MPI_Request* requests) { MPI_Waitall(1, requests, MPI_STATUSES_IGNORE); });
  by_request([&](MPI_Request* requests) { MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); });
  by_request([&](MPI_Request* requests) { MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE); });
  by_request([&](MPI_Request* requests) {
    MPI_Waitsome(1, requests, &count, indices.data(), MPI_STATUSES_IGNORE);
  });
  by_request([&](MPI_Request* requests) {
    until([&](int* done) { MPI_Test(requests, done, MPI_STATUS_IGNORE); });
  });
  by_request([&](MPI_Request* requests) {
    until([&](int* done) { MPI_Testall(2, requests, done, MPI_STATUSES_IGNORE); });
  });
  by_request([&](MPI_Request* requests) {
    until([&](int* done) { MPI_Testany(1, requests, &index, done, MPI_STATUS_IGNORE); });
  });
  by_request([&](MPI_Request* requests) {
    until([&](int* done) { MPI_Request_get_status(requests[0], done, MPI_STATUS_IGNORE); });
  });
  const auto by_probe = [&](auto&& probe) {
    behind_a_message(program, [&](int partner, MPI_Request&) { probe(partner); }, answer);
    if (program.rank() % 2 != 0 || (program.rank() ^ 1) >= program.size()) return;
    MPI_Request taken;
    oriel.Notify_init(window, MPI_ANY_SOURCE, 7, 1, &taken);
    MPI_Start(&taken);
    MPI_Wait(&taken, MPI_STATUS_IGNORE);
    MPI_Request_free(&taken);
  };
  by_probe([&](int partner) { oriel.Notify_probe(window, partner, 7, MPI_STATUS_IGNORE); });
  by_probe([&](int partner) {
    until([&](int* done) { oriel.Notify_iprobe(window, partner, 7, done, MPI_STATUS_IGNORE); });
  });
}

/// Calls that wait for nobody, in a loop: until the other one's answer is in our memory.
void calls(const Program& program) {
  const support::Nonblocking oriel;
  Window<int> window(Flavor::allocate, 2);
  MPI_Win_lock_all(0, window);
  int rounds = 0;
  bool alone = false;  // each epoch is of one operation
  const auto loop = [&](auto&& call) {
    ++rounds;
    behind_a_message(
        program,
        [&](int partner, MPI_Request&) {
          while (*const_cast<volatile int*>(&window[0]) != rounds) call(partner);
        },
        [&](int partner) {
          if (alone) MPI_Win_lock(MPI_LOCK_SHARED, partner, 0, window);
          MPI_Put(&rounds, 1, MPI_INT, partner, 0, 1, MPI_INT, window);
          MPI_Win_flush(partner, window);
          if (alone) MPI_Win_unlock(partner, window);
        });
  };
  const int one = 1;
  const std::array<int, 2> two{1, 1};
  int fetched = 0;
  loop([&](int partner) { MPI_Put(&one, 1, MPI_INT, partner, 1, 1, MPI_INT, window); });
  loop([&](int partner) { MPI_Get(&fetched, 1, MPI_INT, partner, 1, 1, MPI_INT, window); });
  loop([&](int partner) {
    MPI_Accumulate(&one, 1, MPI_INT, partner, 1, 1, MPI_INT, MPI_SUM, window);
  });
  loop(
      [&](int partner) { MPI_Fetch_and_op(&one, &fetched, MPI_INT, partner, 1, MPI_SUM, window); });
  loop([&](int partner) { MPI_Win_flush(partner, window); });
  loop([&](int) { MPI_Win_flush_all(window); });
  loop([&](int partner) {
    MPI_Put(two.data(), 1, MPI_2INT, partner, 0, 0, MPI_2INT, window);  // the general path
  });
  loop([&](int partner) {
    MPI_Request request;
    oriel.Win_iflush(partner, window, &request);
    MPI_Request_free(&request);
  });
  MPI_Win_unlock_all(window);
  alone = true;
  loop([&](int partner) {
    MPI_Request request;
    oriel.Win_ilock(MPI_LOCK_SHARED, partner, 0, window, &request);
    MPI_Request_free(&request);
    oriel.Win_iunlock(partner, window, &request);
    MPI_Request_free(&request);
  });
}

void counters(const Program& program) {
  const support::Counters oriel;
  Window<int> window(Flavor::allocate, 1);
  oriel.Win_set_num_notify(window, MPI_INFO_NULL, 1);
  const auto answer = [&](int partner) {
    oriel.Put_notify_counter(nullptr, 0, MPI_INT, partner, 0, 0, MPI_INT, 0, window);
    MPI_Win_flush(partner, window);
  };
  const auto with = [&](auto&& wait) {
    behind_a_message(program, [&](int, MPI_Request&) { wait(); }, answer);
  };
  MPI_Count value = 0;
  with([&] {
    while (value == 0) oriel.Win_get_notify_value(window, 0, &value);
  });
  value = 0;
  with([&] {
    MPI_Request request;
    oriel.Win_get_notify_request(window, 0, 2, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    oriel.Win_reset_notify_value(window, 0, &value);
    CHECK_EQUAL(value, 2);
  });
  value = 0;
  with([&] {
    while (value == 0) oriel.Win_reset_notify_value(window, 0, &value);
  });
}

/// Persistent receives of the host beside requests of ours: their statuses stay theirs.
void beside_the_hosts(const Program& program) {
  const support::Notified oriel;
  Window<int> window(Flavor::allocate, 1);
  MPI_Request ours;
  oriel.Notify_init(window, MPI_ANY_SOURCE, 1, 1, &ours);
  int value = -1;
  MPI_Request theirs;
  MPI_Recv_init(&value, 1, MPI_INT, program.left(), 9, MPI_COMM_WORLD, &theirs);
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&theirs);
    MPI_Send(&round, 1, MPI_INT, program.right(), 9, MPI_COMM_WORLD);
    MPI_Status status;
    MPI_Waitall(1, &theirs, &status);
    CHECK_EQUAL(status.MPI_SOURCE, program.left());
    CHECK_EQUAL(status.MPI_TAG, 9);
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(value, round);
  }
  MPI_Request_free(&theirs);
  MPI_Request_free(&ours);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  program.test("fences", [&] { fences(program); });
  const auto ours = [&](const char* name, auto&& body) {
    program.test_unless_host("any", "an extension of Oriel's", name, [&] { body(program); });
  };
  ours("notifications", notifications);
  ours("counters", counters);
  ours("calls", calls);
  ours("beside the host's", beside_the_hosts);
}
