// SPDX-License-Identifier: BSD-3-Clause
// G3, E1: request-based operations in the whole family of waits and tests, mixed with the host's
// own requests, asked, and outstanding by the thousand. (MPI forbids MPI_Request_free on these.)
#include <array>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;

/// An array of eight: rput, rget, raccumulate and rget_accumulate to the right neighbour, and the
/// host's own ring of messages. Whatever the wait, `check` must hold afterwards.
class Mixed {
 public:
  Mixed(Window<int>& window, const Program& program) : window_(window), program_(program) {
    const int right = program.right();
    const int left = program.left();
    value_ = 10 + program.rank();
    // Slot 0 is put, slot 1 got (set before), slot 2 and 3 summed.
    MPI_Irecv(&received_[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Rput(&value_, 1, MPI_INT, right, 0, 1, MPI_INT, window, &requests[1]);
    MPI_Isend(&value_, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Rget(&got_, 1, MPI_INT, right, 1, 1, MPI_INT, window, &requests[3]);
    requests[4] = MPI_REQUEST_NULL;
    MPI_Raccumulate(&value_, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, window, &requests[5]);
    MPI_Irecv(&received_[1], 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[6]);
    MPI_Rget_accumulate(&value_, 1, MPI_INT, &before_, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_SUM,
                        window, &requests[7]);
    MPI_Send(&value_, 1, MPI_INT, right, 2, MPI_COMM_WORLD);
  }

  void check(int round) {
    for (MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
    const int from_left = 10 + program_.left();
    CHECK_EQUAL(received_[0], from_left);
    CHECK_EQUAL(received_[1], from_left);
    CHECK_EQUAL(got_, 500 + program_.right());
    CHECK_EQUAL(before_, round * value_);
    int now[4];
    MPI_Win_flush(program_.right(), window_);
    MPI_Get(now, 4, MPI_INT, program_.right(), 0, 4, MPI_INT, window_);
    MPI_Win_flush(program_.right(), window_);
    CHECK_EQUAL(now[0], value_);
    CHECK_EQUAL(now[2], (round + 1) * value_);
    CHECK_EQUAL(now[3], (round + 1) * value_);
  }

  std::array<MPI_Request, 8> requests;

 private:
  Window<int>& window_;
  const Program& program_;
  int value_ = 0;
  int received_[2] = {-1, -1};
  int got_ = -1;
  int before_ = -1;
};

void wait_families(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 4);
  window[1] = 500 + program.rank();
  support::barrier();
  MPI_Win_lock_all(0, window);
  int round = 0;
  const auto run = [&](auto finish) {
    Mixed mixed(window, program);
    finish(mixed.requests);
    mixed.check(round++);
  };
  run([](auto& requests) { MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE); });
  run([](auto& requests) {
    std::array<MPI_Status, 8> statuses;
    MPI_Waitall(8, requests.data(), statuses.data());
  });
  run([](auto& requests) {
    for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  run([](auto& requests) {
    for (int i = 0; i < 7; ++i) {
      int index = -1;
      MPI_Status status;
      MPI_Waitany(8, requests.data(), &index, &status);
      CHECK(index >= 0 && index < 8 && index != 4);
    }
    int index = 0;
    MPI_Waitany(8, requests.data(), &index, MPI_STATUS_IGNORE);
    CHECK_EQUAL(index, MPI_UNDEFINED);
  });
  run([](auto& requests) {
    for (int done = 0; done < 7;) {
      int count = 0;
      std::array<int, 8> indices;
      MPI_Waitsome(8, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
      CHECK(count > 0);
      done += count;
    }
  });
  run([](auto& requests) {
    int flag = 0;
    while (!flag) MPI_Testall(8, requests.data(), &flag, MPI_STATUSES_IGNORE);
  });
  run([](auto& requests) {
    for (int done = 0; done < 7;) {
      int flag = 0;
      int index = 0;
      MPI_Testany(8, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
      if (flag && index != MPI_UNDEFINED) ++done;
    }
  });
  run([](auto& requests) {
    for (int done = 0; done < 7;) {
      int count = 0;
      std::array<int, 8> indices;
      MPI_Testsome(8, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
      done += count;
    }
  });
  run([](auto& requests) {
    for (MPI_Request& request : requests) {
      int flag = 0;
      while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      flag = 0;
      while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
  });
  MPI_Win_unlock_all(window);
}

/// A thousand at a time to one peer: the 255th aborted a host.
void thousand_outstanding(Flavor flavor, const Program& program) {
  constexpr int count = 1000;
  Window<int> window(flavor, count);
  std::vector<int> values(count), got(count, -1);
  std::vector<MPI_Request> requests(count);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    values[at] = i * 3 + program.rank();
    MPI_Rput(&values[at], 1, MPI_INT, program.right(), i, 1, MPI_INT, window, &requests[at]);
  }
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  MPI_Win_flush(program.right(), window);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    MPI_Rget(&got[at], 1, MPI_INT, program.right(), i, 1, MPI_INT, window, &requests[at]);
  }
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  CHECK(got == values);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    MPI_Raccumulate(&values[at], 1, MPI_INT, program.right(), i, 1, MPI_INT, MPI_SUM, window,
                    &requests[at]);
  }
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(window);
}

/// Programs do it: unlock_all first, then the wait on a request of the epoch.
void wait_after_unlock(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const int value = 8;
  int got = -1;
  MPI_Request requests[2];
  MPI_Win_lock_all(0, window);
  MPI_Rput(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window, &requests[0]);
  MPI_Win_flush(program.right(), window);
  MPI_Rget(&got, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window, &requests[1]);
  MPI_Win_unlock_all(window);
  CHECK_EQUAL(got, 8);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/// Zero elements, and MPI_PROC_NULL: the requests are there and complete.
void empty_operations(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  MPI_Request requests[4];
  MPI_Win_lock_all(0, window);
  MPI_Rput(nullptr, 0, MPI_INT, program.right(), 0, 0, MPI_INT, window, &requests[0]);
  MPI_Rget(nullptr, 0, MPI_INT, program.right(), 0, 0, MPI_INT, window, &requests[1]);
  const int value = 1;
  MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window, &requests[2]);
  MPI_Raccumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, window, &requests[3]);
  for (MPI_Request request : requests) CHECK(request != MPI_REQUEST_NULL);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(window);
  CHECK_EQUAL(window[0], 0);
}

/// The four kinds of operations to the right neighbour. `finish` completes the requests.
template <typename Finish>
void all_kinds(const Window<int>& window, const Program& program, Finish&& finish) {
  const int value = 10 + program.rank();
  int got = -1;
  int before = -1;
  MPI_Request requests[4];
  const int right = program.right();
  MPI_Rput(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window, &requests[0]);
  MPI_Rget(&got, 1, MPI_INT, right, 1, 1, MPI_INT, window, &requests[1]);
  MPI_Raccumulate(&value, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, window, &requests[2]);
  MPI_Rget_accumulate(&value, 1, MPI_INT, &before, 1, MPI_INT, right, 3, 1, MPI_INT, MPI_SUM,
                      window, &requests[3]);
  finish(requests);
  CHECK_EQUAL(got, 500 + right);
  CHECK_EQUAL(before, 700 + right);
}

/// MPI forbids them there; all hosts carry them out, and programs rely on it.
void in_active_epochs(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 4);
  const auto wait = [](MPI_Request* requests) { MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); };
  const auto reset = [&] {
    window[0] = -1;
    window[2] = -1;
    window[1] = 500 + program.rank();
    window[3] = 700 + program.rank();
  };
  const auto check = [&] {
    const int from_left = 10 + program.left();
    CHECK_EQUAL(window[0], from_left);
    CHECK_EQUAL(window[2], from_left - 1);
    CHECK_EQUAL(window[3], 700 + program.rank() + from_left);
  };
  reset();
  MPI_Win_fence(0, window);
  all_kinds(window, program, wait);
  MPI_Win_fence(0, window);
  check();
  reset();
  MPI_Win_fence(0, window);
  // Waited for behind the fence, which completes them as well.
  all_kinds(window, program, [&](MPI_Request* requests) {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    wait(requests);
  });
  check();
  reset();
  const support::Group left({program.left()});
  const support::Group right({program.right()});
  MPI_Win_post(left, 0, window);
  MPI_Win_start(right, 0, window);
  all_kinds(window, program, wait);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  check();
}

/// Long ones, which other nodes fetch, in epochs of their own.
void long_in_active_epochs(Flavor flavor, const Program& program) {
  constexpr int count = 1 << 17;
  Window<int> window(flavor, 2 * count);
  const std::vector<int> sent(count, program.rank() + 1);
  std::vector<int> got(count, -1);
  const auto exchange = [&] {
    MPI_Request requests[2];
    MPI_Rput(sent.data(), count, MPI_INT, program.right(), 0, count, MPI_INT, window, &requests[0]);
    MPI_Rget(got.data(), count, MPI_INT, program.right(), count, count, MPI_INT, window,
             &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(got == std::vector<int>(count, 0));
  };
  MPI_Win_fence(0, window);
  exchange();
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  CHECK_EQUAL(window[count - 1], program.left() + 1);
  window[count - 1] = 0;
  const support::Group left({program.left()});
  const support::Group right({program.right()});
  MPI_Win_post(left, 0, window);
  MPI_Win_start(right, 0, window);
  exchange();
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  CHECK_EQUAL(window[count - 1], program.left() + 1);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (Flavor flavor : support::flavors()) {
    program.test("wait families", [&] { wait_families(flavor, program); });
    program.test("thousand outstanding", [&] { thousand_outstanding(flavor, program); });
    program.test("wait after unlock", [&] { wait_after_unlock(flavor, program); });
    program.test("empty operations", [&] { empty_operations(flavor, program); });
    program.test("in active epochs", [&] { in_active_epochs(flavor, program); });
    program.test("long in active epochs", [&] { long_in_active_epochs(flavor, program); });
  }
}
