// SPDX-License-Identifier: BSD-3-Clause
// N8: notification counters under Oriel's names and Intel MPI's: numbers, operations in every kind
// of epoch and in none, what is visible when a counter says so, resets under fire, thresholds,
// attributes, errors.
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "support/counters.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Group;
using support::Info;
using support::Program;
using support::Window;

const support::Counters& oriel() {
  static const support::Counters calls;
  return calls;
}

void set_number(MPI_Win win, int number) {
  CHECK_EQUAL(oriel().Win_set_num_notify(win, MPI_INFO_NULL, number), MPI_SUCCESS);
}

MPI_Count value_of(MPI_Win win, int index) {
  MPI_Count value = -1;
  CHECK_EQUAL(oriel().Win_get_notify_value(win, index, &value), MPI_SUCCESS);
  return value;
}

void await(MPI_Win win, int index, MPI_Count value) {
  while (value_of(win, index) < value) {
  }
}

void numbers(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 4);
  const auto check = [&](auto&& expected) {
    for (int rank = 0; rank < program.size(); ++rank) {
      int number = -1;
      CHECK_EQUAL(oriel().Win_get_num_notify(window, rank, &number), MPI_SUCCESS);
      CHECK_EQUAL(number, expected(rank));
    }
    for (int i = 0; i < expected(program.rank()); ++i) CHECK_EQUAL(value_of(window, i), 0);
  };
  check([](int) { return 0; });
  for (const int base : {1, 300, 2, 0, 5}) {
    // Each rank has a number of its own, and some have none.
    const auto number = [&](int rank) { return rank % 3 == 2 ? 0 : base * (rank + 1); };
    set_number(window, number(program.rank()));
    check(number);
    support::barrier();
    for (int rank = 0; rank < program.size(); ++rank) {
      const int one = 1;
      if (number(rank) == 0) continue;
      oriel().Put_notify_counter(&one, 1, MPI_INT, rank, 0, 1, MPI_INT, number(rank) - 1, window);
    }
    if (number(program.rank()) != 0) {
      await(window, number(program.rank()) - 1, program.size());
      for (int i = 0; i + 1 < number(program.rank()); ++i) CHECK_EQUAL(value_of(window, i), 0);
    }
  }
}

void every_operation(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 8);
  const int right = program.right();
  for (int i = 0; i < 8; ++i) window[static_cast<std::size_t>(i)] = 10 * i;
  set_number(window, 2);
  support::barrier();
  const std::array<int, 2> two{3, 4};
  std::array<int, 2> got{};
  MPI_Count told = 0;
  // Nobody goes ahead of a rank that looks.
  const auto expect = [&](std::size_t where, int value) {
    await(window, 1, ++told);
    support::barrier();
    CHECK_EQUAL(value_of(window, 1), told);
    CHECK_EQUAL(window[where], value);
    support::barrier();
  };
  oriel().Put_notify_counter(two.data(), 2, MPI_INT, right, 0, 2, MPI_INT, 1, window);
  expect(1, 4);
  oriel().Get_notify_counter(got.data(), 2, MPI_INT, right, 2, 2, MPI_INT, 1, window);
  expect(2, 20);
  window[2] = -1;  // it has been read
  MPI_Win_flush_local(right, window);
  CHECK_EQUAL(got[0], 20);
  oriel().Accumulate_notify_counter(two.data(), 2, MPI_INT, right, 3, 2, MPI_INT, MPI_SUM, 1,
                                    window);
  expect(4, 44);
  for (const MPI_Op op : {MPI_NO_OP, MPI_REPLACE}) {
    oriel().Get_accumulate_notify_counter(two.data(), 2, MPI_INT, got.data(), 2, MPI_INT, right, 5,
                                          2, MPI_INT, op, 1, window);
    expect(5, op == MPI_NO_OP ? 50 : 3);
    MPI_Win_flush(right, window);
    CHECK_EQUAL(got[1], 60);
  }
  oriel().Put_notify_counter_c(two.data(), 1, MPI_INT, right, 0, 1, MPI_INT, 1, window);
  oriel().Get_notify_counter_c(got.data(), 1, MPI_INT, right, 0, 1, MPI_INT, 1, window);
  oriel().Accumulate_notify_counter_c(two.data(), 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, 1,
                                      window);
  oriel().Get_accumulate_notify_counter_c(two.data(), 1, MPI_INT, got.data(), 1, MPI_INT, right, 0,
                                          1, MPI_INT, MPI_SUM, 1, window);
  await(window, 1, told += 4);
  CHECK_EQUAL(window[0], 9);
  std::array<MPI_Request, 8> sent;
  oriel().Rput_notify_counter(two.data(), 1, MPI_INT, right, 6, 1, MPI_INT, 1, window, &sent[0]);
  oriel().Rget_notify_counter(&got[0], 1, MPI_INT, right, 7, 1, MPI_INT, 1, window, &sent[1]);
  oriel().Raccumulate_notify_counter(two.data(), 1, MPI_INT, right, 6, 1, MPI_INT, MPI_SUM, 1,
                                     window, &sent[2]);
  oriel().Rget_accumulate_notify_counter(two.data(), 1, MPI_INT, &got[1], 1, MPI_INT, right, 6, 1,
                                         MPI_INT, MPI_SUM, 1, window, &sent[3]);
  oriel().Rput_notify_counter_c(two.data(), 1, MPI_INT, right, 1, 1, MPI_INT, 1, window, &sent[4]);
  oriel().Rget_notify_counter_c(&got[0], 1, MPI_INT, right, 7, 1, MPI_INT, 1, window, &sent[5]);
  oriel().Raccumulate_notify_counter_c(two.data(), 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, 1,
                                       window, &sent[6]);
  oriel().Rget_accumulate_notify_counter_c(two.data(), 1, MPI_INT, &got[1], 1, MPI_INT, right, 1, 1,
                                           MPI_INT, MPI_SUM, 1, window, &sent[7]);
  MPI_Waitall(8, sent.data(), MPI_STATUSES_IGNORE);
  CHECK_EQUAL(got[0], 70);
  CHECK_EQUAL(got[1], 6);
  await(window, 1, told + 8);
  CHECK_EQUAL(window[6], 9);
  CHECK_EQUAL(window[1], 9);
  CHECK_EQUAL(value_of(window, 0), 0);
  oriel().Put_notify_counter(two.data(), 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, 77, window);
}

// N4: who has read the counter sees what was written, also if it was long.
void ping_pong(Flavor flavor, const Program& program) {
  constexpr int most = 40000;
  Window<int> window(flavor, 2 * most);
  set_number(window, 1);
  const int partner = program.rank() ^ 1;
  if (partner >= program.size()) return;
  std::vector<int> sent(most);
  for (int round = 0; round < 100; ++round) {
    const int count = round % 10 == 9 ? most - round : 1 + round * 7 % 64;
    std::iota(sent.begin(), sent.end(), 1000 * round + program.rank());
    const auto send = [&] {
      oriel().Put_notify_counter(sent.data(), count, MPI_INT, partner, most, count, MPI_INT, 0,
                                 window);
      MPI_Win_flush_local(partner, window);
    };
    if (program.rank() % 2 == 0) send();
    await(window, 0, round + 1);
    for (int i = 0; i < count; ++i) {
      CHECK_EQUAL(window[static_cast<std::size_t>(most + i)], 1000 * round + partner + i);
    }
    if (program.rank() % 2 != 0) send();
  }
}

// A flush, or what closes the epoch, says that the counter has been added to.
void epochs(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 4);
  set_number(window, 4);
  const int right = program.right();
  const auto add = [&](int counter) {
    const int value = program.rank();
    CHECK_EQUAL(
        oriel().Put_notify_counter(&value, 1, MPI_INT, right, counter, 1, MPI_INT, counter, window),
        MPI_SUCCESS);
  };
  add(0);
  MPI_Win_flush(right, window);
  support::barrier();
  CHECK_EQUAL(value_of(window, 0), 1);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  add(1);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  CHECK_EQUAL(value_of(window, 1), 1);
  const Group origins({program.left()});
  const Group targets({right});
  MPI_Win_post(origins, 0, window);
  MPI_Win_start(targets, 0, window);
  add(2);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  CHECK_EQUAL(value_of(window, 2), 1);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
  add(3);
  MPI_Win_unlock(right, window);
  support::barrier();
  MPI_Win_lock_all(0, window);
  add(3);
  MPI_Win_flush(right, window);
  support::barrier();
  CHECK_EQUAL(value_of(window, 3), 2);
  MPI_Win_unlock_all(window);
  for (std::size_t i = 0; i < 4; ++i) CHECK_EQUAL(window[i], program.left());
}

// Of what many add while the owner resets nothing is lost.
void resets(const Program& program) {
  constexpr int each = 2000;
  Window<std::int64_t> window(Flavor::allocate, 1);
  set_number(window, program.rank() == 0 ? 1 : 0);
  MPI_Count all = 0;
  if (program.rank() == 0) {
    const MPI_Count expected = MPI_Count{each} * program.size();
    for (int i = 0; i < each; ++i) {
      oriel().Put_notify_counter(nullptr, 0, MPI_INT64_T, 0, 0, 0, MPI_INT64_T, 0, window);
    }
    while (all < expected) {
      MPI_Count some = -1;
      CHECK_EQUAL(oriel().Win_reset_notify_value(window, 0, &some), MPI_SUCCESS);
      all += some;
    }
    CHECK_EQUAL(all, expected);
    CHECK_EQUAL(oriel().Win_set_notify_value(window, 0, 41), MPI_SUCCESS);
    oriel().Put_notify_counter(nullptr, 0, MPI_INT64_T, 0, 0, 0, MPI_INT64_T, 0, window);
    CHECK_EQUAL(value_of(window, 0), 42);
  } else {
    const std::int64_t one = 1;
    for (int i = 0; i < each; ++i) {
      oriel().Accumulate_notify_counter(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, 0,
                                        window);
    }
  }
  support::barrier();
  if (program.rank() == 0) CHECK_EQUAL(window[0], std::int64_t{each} * (program.size() - 1));
}

// Requests for thresholds, in every kind of wait, several on one counter, beside one of the host.
void thresholds(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  set_number(window, 3);
  const auto threshold = [&](int counter, MPI_Count value) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_EQUAL(oriel().Win_get_notify_request(window, counter, value, &request), MPI_SUCCESS);
    CHECK(request != MPI_REQUEST_NULL);
    return request;
  };
  const auto add = [&](int counter) {
    oriel().Put_notify_counter(nullptr, 0, MPI_INT, program.right(), 0, 0, MPI_INT, counter,
                               window);
  };
  MPI_Request at_once = threshold(0, 0);
  int done = 0;
  MPI_Test(&at_once, &done, MPI_STATUS_IGNORE);
  CHECK_EQUAL(done, 1);
  CHECK(at_once == MPI_REQUEST_NULL);
  for (int round = 0; round < 50; ++round) {
    std::array<MPI_Request, 4> requests{threshold(0, 2), threshold(0, 1), threshold(1, 1),
                                        MPI_REQUEST_NULL};
    MPI_Irecv(nullptr, 0, MPI_INT, program.left(), round, MPI_COMM_WORLD, &requests[3]);
    MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    CHECK_EQUAL(done, 0);
    support::barrier();
    add(0);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    CHECK(requests[1] == MPI_REQUEST_NULL);
    support::barrier();
    MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    CHECK_EQUAL(done, 0);
    support::barrier();
    add(0);
    int index = -1;
    MPI_Waitany(4, requests.data(), &index, MPI_STATUS_IGNORE);
    CHECK_EQUAL(index, 0);
    support::barrier();
    MPI_Send(nullptr, 0, MPI_INT, program.right(), round, MPI_COMM_WORLD);
    add(1);
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    for (int counter = 0; counter < 2; ++counter) {
      MPI_Count value = -1;
      oriel().Win_reset_notify_value(window, counter, &value);
      CHECK_EQUAL(value, 2 - counter);
    }
    support::barrier();
  }
  // One that is never reached is over when its counter goes.
  MPI_Request never = threshold(2, 5);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  set_number(window, 2);
  CHECK_CLASS(MPI_Wait(&never, MPI_STATUS_IGNORE), MPI_ERR_RMA_SYNC);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// Tags and counters of one window have nothing to do with one another.
void beside_tags(Flavor flavor, const Program& program) {
  const support::Notified tags;
  Window<int> window(flavor, 2);
  set_number(window, 1);
  for (int i = 1; i <= 20; ++i) {
    tags.Put_notify(&i, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window, i);
    oriel().Put_notify_counter(&i, 1, MPI_INT, program.right(), 1, 1, MPI_INT, 0, window);
    MPI_Status status;
    tags.Notify_probe(window, MPI_ANY_SOURCE, i, &status);
    CHECK_EQUAL(status.MPI_SOURCE, program.left());
    await(window, 0, i);
    CHECK_EQUAL(window[1], i);
    support::barrier();
  }
}

void attributes(Flavor flavor, const Program&) {
  const auto check = [&](MPI_Info info, int suggested, int most, const char* told) {
    Window<int> window(flavor, 1, MPI_COMM_WORLD, info);
    int* number = nullptr;
    MPI_Count* value = nullptr;
    int found = 0;
    MPI_Win_get_attr(window, ORIEL_WIN_NOTIFICATION_NUM_SB, &number, &found);
    CHECK(found != 0);
    CHECK_EQUAL(*number, suggested);
    MPI_Win_get_attr(window, ORIEL_WIN_NOTIFICATION_NUM_UB, &number, &found);
    CHECK(found != 0);
    CHECK_EQUAL(*number, most);
    MPI_Win_get_attr(window, ORIEL_WIN_NOTIFICATION_VALUE_UB, &value, &found);
    CHECK(found != 0);
    CHECK_EQUAL(*value, std::numeric_limits<std::int64_t>::max());
    MPI_Info used;
    MPI_Win_get_info(window, &used);
    std::array<char, 32> text{};
    MPI_Info_get(used, ORIEL_ASSERT_MAX_NUM_NOTIFY, 31, text.data(), &found);
    CHECK_EQUAL(std::string(text.data()), told);
    MPI_Info_free(&used);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    set_number(window, 1);
    if (most == 8) {
      set_number(window, 8);
      CHECK_CLASS(oriel().Win_set_num_notify(window, MPI_INFO_NULL, 9), MPI_ERR_ARG);
    }
  };
  constexpr int all = std::numeric_limits<int>::max();
  check(MPI_INFO_NULL, 65536, all, "0");
  check(Info({{ORIEL_ASSERT_MAX_NUM_NOTIFY, "8"}}), 8, 8, "8");
  check(Info({{ORIEL_ASSERT_MAX_NUM_NOTIFY, "-1"}}), 65536, all, "0");
  check(Info({{ORIEL_ASSERT_MAX_NUM_NOTIFY, "many"}}), 65536, all, "0");
}

void errors(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  const int unknown = oriel().Err_rma_notification();
  const int right = program.right();
  const int value = 99;
  MPI_Count count = -1;
  const auto refused = [&](int index) {
    MPI_Request request = MPI_REQUEST_NULL;
    int got = 5;
    CHECK_CLASS(oriel().Put_notify_counter(&value, 1, MPI_INT, right, 0, 1, MPI_INT, index, window),
                unknown);
    CHECK_CLASS(oriel().Get_notify_counter(&got, 1, MPI_INT, right, 0, 1, MPI_INT, index, window),
                unknown);
    CHECK_CLASS(oriel().Accumulate_notify_counter(&value, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM,
                                                  index, window),
                unknown);
    CHECK_CLASS(oriel().Get_accumulate_notify_counter(&value, 1, MPI_INT, &got, 1, MPI_INT, right,
                                                      0, 1, MPI_INT, MPI_SUM, index, window),
                unknown);
    CHECK_CLASS(oriel().Rput_notify_counter(&value, 1, MPI_INT, right, 0, 1, MPI_INT, index, window,
                                            &request),
                unknown);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_CLASS(oriel().Win_get_notify_value(window, index, &count), unknown);
    CHECK_CLASS(oriel().Win_set_notify_value(window, index, 1), unknown);
    CHECK_CLASS(oriel().Win_reset_notify_value(window, index, &count), unknown);
    CHECK_CLASS(oriel().Win_get_notify_request(window, index, 1, &request), unknown);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQUAL(got, 5);
  };
  refused(0);  // there are none
  set_number(window, 3);
  for (const int index : {-1, 3, std::numeric_limits<int>::max()}) refused(index);
  CHECK_CLASS(oriel().Win_set_notify_value(window, 0, -1), MPI_ERR_ARG);
  int number = -1;
  CHECK_CLASS(oriel().Win_get_num_notify(window, program.size(), &number), MPI_ERR_RANK);
  CHECK_CLASS(oriel().Put_notify_counter(&value, 1, MPI_INT, right, 5, 1, MPI_INT, 0, window),
              MPI_ERR_RMA_RANGE);
  CHECK_CLASS(
      oriel().Put_notify_counter(&value, 1, MPI_INT, program.size(), 0, 1, MPI_INT, 0, window),
      MPI_ERR_RANK);
  const bool opens = program.rank() == 0;
  if (opens) MPI_Win_lock_all(0, window);
  CHECK_CLASS(oriel().Win_set_num_notify(window, MPI_INFO_NULL, 1), MPI_ERR_RMA_SYNC);
  if (opens) MPI_Win_unlock_all(window);
  support::barrier();
  CHECK_EQUAL(window[0], 0);
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(value_of(window, i), 0);
  // One rank's mistake is everybody's error, and changes nothing.
  support::barrier();
  oriel().Put_notify_counter(&value, 1, MPI_INT, right, 0, 1, MPI_INT, 2, window);
  await(window, 2, 1);
  const bool wrong = program.rank() == program.size() - 1;
  CHECK_CLASS(oriel().Win_set_num_notify(window, MPI_INFO_NULL, wrong ? -1 : 7), MPI_ERR_ARG);
  for (int rank = 0; rank < program.size(); ++rank) {
    oriel().Win_get_num_notify(window, rank, &number);
    CHECK_EQUAL(number, 3);
  }
  CHECK_EQUAL(value_of(window, 2), 1);
}

// The Forum's decisions of October 2026: the number is set exactly, also to a lower one, and a rank
// may assert that all set the same.
void exact_numbers(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  int number = -1;
  for (const int wanted : {5, 2, 7, 0, 3}) {
    set_number(window, wanted);
    oriel().Win_get_num_notify(window, program.right(), &number);
    CHECK_EQUAL(number, wanted);
    const int value = 1;
    CHECK_CLASS(oriel().Put_notify_counter(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT,
                                           wanted, window),
                oriel().Err_rma_notification());
  }
  const Info same({{ORIEL_ASSERT_SAME_NUM_NOTIFICATIONS, "true"}});
  const Info differ({{ORIEL_ASSERT_SAME_NUM_NOTIFICATIONS, "false"}});
  CHECK_EQUAL(oriel().Win_set_num_notify(window, same, 4), MPI_SUCCESS);
  // Only the last rank sets another number, and only the first rank asserts that none does.
  const bool last = program.rank() == program.size() - 1;
  const int others = last ? 6 : 5;
  const MPI_Info info = program.rank() == 0 ? same : differ;
  if (program.size() > 1) {
    CHECK_CLASS(oriel().Win_set_num_notify(window, info, others), MPI_ERR_ARG);
    for (int rank = 0; rank < program.size(); ++rank) {
      oriel().Win_get_num_notify(window, rank, &number);
      CHECK_EQUAL(number, 4);
    }
  }
  CHECK_EQUAL(oriel().Win_set_num_notify(window, differ, others), MPI_SUCCESS);
  oriel().Win_get_num_notify(window, program.size() - 1, &number);
  CHECK_EQUAL(number, 6);
}

// An access epoch of another rank that has not called yet is no error: the call waits for it.
void set_while_others_access(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  if (program.rank() == 0) {
    MPI_Win_lock_all(0, window);
    const int value = 8;
    MPI_Put(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    support::compute(0.05);
    MPI_Win_unlock_all(window);
  }
  set_number(window, 1);
  if (program.left() == 0) CHECK_EQUAL(window[0], 8);
}

// Displacements are addresses there.
void of_a_dynamic_window(const Program& program) {
  MPI_Win win = MPI_WIN_NULL;
  int memory = 0;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, &memory, sizeof memory);
  MPI_Aint address = 0;
  MPI_Get_address(&memory, &address);
  MPI_Aint there = 0;
  MPI_Sendrecv(&address, 1, MPI_AINT, program.left(), 0, &there, 1, MPI_AINT, program.right(), 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(oriel().Win_set_num_notify(win, MPI_INFO_NULL, 1), MPI_SUCCESS);
  const int value = program.rank() + 1;
  oriel().Put_notify_counter(&value, 1, MPI_INT, program.right(), there, 1, MPI_INT, 0, win);
  await(win, 0, 1);
  CHECK_EQUAL(memory, program.left() + 1);
  MPI_Win_free(&win);
}

/// The arguments as the guide of Intel MPI 2021.13 has them, where a handle is an integer.
template <typename Handle>
void put_in_the_first_order(const int* value, int target, Handle win, int index) {
  if constexpr (std::is_integral_v<Handle>) {
    const support::IntelCounters intel;
    CHECK_EQUAL(intel.Put_notify(value, 1, MPI_INT, target, 0, 1, MPI_INT, win, index),
                MPI_SUCCESS);
  } else {
    oriel().Put_notify_counter(value, 1, MPI_INT, target, 0, 1, MPI_INT, index, win);
  }
}

void intels_names(Flavor flavor, const Program& program) {
  const support::IntelCounters intel;
  Window<int> window(flavor, 2);
  const int right = program.right();
  const int value = program.rank();
  int got = -1;
  int number = -1;
  MPI_Count told = -1;
  CHECK_EQUAL(intel.Win_create_notify(window, 2), MPI_SUCCESS);
  CHECK_EQUAL(intel.Put_notify(&value, 1, MPI_INT, right, 0, 1, MPI_INT, 1, window), MPI_SUCCESS);
  await(window, 1, 1);
  CHECK_EQUAL(window[0], program.left());
  CHECK_EQUAL(intel.Get_notify(&got, 1, MPI_INT, right, 0, 1, MPI_INT, 1, window), MPI_SUCCESS);
  intel.Put_notify_c(&value, 1, MPI_INT, right, 0, 1, MPI_INT, 1, window);
  intel.Get_notify_c(&got, 1, MPI_INT, right, 0, 1, MPI_INT, 1, window);
  put_in_the_first_order(&value, right, window.win(), 1);
  MPI_Request request;
  CHECK_EQUAL(intel.Win_get_notify_request(window, 1, 5, &request), MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQUAL(intel.Win_get_notify(window, 1, &told), MPI_SUCCESS);
  CHECK_EQUAL(told, 5);
  CHECK_EQUAL(intel.Win_set_notify(window, 1, 8), MPI_SUCCESS);
  CHECK_EQUAL(intel.Win_notify_get_value(window, 1, &told), MPI_SUCCESS);
  CHECK_EQUAL(told, 8);
  CHECK_EQUAL(intel.Win_notify_set_value(window, 1, 9), MPI_SUCCESS);
  CHECK_EQUAL(value_of(window, 1), 9);
  MPI_Win_flush_all(window);
  CHECK_EQUAL(got, program.rank());
  const auto expect = [&](int expected) {
    oriel().Win_get_num_notify(window, right, &number);
    CHECK_EQUAL(number, expected);
  };
  CHECK_EQUAL(intel.Win_free_notify(window), MPI_SUCCESS);
  expect(0);
  CHECK_EQUAL(intel.Win_notify_attach(window, 3, MPI_INFO_NULL), MPI_SUCCESS);
  expect(3);
  CHECK_EQUAL(intel.Win_notify_set_num(window, MPI_INFO_NULL, 4), MPI_SUCCESS);
  expect(4);
  CHECK_EQUAL(intel.Win_notify_detach(window), MPI_SUCCESS);
  expect(0);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  const auto each = [&](const char* name, auto&& body) {
    program.test_unless_host("any", "an extension of Oriel's", name, [&] {
      for (const Flavor flavor : support::flavors()) body(flavor, program);
    });
  };
  const auto once = [&](const char* name, auto&& body) {
    program.test_unless_host("any", "an extension of Oriel's", name, [&] { body(program); });
  };
  each("numbers", numbers);
  each("every operation", every_operation);
  each("ping pong", ping_pong);
  each("epochs", epochs);
  once("resets", resets);
  each("thresholds", thresholds);
  each("beside tags", beside_tags);
  each("attributes", attributes);
  each("errors", errors);
  each("exact numbers", exact_numbers);
  each("set while others access", set_while_others_access);
  once("of a dynamic window", of_a_dynamic_window);
  each("Intel's names", intels_names);
}
