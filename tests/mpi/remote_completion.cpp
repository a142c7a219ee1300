// SPDX-License-Identifier: BSD-3-Clause
// Q7: requests of operations that are complete at the target: whoever is told by a message finds
// the data there, without a flush, whatever the operation, its length, its epoch and its wait.
#include <array>
#include <numeric>
#include <vector>

#include "support/errors_return.hpp"
#include "support/nonblocking.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/remote_completion.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::RemoteCompletion;
using support::Window;

const RemoteCompletion& oriel() {
  static const RemoteCompletion calls;
  return calls;
}

/// Tells the right neighbour by a message, and waits for that of the left one. Neither flushes.
void tell_and_be_told(const Program& program) {
  MPI_Request sent;
  MPI_Isend(nullptr, 0, MPI_INT, program.right(), 7, MPI_COMM_WORLD, &sent);
  MPI_Recv(nullptr, 0, MPI_INT, program.left(), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

void test_until_done(MPI_Request& request) {
  for (int flag = 0; flag == 0;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

// One integer, more than a packet, and what goes by direct transfers between nodes.
constexpr std::array<int, 3> lengths{1, 3000, 150000};

enum class Kind { put, accumulate, get_accumulate };

/// One operation that replaces a block at the right neighbour, and what was there before.
MPI_Request replace(Kind kind, const int* values, int* before, int count, int where, MPI_Win window,
                    const Program& program) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int right = program.right();
  switch (kind) {
    case Kind::put:
      oriel().Rrput(values, count, MPI_INT, right, where, count, MPI_INT, window, &request);
      break;
    case Kind::accumulate:
      oriel().Rraccumulate(values, count, MPI_INT, right, where, count, MPI_INT, MPI_REPLACE,
                           window, &request);
      break;
    case Kind::get_accumulate:
      oriel().Rrget_accumulate(values, count, MPI_INT, before, count, MPI_INT, right, where, count,
                               MPI_INT, MPI_REPLACE, window, &request);
      break;
  }
  CHECK(request != MPI_REQUEST_NULL);
  return request;
}

void every_kind(Flavor flavor, const Program& program, Kind kind) {
  const auto most = static_cast<std::size_t>(lengths.back());
  Window<int> window(flavor, most);
  std::vector<int> values(most);
  std::vector<int> before(most, -1);
  MPI_Win_lock_all(0, window);
  for (int round = 1; round <= 12; ++round) {
    const int count = lengths[static_cast<std::size_t>(round % 3)];
    std::iota(values.begin(), values.end(), 1000 * round + program.rank());
    MPI_Request request = replace(kind, values.data(), before.data(), count, 0, window, program);
    if (round % 2 == 0) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      test_until_done(request);
    }
    CHECK(request == MPI_REQUEST_NULL);
    if (kind == Kind::get_accumulate) {
      CHECK_EQUAL(before[0], round == 1 ? 0 : 1000 * (round - 1) + program.rank());
    }
    tell_and_be_told(program);
    for (int i = 0; i < count; ++i) {
      CHECK_EQUAL(window[static_cast<std::size_t>(i)], 1000 * round + program.left() + i);
    }
    support::barrier();
  }
  MPI_Win_unlock_all(window);
}

/// Large counts, datatypes with gaps, and displacement units.
void large_counts_and_gaps(Flavor flavor, const Program& program) {
  constexpr int count = 500;
  Window<int> window(flavor, 2 * count);
  MPI_Datatype every_second;
  MPI_Type_vector(count, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  std::vector<int> values(2 * count);
  std::vector<int> before(count, -1);
  std::iota(values.begin(), values.end(), program.rank());
  std::array<MPI_Request, 3> requests;
  MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
  oriel().Rrput_c(values.data(), 1, every_second, program.right(), 0, count, MPI_INT, window,
                  &requests[0]);
  oriel().Rraccumulate_c(values.data(), count, MPI_INT, program.right(), 0, count, MPI_INT, MPI_SUM,
                         window, &requests[1]);
  oriel().Rrget_accumulate_c(values.data(), count, MPI_INT, before.data(), count, MPI_INT,
                             program.right(), count, count, MPI_INT, MPI_REPLACE, window,
                             &requests[2]);
  MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
  tell_and_be_told(program);
  for (int i = 0; i < count; ++i) {
    CHECK_EQUAL(window[static_cast<std::size_t>(i)], 2 * program.left() + 3 * i);
    CHECK_EQUAL(window[static_cast<std::size_t>(count + i)], program.left() + i);
    CHECK_EQUAL(before[static_cast<std::size_t>(i)], 0);
  }
  support::barrier();
  MPI_Win_unlock(program.right(), window);
  MPI_Type_free(&every_second);
}

/// An array of eight, three of them ours, mixed with requests of MPI and the host's.
template <class Finish>
void mixed(Window<int>& window, const Program& program, int round, Finish&& finish) {
  const int value = 100 * round + program.rank();
  int before = -1;
  int got = -1;
  std::array<int, 2> received{-1, -1};
  std::array<MPI_Request, 8> requests;
  MPI_Irecv(&received[0], 1, MPI_INT, program.left(), 1, MPI_COMM_WORLD, &requests[0]);
  requests[1] = replace(Kind::put, &value, nullptr, 1, 0, window, program);
  MPI_Isend(&value, 1, MPI_INT, program.right(), 1, MPI_COMM_WORLD, &requests[2]);
  requests[3] = replace(Kind::accumulate, &value, nullptr, 1, 1, window, program);
  requests[4] = MPI_REQUEST_NULL;
  requests[5] = replace(Kind::get_accumulate, &value, &before, 1, 2, window, program);
  MPI_Irecv(&received[1], 1, MPI_INT, program.left(), 2, MPI_COMM_WORLD, &requests[6]);
  MPI_Rget(&got, 1, MPI_INT, program.right(), 3, 1, MPI_INT, window, &requests[7]);
  MPI_Send(&value, 1, MPI_INT, program.right(), 2, MPI_COMM_WORLD);
  finish(requests);
  for (MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
  tell_and_be_told(program);
  const int from_left = 100 * round + program.left();
  for (const int i : {0, 1, 2}) CHECK_EQUAL(window[static_cast<std::size_t>(i)], from_left);
  for (const int one : received) CHECK_EQUAL(one, from_left);
  CHECK_EQUAL(before, round == 0 ? 0 : value - 100);
  CHECK_EQUAL(got, 0);
  support::barrier();
}

void wait_families(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 4);
  MPI_Win_lock_all(0, window);
  mixed(window, program, 0, [](auto& requests) {
    std::array<MPI_Status, 8> statuses;
    MPI_Waitall(8, requests.data(), statuses.data());
  });
  mixed(window, program, 1, [](auto& requests) {
    for (int i = 0; i < 7; ++i) {
      int index = -1;
      MPI_Waitany(8, requests.data(), &index, MPI_STATUS_IGNORE);
      CHECK(index >= 0 && index < 8 && index != 4);
    }
  });
  mixed(window, program, 2, [](auto& requests) {
    for (int done = 0; done < 7;) {
      int count = 0;
      std::array<int, 8> indices;
      MPI_Testsome(8, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
      done += count;
    }
  });
  mixed(window, program, 3, [](auto& requests) {
    for (MPI_Request& request : requests) {
      for (int flag = 0; flag == 0;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  });
  mixed(window, program, 4, [](auto& requests) {
    for (int flag = 0; flag == 0;) {
      MPI_Testall(8, requests.data(), &flag, MPI_STATUSES_IGNORE);
    }
  });
  MPI_Win_unlock_all(window);
}

/// A thousand to one target, of all kinds; the youngest are waited for first.
void thousand_pending(Flavor flavor, const Program& program) {
  constexpr int count = 1000;
  Window<int> window(flavor, count);
  std::vector<int> values(count);
  std::vector<int> before(count, -1);
  std::vector<MPI_Request> requests(count);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    values[at] = 3 * i + program.rank();
    requests[at] =
        replace(static_cast<Kind>(i % 3), &values[at], &before[at], 1, i, window, program);
  }
  for (std::size_t i = count; i > count / 2; --i) MPI_Wait(&requests[i - 1], MPI_STATUS_IGNORE);
  MPI_Waitall(count / 2, requests.data(), MPI_STATUSES_IGNORE);
  tell_and_be_told(program);
  for (int i = 0; i < count; ++i) {
    CHECK_EQUAL(window[static_cast<std::size_t>(i)], 3 * i + program.left());
  }
  support::barrier();
  MPI_Win_unlock_all(window);
}

/// The lock is not granted: nothing completes before it is.
void behind_a_lock(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  static const support::Nonblocking nonblocking;
  Window<int> window(flavor, 4);
  const int last = program.size() - 1;
  const int value = 5;
  if (program.rank() == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window);
    MPI_Put(&value, 1, MPI_INT, last, 3, 1, MPI_INT, window);
    MPI_Win_flush(last, window);  // now it is held
  }
  support::barrier();
  if (program.rank() == last) {
    std::array<MPI_Request, 4> requests;
    int before = -1;
    nonblocking.Win_ilock(MPI_LOCK_EXCLUSIVE, last, 0, window, &requests[3]);
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    oriel().Rrput(&value, 1, MPI_INT, last, 0, 1, MPI_INT, window, &requests[0]);
    oriel().Rraccumulate(&value, 1, MPI_INT, last, 1, 1, MPI_INT, MPI_SUM, window, &requests[1]);
    oriel().Rrget_accumulate(&value, 1, MPI_INT, &before, 1, MPI_INT, last, 2, 1, MPI_INT, MPI_SUM,
                             window, &requests[2]);
    for (int i = 0; i < 3; ++i)
      CHECK(!support::complete_now(requests[static_cast<std::size_t>(i)]));
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(window[static_cast<std::size_t>(i)], 0);
    nonblocking.Win_iunlock(last, window, &requests[3]);
    support::barrier();
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(window[static_cast<std::size_t>(i)], value);
    CHECK_EQUAL(before, 0);
  } else {
    support::barrier();
  }
  if (program.rank() == 0) MPI_Win_unlock(last, window);
}

/// Recorded in an epoch that waits for the one before it, to another target that is not available.
void in_a_deferred_epoch(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  static const support::Nonblocking nonblocking;
  const int last = program.size() - 1;
  Window<int> window(flavor, 4);
  if (program.rank() == last) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window);
  support::barrier();
  const int value = 5;
  if (program.rank() == 0) {
    std::array<MPI_Request, 6> requests;
    for (const int target : {last, 0}) {
      MPI_Request* three = &requests[target == last ? 0u : 3u];
      nonblocking.Win_ilock(MPI_LOCK_SHARED, target, 0, window, &three[0]);
      MPI_Wait(&three[0], MPI_STATUS_IGNORE);
      oriel().Rrput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window, &three[1]);
      nonblocking.Win_iunlock(target, window, &three[2]);
    }
    CHECK(!support::complete_now(requests[1]));
    CHECK(!support::complete_now(requests[4]));
    support::barrier();
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Send(nullptr, 0, MPI_INT, last, 8, MPI_COMM_WORLD);
    MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
    CHECK_EQUAL(window[0], value);
    MPI_Waitall(6, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    support::barrier();
  }
  if (program.rank() == last) {
    CHECK_EQUAL(window[0], 0);
    MPI_Win_unlock(last, window);
    MPI_Recv(nullptr, 0, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(window[0], value);
  }
}

/// The epoch ends by a weak unlock, which waits for nothing: the requests do.
void weak_unlock(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  for (int round = 1; round <= 20; ++round) {
    const int value = 10 * round + program.rank();
    MPI_Win_lock(MPI_LOCK_SHARED, program.right(), ORIEL_MODE_WEAK_UNLOCK, window);
    MPI_Request request = replace(Kind::put, &value, nullptr, 1, 0, window, program);
    MPI_Win_unlock(program.right(), window);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell_and_be_told(program);
    CHECK_EQUAL(window[0], 10 * round + program.left());
    support::barrier();
  }
}

/// Behind notified puts, whose stores may have been left to the target: those are made before. An
/// accumulate has a place of its own: MPI orders it with no put.
void behind_notified_puts(Flavor flavor, const Program& program) {
  static const support::Notified notified;
  constexpr int puts = 30;
  Window<int> window(flavor, puts + 1);
  std::array<int, puts> values{};  // a put that the network does not take at once reads it later
  const int right = program.right();
  MPI_Win_lock_all(0, window);
  for (int round = 1; round <= 20; ++round) {
    const int first = 100 * round;
    const bool put = round % 2 == 0;
    const int where = put ? puts - 1 : puts;
    std::iota(values.begin(), values.end(), first);
    for (int i = 0; i < puts; ++i) {
      const int* value = &values[static_cast<std::size_t>(i)];
      notified.Put_notify(value, 1, MPI_INT, right, i, 1, MPI_INT, window, round);
    }
    MPI_Request request =
        replace(put ? Kind::put : Kind::accumulate, &first, nullptr, 1, where, window, program);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell_and_be_told(program);
    CHECK_EQUAL(window[static_cast<std::size_t>(where)], first);
    MPI_Request arrived;
    notified.Notify_init(window, program.left(), round, puts, &arrived);
    MPI_Start(&arrived);
    MPI_Wait(&arrived, MPI_STATUS_IGNORE);
    MPI_Request_free(&arrived);
    for (int i = 0; i < puts - 1; ++i) CHECK_EQUAL(window[static_cast<std::size_t>(i)], first + i);
    CHECK_EQUAL(window[puts - 1], put ? first : first + puts - 1);
    support::barrier();
  }
  MPI_Win_unlock_all(window);
}

/// MPI_PROC_NULL and zero elements. Errors: nothing is started.
void empty_and_wrong(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 2);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  const MPI_Win win = window;
  const int value = 4;
  MPI_Request request = MPI_REQUEST_NULL;
  const auto put = [&](int rank, int where, int count, MPI_Datatype type) {
    return oriel().Rrput(&value, count, type, rank, where, count, type, win, &request);
  };
  const auto sum = [&](MPI_Op op) {
    return oriel().Rraccumulate(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, op, win,
                                &request);
  };
  CHECK_CLASS(put(program.right(), 0, 1, MPI_INT), MPI_ERR_RMA_SYNC);
  MPI_Win_fence(0, window);
  CHECK_CLASS(put(program.right(), 0, 1, MPI_INT), MPI_ERR_RMA_SYNC);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  MPI_Win_lock_all(0, window);
  CHECK_CLASS(put(program.size(), 0, 1, MPI_INT), MPI_ERR_RANK);
  CHECK_CLASS(put(program.right(), -1, 1, MPI_INT), MPI_ERR_DISP);
  CHECK_CLASS(put(program.right(), 2, 1, MPI_INT), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(put(program.right(), 0, -1, MPI_INT), MPI_ERR_COUNT);
  CHECK_CLASS(put(program.right(), 0, 1, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
  CHECK_CLASS(sum(MPI_OP_NULL), MPI_ERR_OP);
  CHECK_CLASS(sum(MPI_NO_OP), MPI_ERR_OP);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_CLASS(put(MPI_PROC_NULL, 0, 1, MPI_INT), MPI_SUCCESS);
  CHECK(request != MPI_REQUEST_NULL);
  CHECK(support::complete_now(request));
  CHECK_CLASS(put(program.right(), 0, 0, MPI_INT), MPI_SUCCESS);
  CHECK(request != MPI_REQUEST_NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_CLASS(put(program.right(), 1, 1, MPI_INT), MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  tell_and_be_told(program);
  CHECK_EQUAL(window[0], 0);
  CHECK_EQUAL(window[1], value);
  support::barrier();
  MPI_Win_unlock_all(window);
}

void on_no_window_of_ours() {
  const support::ErrorsReturn errors_return;
  const int value = 1;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(oriel().Rrput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL, &request),
              MPI_ERR_WIN);
  CHECK(request == MPI_REQUEST_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  constexpr const char* only_ours = "no host has these calls";
  const auto test = [&](const char* name, auto&& body) {
    program.test_unless_host("any", only_ours, name, body);
  };
  test("on no window of ours", on_no_window_of_ours);
  for (Flavor flavor : support::flavors()) {
    test("put", [&] { every_kind(flavor, program, Kind::put); });
    test("accumulate", [&] { every_kind(flavor, program, Kind::accumulate); });
    test("get_accumulate", [&] { every_kind(flavor, program, Kind::get_accumulate); });
    test("large counts and gaps", [&] { large_counts_and_gaps(flavor, program); });
    test("wait families", [&] { wait_families(flavor, program); });
    test("thousand pending", [&] { thousand_pending(flavor, program); });
    test("behind a lock", [&] { behind_a_lock(flavor, program); });
    test("in a deferred epoch", [&] { in_a_deferred_epoch(flavor, program); });
    test("weak unlock", [&] { weak_unlock(flavor, program); });
    test("behind notified puts", [&] { behind_notified_puts(flavor, program); });
    test("empty and wrong", [&] { empty_and_wrong(flavor, program); });
  }
}
