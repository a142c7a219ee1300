// SPDX-License-Identifier: BSD-3-Clause
// N1 to N4, Q6: notified operations in every kind of epoch and in none, persistent requests in the
// whole family of waits and tests, probes, the order of notifications, floods, errors.
#include <sched.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "support/errors_return.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Notified;
using support::Program;
using support::Window;

const Notified& oriel() {
  static const Notified calls;
  return calls;
}

int count_of(const MPI_Status& status, MPI_Datatype type) {
  int count = -1;
  MPI_Get_count(&status, type, &count);
  return count;
}

/// A persistent request for notifications, freed at the end.
class Expected {
 public:
  Expected(MPI_Win window, int source, int tag, int count) {
    CHECK_EQUAL(oriel().Notify_init(window, source, tag, count, &request_), MPI_SUCCESS);
  }
  ~Expected() { MPI_Request_free(&request_); }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

  void start() { MPI_Start(&request_); }
  MPI_Status wait() {
    MPI_Status status;
    CHECK_EQUAL(MPI_Wait(&request_, &status), MPI_SUCCESS);
    CHECK(request_ != MPI_REQUEST_NULL);
    return status;
  }
  MPI_Status start_and_wait() {
    start();
    return wait();
  }
  MPI_Request& request() { return request_; }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

void expect_status(const MPI_Status& status, int source, int tag, int ints) {
  CHECK_EQUAL(status.MPI_SOURCE, source);
  CHECK_EQUAL(status.MPI_TAG, tag);
  CHECK_EQUAL(count_of(status, MPI_INT), ints);
}

// Listing 1: no epoch is ever opened.
void ping_pong(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 64);
  const int partner = program.rank() ^ 1;
  if (partner >= program.size()) return;
  Expected pong(window, partner, 99, 1);
  for (int round = 0; round < 50; ++round) {
    std::array<int, 32> sent;
    std::iota(sent.begin(), sent.end(), 1000 * round + program.rank());
    const int count = 1 + round % 32;
    const auto send = [&] {
      oriel().Put_notify(sent.data(), count, MPI_INT, partner, 32, count, MPI_INT, window, 99);
      MPI_Win_flush(partner, window);
    };
    if (program.rank() % 2 == 0) send();
    expect_status(pong.start_and_wait(), partner, 99, count);
    for (int i = 0; i < count; ++i) {
      CHECK_EQUAL(window[static_cast<std::size_t>(32 + i)], 1000 * round + partner + i);
    }
    if (program.rank() % 2 != 0) send();
  }
}

// Every operation does what it does without a notification, and tells its size.
void every_operation(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 8);
  const int right = program.right();
  const int left = program.left();
  for (int i = 0; i < 8; ++i) window[static_cast<std::size_t>(i)] = 10 * i;
  support::barrier();
  const auto told = [&](int tag, int ints) {
    expect_status(Expected(window, left, tag, 1).start_and_wait(), left, tag, ints);
  };
  const std::array<int, 2> two{3, 4};
  std::array<int, 2> got{};
  oriel().Put_notify(two.data(), 2, MPI_INT, right, 0, 2, MPI_INT, window, 1);
  told(1, 2);
  CHECK_EQUAL(window[0], 3);
  CHECK_EQUAL(window[1], 4);
  oriel().Get_notify(got.data(), 2, MPI_INT, right, 2, 2, MPI_INT, window, 2);
  told(2, 2);
  window[2] = -1;  // it has been read
  MPI_Win_flush_local(right, window);
  CHECK_EQUAL(got[0], 20);
  CHECK_EQUAL(got[1], 30);
  oriel().Accumulate_notify(two.data(), 2, MPI_INT, right, 3, 2, MPI_INT, MPI_SUM, window, 3);
  told(3, 2);
  CHECK_EQUAL(window[3], 33);
  CHECK_EQUAL(window[4], 44);
  oriel().Get_accumulate_notify(two.data(), 2, MPI_INT, got.data(), 2, MPI_INT, right, 5, 2,
                                MPI_INT, MPI_REPLACE, window, 4);
  told(4, 2);
  CHECK_EQUAL(window[5], 3);
  MPI_Win_flush(right, window);
  CHECK_EQUAL(got[0], 50);
  CHECK_EQUAL(got[1], 60);
  oriel().Fetch_and_op_notify(two.data(), got.data(), MPI_INT, right, 7, MPI_SUM, window, 5);
  told(5, 1);
  CHECK_EQUAL(window[7], 73);
  MPI_Win_flush(right, window);
  CHECK_EQUAL(got[0], 70);
  support::barrier();
  const int seventy_three = 73;
  oriel().Compare_and_swap_notify(two.data(), &seventy_three, got.data(), MPI_INT, right, 7, window,
                                  6);
  told(6, 1);
  CHECK_EQUAL(window[7], 3);
  oriel().Compare_and_swap_notify(two.data(), &seventy_three, got.data(), MPI_INT, right, 7, window,
                                  7);  // swaps nothing, and tells
  told(7, 1);
  MPI_Win_flush(right, window);
  CHECK_EQUAL(got[0], 3);
  oriel().Put_notify_c(two.data(), 1, MPI_INT, right, 0, 1, MPI_INT, window, 8);
  oriel().Get_notify_c(got.data(), 1, MPI_INT, right, 0, 1, MPI_INT, window, 9);
  oriel().Accumulate_notify_c(two.data(), 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, window, 10);
  oriel().Get_accumulate_notify_c(two.data(), 1, MPI_INT, got.data(), 1, MPI_INT, right, 1, 1,
                                  MPI_INT, MPI_SUM, window, 11);
  for (int tag = 8; tag <= 11; ++tag) told(tag, 1);
  // Nothing but the notification, and nobody to notify.
  oriel().Put_notify(nullptr, 0, MPI_INT, right, 0, 0, MPI_INT, window, ORIEL_NOTIFY_TAG_UB);
  told(ORIEL_NOTIFY_TAG_UB, 0);
  oriel().Get_notify(nullptr, 0, MPI_INT, right, 0, 0, MPI_INT, window, 0);
  told(0, 0);
  oriel().Put_notify(two.data(), 2, MPI_INT, MPI_PROC_NULL, 0, 2, MPI_INT, window, 1);
  // Ourselves.
  oriel().Put_notify(two.data(), 1, MPI_INT, program.rank(), 6, 1, MPI_INT, window, 12);
  expect_status(Expected(window, program.rank(), 12, 1).start_and_wait(), program.rank(), 12, 1);
  CHECK_EQUAL(window[6], 3);
  MPI_Win_flush_all(window);
}

void request_based(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 8);
  const int right = program.right();
  const std::array<int, 2> two{3, 4};
  std::array<int, 2> got{-1, -1};
  Expected all(window, program.left(), MPI_ANY_TAG, 8);
  all.start();
  for (const bool locked : {false, true}) {
    if (locked) MPI_Win_lock_all(0, window);
    std::array<MPI_Request, 5> requests;
    oriel().Rput_notify(two.data(), 2, MPI_INT, right, 0, 2, MPI_INT, window, 0, &requests[0]);
    oriel().Raccumulate_notify(two.data(), 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, window, 1,
                               &requests[1]);
    oriel().Rget_accumulate_notify(two.data(), 1, MPI_INT, got.data(), 1, MPI_INT, right, 2, 1,
                                   MPI_INT, MPI_SUM, window, 2, &requests[2]);
    oriel().Rget_notify(&got[1], 1, MPI_INT, right, 4, 1, MPI_INT, window, 3, &requests[3]);
    requests[4] = all.request();
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    CHECK_EQUAL(got[0], locked ? 9 : 3);
    CHECK_EQUAL(got[1], 0);
    if (locked) MPI_Win_unlock_all(window);
  }
  expect_status(all.wait(), program.left(), 3, 1);
  CHECK_EQUAL(window[2], 12);
}

// A notification comes when its operation does, in whatever epoch.
void epochs(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 8);
  const int right = program.right();
  const int left = program.left();
  Expected from_left(window, left, MPI_ANY_TAG, 1);
  const auto put = [&](int value) {
    oriel().Put_notify(&value, 1, MPI_INT, right, value, 1, MPI_INT, window, value);
  };
  const auto told = [&](int value) {
    expect_status(from_left.start_and_wait(), left, value, 1);
    CHECK_EQUAL(window[static_cast<std::size_t>(value)], value);
  };
  MPI_Win_fence(0, window);
  put(1);
  MPI_Win_fence(0, window);
  told(1);
  put(2);
  told(2);  // before the fence
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);

  const support::Group to({right});
  const support::Group from({left});
  MPI_Win_post(from, 0, window);
  MPI_Win_start(to, 0, window);
  put(3);
  told(3);
  MPI_Win_complete(window);
  MPI_Win_wait(window);

  for (const int type : {MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE}) {
    MPI_Win_lock(type, right, 0, window);
    put(4);
    MPI_Win_unlock(right, window);
    told(4);
    support::barrier();
  }
  MPI_Win_lock_all(0, window);
  put(5);
  told(5);
  put(6);
  MPI_Win_flush(right, window);
  told(6);
  MPI_Win_unlock_all(window);
  // One target is locked, another is notified.
  if (program.size() > 2) {
    const int other = (program.rank() + 2) % program.size();
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, window);
    put(7);
    told(7);
    MPI_Win_unlock(other, window);
  }
  support::barrier();
}

// N3: an operation that waits for its epoch notifies when it has taken place.
void deferred(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  Window<int> window(flavor, 4);
  const support::Group pair({0, 1});
  if (program.rank() == 0) {
    const support::Group to({1});
    const std::array<int, 3> values{0, 1, 2};  // read when an epoch becomes active
    for (int i = 0; i < 3; ++i) {
      MPI_Win_start(to, 0, window);
      oriel().Put_notify(&values[static_cast<std::size_t>(i)], 1, MPI_INT, 1, i, 1, MPI_INT, window,
                         i);
      MPI_Request closed;
      support::exported<decltype(&ORIEL_Win_icomplete)>("ORIEL_Win_icomplete")(window, &closed);
      MPI_Request_free(&closed);
    }
    support::barrier();
    support::barrier();
  } else if (program.rank() == 1) {
    const support::Group from({0});
    support::barrier();
    int flag = -1;
    oriel().Notify_iprobe(window, 0, MPI_ANY_TAG, &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(flag, 0);
    Expected one(window, 0, MPI_ANY_TAG, 1);
    for (int i = 0; i < 3; ++i) {
      MPI_Win_post(from, 0, window);
      expect_status(one.start_and_wait(), 0, i, 1);
      CHECK_EQUAL(window[static_cast<std::size_t>(i)], i);
      MPI_Win_wait(window);
    }
    support::barrier();
  } else {
    support::barrier();
    support::barrier();
  }
}

// N5: what a flush covers is in the target's memory, also where the target makes no call and the
// bytes travelled with their notifications; these come, and the bytes are not stored again.
void flushed(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  constexpr int puts = 40;
  Window<int> window(flavor, puts);
  MPI_Win_lock_all(0, window);
  if (program.rank() == 0) {
    for (int round = 1; round <= 20; ++round) {
      for (int i = 0; i < puts; ++i) {
        const int value = round * puts + i;
        oriel().Put_notify(&value, 1, MPI_INT, 1, i, 1, MPI_INT, window, round);
      }
      MPI_Win_flush(1, window);
      MPI_Recv(nullptr, 0, MPI_INT, 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else if (program.rank() == 1) {
    for (int round = 1; round <= 20; ++round) {
      for (int i = 0; i < puts; ++i) {
        while (window[static_cast<std::size_t>(i)] != round * puts + i) sched_yield();
      }
      for (int i = 0; i < puts; ++i) window[static_cast<std::size_t>(i)] = -round;
      Expected all(window, 0, round, puts);
      expect_status(all.start_and_wait(), 0, round, 1);
      for (int i = 0; i < puts; ++i) CHECK_EQUAL(window[static_cast<std::size_t>(i)], -round);
      MPI_Send(nullptr, 0, MPI_INT, 0, round, MPI_COMM_WORLD);
    }
  }
  MPI_Win_unlock_all(window);
  support::barrier();
}

void counting_and_wildcards(Flavor flavor, const Program& program) {
  Window<int> window(flavor, static_cast<std::size_t>(program.size()));
  // Everybody tells rank 0 thrice; one request hears of all.
  const int mine = program.rank() + 1;
  for (int i = 0; i < 3; ++i) {
    oriel().Put_notify(&mine, 1, MPI_INT, 0, program.rank(), 1, MPI_INT, window, 40 + i);
  }
  if (program.rank() == 0) {
    Expected all(window, MPI_ANY_SOURCE, MPI_ANY_TAG, 3 * program.size());
    all.start_and_wait();
    for (int rank = 0; rank < program.size(); ++rank) {
      CHECK_EQUAL(window[static_cast<std::size_t>(rank)], rank + 1);
    }
    Expected none(window, MPI_ANY_SOURCE, 1, 0);
    const MPI_Status status = none.start_and_wait();
    CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
  }
  support::barrier();
  // A request takes what it asks for, others keep their order.
  for (const int tag : {5, 6, 5, 7}) {
    oriel().Put_notify(nullptr, 0, MPI_INT, program.right(), 0, 0, MPI_INT, window, tag);
  }
  Expected seven(window, program.left(), 7, 1);
  Expected any(window, program.left(), MPI_ANY_TAG, 1);
  Expected fives(window, MPI_ANY_SOURCE, 5, 1);
  seven.start_and_wait();
  CHECK_EQUAL(any.start_and_wait().MPI_TAG, 5);
  CHECK_EQUAL(any.start_and_wait().MPI_TAG, 6);
  CHECK_EQUAL(fives.start_and_wait().MPI_TAG, 5);
}

// Both flood each other, and nobody looks before all has been issued.
void flood(Flavor flavor, const Program& program) {
  constexpr int many = 20000;
  Window<int> window(flavor, 4);
  const int right = program.right();
  const int left = program.left();
  for (int i = 0; i < many; ++i) {
    oriel().Put_notify(&i, 1, MPI_INT, right, 0, 1, MPI_INT, window, i);
    MPI_Win_flush_local(right, window);
  }
  MPI_Win_flush(right, window);
  Expected next(window, left, MPI_ANY_TAG, 1);
  for (int i = 0; i < many / 2; ++i) CHECK_EQUAL(next.start_and_wait().MPI_TAG, i);
  // The others by their tags, last ones first.
  for (int i = many - 1; i >= many - 100; --i) {
    CHECK_EQUAL(Expected(window, left, i, 1).start_and_wait().MPI_TAG, i);
  }
  Expected rest(window, left, MPI_ANY_TAG, many / 2 - 100);
  CHECK_EQUAL(rest.start_and_wait().MPI_TAG, many - 101);
  CHECK_EQUAL(window[0], many - 1);
}

// One whose window goes while nobody has asked for what came, and while others still send.
void never_asked_for(Flavor flavor, const Program& program) {
  for (int round = 0; round < 3; ++round) {
    Window<int> window(flavor, 4);
    for (int i = 0; i < 3000; ++i) {
      oriel().Put_notify(&i, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window, i);
    }
  }
}

// Whoever has made its part of a window notifies others that may not have.
void before_the_window_is_made(const Program& program) {
  for (int round = 0; round < 200; ++round) {
    int* memory = nullptr;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    oriel().Put_notify(&round, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window, round);
    expect_status(Expected(window, program.left(), round, 1).start_and_wait(), program.left(),
                  round, 1);
    CHECK_EQUAL(*memory, round);
    MPI_Win_free(&window);
  }
}

/// Three requests of ours among the host's own: what a wait leaves behind must be all complete.
class Mixed {
 public:
  Mixed(Window<int>& window, const Program& program)
      : window_(window),
        program_(program),
        one_(window, program.left(), 1, 1),
        two_(window, program.left(), 2, 2),
        idle_(window, program.left(), 3, 1) {
    one_.start();
    two_.start();
    MPI_Irecv(&received_, 1, MPI_INT, program.left(), 8, MPI_COMM_WORLD, &requests[1]);
    requests[0] = one_.request();
    requests[2] = MPI_REQUEST_NULL;
    requests[3] = two_.request();
    requests[4] = idle_.request();
    MPI_Isend(&sent_, 1, MPI_INT, program.right(), 8, MPI_COMM_WORLD, &requests[5]);
  }
  void send() {
    for (const int tag : {2, 1, 2}) {
      oriel().Put_notify(&sent_, 1, MPI_INT, program_.right(), 0, 1, MPI_INT, window_, tag);
    }
  }
  void check() const {
    CHECK_EQUAL(received_, 17);
    for (const int host : {1, 2, 5}) {
      CHECK(requests[static_cast<std::size_t>(host)] == MPI_REQUEST_NULL);
    }
    for (const int ours : {0, 3, 4}) {
      CHECK(requests[static_cast<std::size_t>(ours)] != MPI_REQUEST_NULL);
    }
  }
  void check_status(int index, const MPI_Status& status) const {
    if (index == 0 || index == 3) expect_status(status, program_.left(), index == 0 ? 1 : 2, 1);
    if (index == 1) expect_status(status, program_.left(), 8, 1);
  }

  static constexpr int count = 6;
  std::array<MPI_Request, count> requests;

 private:
  Window<int>& window_;
  const Program& program_;
  Expected one_, two_, idle_;
  int sent_ = 17;
  int received_ = -1;
};

void wait_families(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const auto run = [&](auto finish) {
    Mixed mixed(window, program);
    mixed.send();
    finish(mixed);
    mixed.check();
    support::barrier();
  };
  run([](Mixed& mixed) { MPI_Waitall(Mixed::count, mixed.requests.data(), MPI_STATUSES_IGNORE); });
  run([](Mixed& mixed) {
    std::array<MPI_Status, Mixed::count> statuses;
    MPI_Waitall(Mixed::count, mixed.requests.data(), statuses.data());
    for (int i = 0; i < 2; ++i) mixed.check_status(i, statuses[static_cast<std::size_t>(i)]);
    mixed.check_status(3, statuses[3]);
    CHECK_EQUAL(statuses[4].MPI_SOURCE, MPI_ANY_SOURCE);
  });
  const auto with_any = [](Mixed& mixed, auto any) {
    std::array<int, Mixed::count> seen{};
    for (int left = 4; left > 0; --left) {
      MPI_Status status;
      const int index = any(mixed, status);
      CHECK(index >= 0 && index < Mixed::count);
      CHECK_EQUAL(seen[static_cast<std::size_t>(index)]++, 0);
      mixed.check_status(index, status);
    }
    MPI_Status status;
    CHECK_EQUAL(any(mixed, status), MPI_UNDEFINED);
  };
  run([&](Mixed& mixed) {
    with_any(mixed, [](Mixed& all, MPI_Status& status) {
      int index = -7;
      MPI_Waitany(Mixed::count, all.requests.data(), &index, &status);
      return index;
    });
  });
  run([&](Mixed& mixed) {
    with_any(mixed, [](Mixed& all, MPI_Status& status) {
      int index = -7;
      for (int flag = 0; flag == 0;) {
        MPI_Testany(Mixed::count, all.requests.data(), &index, &flag, &status);
      }
      return index;
    });
  });
  const auto with_some = [](Mixed& mixed, auto some) {
    for (int left = 4; left > 0;) {
      int done = -7;
      std::array<int, Mixed::count> indices;
      std::array<MPI_Status, Mixed::count> statuses;
      some(mixed, &done, indices.data(), statuses.data());
      CHECK(done >= 0 && done <= left);
      for (int i = 0; i < done; ++i) {
        mixed.check_status(indices[static_cast<std::size_t>(i)],
                           statuses[static_cast<std::size_t>(i)]);
      }
      left -= done;
    }
    int done = -7;
    std::array<int, Mixed::count> indices;
    some(mixed, &done, indices.data(), MPI_STATUSES_IGNORE);
    CHECK_EQUAL(done, MPI_UNDEFINED);
  };
  run([&](Mixed& mixed) {
    with_some(mixed, [](Mixed& all, int* done, int* indices, MPI_Status* statuses) {
      MPI_Waitsome(Mixed::count, all.requests.data(), done, indices, statuses);
    });
  });
  run([&](Mixed& mixed) {
    with_some(mixed, [](Mixed& all, int* done, int* indices, MPI_Status* statuses) {
      MPI_Testsome(Mixed::count, all.requests.data(), done, indices, statuses);
    });
  });
  run([](Mixed& mixed) {
    for (int flag = 0; flag == 0;) {
      MPI_Testall(Mixed::count, mixed.requests.data(), &flag, MPI_STATUSES_IGNORE);
    }
  });
  run([](Mixed& mixed) {
    for (MPI_Request& request : mixed.requests) {
      if (request == MPI_REQUEST_NULL) continue;
      for (int flag = 0; flag == 0;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      for (int flag = 0; flag == 0;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
  });
  // Started together, with one of the host's.
  {
    Expected ours(window, program.left(), 4, 1);
    int received = -1;
    std::array<MPI_Request, 2> both{ours.request(), MPI_REQUEST_NULL};
    MPI_Recv_init(&received, 1, MPI_INT, program.left(), 9, MPI_COMM_WORLD, &both[1]);
    MPI_Startall(2, both.data());
    const int value = 6;
    oriel().Put_notify(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window, 4);
    MPI_Send(&value, 1, MPI_INT, program.right(), 9, MPI_COMM_WORLD);
    MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE);
    CHECK_EQUAL(received, 6);
    MPI_Request_free(&both[1]);
  }
  support::barrier();
}

// A test that says no leaves the request as it is; one that is not active is complete and empty.
void inactive_and_freed(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  Expected one(window, program.left(), 1, 1);
  int flag = 0;
  MPI_Status status;
  MPI_Test(&one.request(), &flag, &status);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQUAL(count_of(status, MPI_BYTE), 0);
  MPI_Wait(&one.request(), MPI_STATUS_IGNORE);
  one.start();
  MPI_Test(&one.request(), &flag, &status);
  CHECK_EQUAL(flag, 0);
  {
    Expected second(window, program.left(), 1, 1);
    second.start();
    // Freed while it is active: it takes nothing of what the next one is to have.
  }
  support::barrier();
  oriel().Put_notify(nullptr, 0, MPI_INT, program.right(), 0, 0, MPI_INT, window, 1);
  oriel().Put_notify(nullptr, 0, MPI_INT, program.right(), 0, 0, MPI_INT, window, 1);
  one.wait();
  one.start_and_wait();
  support::barrier();
}

MPI_Request wait_notify(MPI_Win window, int id) {
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_EQUAL(oriel().Win_wait_notify(window, id, &request), MPI_SUCCESS);
  CHECK(request != MPI_REQUEST_NULL);
  return request;
}

/// Notifies the right neighbour of `ints` integers.
void notify_right(Window<int>& window, const Program& program, int ints, int tag) {
  const std::array<int, 2> values{tag, tag + 1};
  oriel().Put_notify(values.data(), ints, MPI_INT, program.right(), 0, ints, MPI_INT, window, tag);
}

// Q6: a request for one notification: made before it comes or afterwards, and gone with its wait.
void once(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 2);
  const int left = program.left();
  for (int round = 0; round < 20; ++round) {
    MPI_Request early = wait_notify(window, 3);
    int flag = -1;
    MPI_Status status;
    MPI_Request_get_status(early, &flag, &status);
    if (round == 0) CHECK_EQUAL(flag, 0);
    support::barrier();
    notify_right(window, program, 2, 3);
    CHECK_EQUAL(MPI_Wait(&early, &status), MPI_SUCCESS);
    CHECK(early == MPI_REQUEST_NULL);
    expect_status(status, left, 3, 2);
    CHECK_EQUAL(window[0], 3);
    CHECK_EQUAL(window[1], 4);
    support::barrier();
    notify_right(window, program, 1, 4);
    oriel().Notify_probe(window, left, 4, MPI_STATUS_IGNORE);
    MPI_Request late = wait_notify(window, MPI_ANY_TAG);
    MPI_Request_get_status(late, &flag, &status);
    CHECK_EQUAL(flag, 1);
    CHECK(late != MPI_REQUEST_NULL);
    expect_status(status, left, 4, 1);
    MPI_Test(&late, &flag, &status);
    CHECK_EQUAL(flag, 1);
    CHECK(late == MPI_REQUEST_NULL);
    expect_status(status, left, 4, 1);
    MPI_Test(&late, &flag, MPI_STATUS_IGNORE);  // null: complete
    CHECK_EQUAL(flag, 1);
    support::barrier();
  }
}

// Q6: who has been started first takes first, whatever kind of request it is; one that is freed
// takes nothing.
void once_in_competition(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 2);
  MPI_Request first = wait_notify(window, 5);
  Expected second(window, MPI_ANY_SOURCE, MPI_ANY_TAG, 1);
  second.start();
  MPI_Request freed = wait_notify(window, 5);
  MPI_Request third = wait_notify(window, MPI_ANY_TAG);
  MPI_Request_free(&freed);
  CHECK(freed == MPI_REQUEST_NULL);
  support::barrier();
  for (const int ints : {0, 1, 2}) notify_right(window, program, ints, 5);
  MPI_Status status;
  MPI_Wait(&third, &status);
  expect_status(status, program.left(), 5, 2);
  MPI_Wait(&first, &status);
  expect_status(status, program.left(), 5, 0);
  expect_status(second.wait(), program.left(), 5, 1);
  support::barrier();
}

/// Q6: three requests for one notification each, with one of every other kind around them.
struct MixedOnce {
  static constexpr int count = 7;

  MixedOnce(Window<int>& window, const Program& program)
      : persistent(window, program.left(), 9, 1) {
    persistent.start();
    requests = {wait_notify(window, 1), MPI_REQUEST_NULL, wait_notify(window, 2), MPI_REQUEST_NULL,
                persistent.request(),   MPI_REQUEST_NULL, wait_notify(window, 3)};
    MPI_Irecv(&received, 1, MPI_INT, program.left(), 8, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&sent, 1, MPI_INT, program.right(), 8, MPI_COMM_WORLD, &requests[5]);
    for (const int tag : {9, 3, 2, 1}) notify_right(window, program, 1, tag);
  }
  void check_status(int index, const MPI_Status& status, const Program& program) const {
    if (index == 0 || index == 2 || index == 6) {
      expect_status(status, program.left(), index == 0 ? 1 : index == 2 ? 2 : 3, 1);
    }
  }

  Expected persistent;
  std::array<MPI_Request, count> requests;
  int sent = 17;
  int received = -1;
};

void once_in_wait_families(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 2);
  constexpr int count = MixedOnce::count;
  const auto run = [&](auto finish) {
    MixedOnce mixed(window, program);
    finish(mixed);
    CHECK_EQUAL(mixed.received, 17);
    for (const MPI_Request& request : mixed.requests) {
      CHECK((request == MPI_REQUEST_NULL) == (&request != &mixed.requests[4]));
    }
    support::barrier();
  };
  run([&](MixedOnce& mixed) {
    std::array<MPI_Status, count> statuses;
    MPI_Waitall(count, mixed.requests.data(), statuses.data());
    for (int i = 0; i < count; ++i) {
      mixed.check_status(i, statuses[static_cast<std::size_t>(i)], program);
    }
  });
  run([&](MixedOnce& mixed) {
    for (int flag = 0; flag == 0;) {
      MPI_Testall(count, mixed.requests.data(), &flag, MPI_STATUSES_IGNORE);
    }
  });
  run([&](MixedOnce& mixed) {
    for (int left = 6; left > 0; --left) {
      int index = -7;
      MPI_Status status;
      MPI_Waitany(count, mixed.requests.data(), &index, &status);
      CHECK(index >= 0 && index < count);
      if (index != 4) CHECK(mixed.requests[static_cast<std::size_t>(index)] == MPI_REQUEST_NULL);
      mixed.check_status(index, status, program);
    }
  });
  run([&](MixedOnce& mixed) {
    for (int left = 6; left > 0;) {
      int flag = 0;
      int index = -7;
      MPI_Status status;
      MPI_Testany(count, mixed.requests.data(), &index, &flag, &status);
      if (flag == 0) continue;
      mixed.check_status(index, status, program);
      --left;
    }
  });
  const auto with_some = [&](auto some) {
    run([&](MixedOnce& mixed) {
      for (int left = 6; left > 0;) {
        int done = -7;
        std::array<int, count> indices;
        std::array<MPI_Status, count> statuses;
        some(mixed, &done, indices.data(), statuses.data());
        CHECK(done >= 0 && done <= left);
        for (int i = 0; i < done; ++i) {
          const auto at = static_cast<std::size_t>(i);
          mixed.check_status(indices[at], statuses[at], program);
        }
        left -= done;
      }
    });
  };
  with_some([](MixedOnce& mixed, int* done, int* indices, MPI_Status* statuses) {
    MPI_Waitsome(count, mixed.requests.data(), done, indices, statuses);
  });
  with_some([](MixedOnce& mixed, int* done, int* indices, MPI_Status* statuses) {
    MPI_Testsome(count, mixed.requests.data(), done, indices, statuses);
  });
}

// Q6: a thousand at a time, waited for from the youngest on; then as many, whose handles are new.
void thousand_once(Flavor flavor, const Program& program) {
  constexpr int count = 1000;
  Window<int> window(flavor, 2);
  for (int round = 0; round < 2; ++round) {
    std::vector<MPI_Request> requests(count);
    for (int i = 0; i < count; ++i) requests[static_cast<std::size_t>(i)] = wait_notify(window, i);
    for (int i = 0; i < count; ++i) notify_right(window, program, i % 3, i);
    for (int i = count - 1; i >= count / 2; --i) {
      MPI_Status status;
      MPI_Wait(&requests[static_cast<std::size_t>(i)], &status);
      expect_status(status, program.left(), i, i % 3);
    }
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    for (MPI_Request request : requests) CHECK(request == MPI_REQUEST_NULL);
    support::barrier();
  }
}

void probes(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 4);
  const int value = 5;
  const int left = program.left();
  int flag = -1;
  oriel().Notify_iprobe(window, left, 77, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  support::barrier();
  oriel().Put_notify(&value, 1, MPI_INT, program.right(), 2, 1, MPI_INT, window, 77);
  MPI_Status status;
  oriel().Notify_probe(window, MPI_ANY_SOURCE, 77, &status);
  expect_status(status, left, 77, 1);
  CHECK_EQUAL(window[2], 5);
  oriel().Notify_iprobe(window, left, MPI_ANY_TAG, &flag, &status);
  CHECK_EQUAL(flag, 1);
  expect_status(status, left, 77, 1);
  oriel().Notify_iprobe(window, left, 78, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  Expected(window, left, 77, 1).start_and_wait();
  oriel().Notify_iprobe(window, left, MPI_ANY_TAG, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  support::barrier();
}

// One notification, when all of it is there: many pieces, by messages or by direct transfers, of
// contiguous and of scattered memory; short ones before and behind.
void long_ones(Flavor flavor, const Program& program) {
  constexpr int count = 1 << 20;
  Window<int> window(flavor, 2 * count + 2);
  std::vector<int> sent(2 * count);
  MPI_Datatype scattered;
  MPI_Type_vector(count / 1024, 1024, 2048, MPI_INT, &scattered);
  MPI_Type_commit(&scattered);
  const int right = program.right();
  const int left = program.left();
  Expected long_one(window, left, 1, 1);
  Expected behind(window, left, 2, 1);
  for (int round = 0; round < 3; ++round) {
    std::iota(sent.begin(), sent.end(), round + program.rank());
    const bool gaps = round == 1;
    const int pieces = gaps ? 1 : count;
    oriel().Put_notify(sent.data(), pieces, gaps ? scattered : MPI_INT, right, 0, pieces,
                       gaps ? scattered : MPI_INT, window, 1);
    oriel().Put_notify(&round, 1, MPI_INT, right, 2 * count, 1, MPI_INT, window, 2);
    long_one.start();
    behind.start();
    expect_status(long_one.wait(), left, 1, count);
    const int first = round + left;
    const int step = gaps ? 2048 : 1024;
    for (int i = 0; i < count / 1024; ++i) {
      CHECK_EQUAL(window[static_cast<std::size_t>(i * step)], first + i * step);
      CHECK_EQUAL(window[static_cast<std::size_t>(i * step + 1023)], first + i * step + 1023);
    }
    behind.wait();
    CHECK_EQUAL(window[2 * count], round);
    support::barrier();  // a get may overtake a put before it, which is there then
    // The target's memory is read, and then it may be overwritten.
    std::vector<int> got(count);
    oriel().Get_notify(got.data(), count, MPI_INT, right, 0, count, MPI_INT, window, 1);
    expect_status(long_one.start_and_wait(), left, 1, count);
    window[count - 1] = -1;
    MPI_Win_flush(right, window);
    CHECK_EQUAL(got[0], round + program.rank());
    if (!gaps) CHECK_EQUAL(got[count - 1], round + program.rank() + count - 1);
    support::barrier();
  }
  MPI_Type_free(&scattered);
}

void errors(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 4);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  const int value = 1;
  const int right = program.right();
  const auto put = [&](int rank, MPI_Aint displacement, int count, int tag) {
    return oriel().Put_notify(&value, count, MPI_INT, rank, displacement, count, MPI_INT, window,
                              tag);
  };
  CHECK_CLASS(put(right, 0, 1, -3), MPI_ERR_TAG);
  CHECK_CLASS(put(program.size(), 0, 1, 3), MPI_ERR_RANK);
  CHECK_CLASS(put(right, 4, 1, 3), MPI_ERR_RMA_RANGE);
  CHECK_CLASS(put(right, -1, 1, 3), MPI_ERR_DISP);
  CHECK_CLASS(put(right, 0, -1, 3), MPI_ERR_COUNT);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto init = [&](int source, int tag, int count) {
    return oriel().Notify_init(window, source, tag, count, &request);
  };
  CHECK_CLASS(init(program.size(), 0, 1), MPI_ERR_RANK);
  CHECK_CLASS(init(-7, 0, 1), MPI_ERR_RANK);
  CHECK_CLASS(init(0, -7, 1), MPI_ERR_TAG);
  CHECK_CLASS(init(0, 0, -1), MPI_ERR_COUNT);
  CHECK_CLASS(oriel().Win_wait_notify(window, -7, &request), MPI_ERR_TAG);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Win_fence(0, window);
  CHECK_CLASS(oriel().Rput_notify(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window, 1, &request),
              MPI_ERR_RMA_SYNC);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  CHECK_CLASS(MPI_Win_flush((right + 1) % program.size(), window), MPI_ERR_RMA_SYNC);
  // Nobody has been told of anything.
  support::barrier();
  int flag = -1;
  oriel().Notify_iprobe(window, MPI_ANY_SOURCE, MPI_ANY_TAG, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  CHECK_EQUAL(window[0], 0);
  support::barrier();
  CHECK_EQUAL(init(program.left(), 1, 1), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Start(&request), MPI_SUCCESS);
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  MPI_Request once = wait_notify(window, 2);
  CHECK_CLASS(MPI_Start(&once), MPI_ERR_REQUEST);
  put(right, 0, 1, 1);
  put(right, 0, 1, 2);
  CHECK_EQUAL(MPI_Wait(&once, MPI_STATUS_IGNORE), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
}

// The request outlives its window, and says so.
void freed_window(Flavor flavor, const Program&) {
  const support::ErrorsReturn errors_return;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Request once = MPI_REQUEST_NULL;
  {
    Window<int> window(flavor, 4);
    oriel().Notify_init(window, 0, 0, 1, &request);
    MPI_Start(&request);
    once = wait_notify(window, 0);
  }
  CHECK_CLASS(MPI_Wait(&once, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  CHECK(once == MPI_REQUEST_NULL);
  CHECK_CLASS(oriel().Win_wait_notify(MPI_WIN_NULL, 0, &once), MPI_ERR_WIN);
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  program.test("before the window is made", [&] { before_the_window_is_made(program); });
  for (const Flavor flavor : support::flavors()) {
    program.test("ping pong", [&] { ping_pong(flavor, program); });
    program.test("every operation", [&] { every_operation(flavor, program); });
    program.test("request based", [&] { request_based(flavor, program); });
    program.test("epochs", [&] { epochs(flavor, program); });
    program.test("deferred", [&] { deferred(flavor, program); });
    program.test("flushed", [&] { flushed(flavor, program); });
    program.test("counting and wildcards", [&] { counting_and_wildcards(flavor, program); });
    program.test("flood", [&] { flood(flavor, program); });
    program.test("never asked for", [&] { never_asked_for(flavor, program); });
    program.test("wait families", [&] { wait_families(flavor, program); });
    program.test("inactive and freed", [&] { inactive_and_freed(flavor, program); });
    program.test("once", [&] { once(flavor, program); });
    program.test("once in competition", [&] { once_in_competition(flavor, program); });
    program.test("once in wait families", [&] { once_in_wait_families(flavor, program); });
    program.test("thousand once", [&] { thousand_once(flavor, program); });
    program.test("probes", [&] { probes(flavor, program); });
    program.test("long ones", [&] { long_ones(flavor, program); });
    program.test("errors", [&] { errors(flavor, program); });
    program.test("freed window", [&] { freed_window(flavor, program); });
  }
}
