// SPDX-License-Identifier: BSD-3-Clause
// G4, G5: accumulates under mpi_assert_accumulate_intrinsic, which leaves those of some types to
// the network's atomics: nothing is lost between remote, node-local and own origins, whatever the
// type, and every way to wait for an accumulate waits for these.
#include <chrono>
#include <cstdint>
#include <string>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Info;
using support::Program;
using support::Window;

Info intrinsic() {
  return Info({{"mpi_assert_accumulate_intrinsic", "true"}});
}

std::string value_in_effect(MPI_Win win) {
  MPI_Info info;
  MPI_Win_get_info(win, &info);
  char value[16] = "";
  int found = 0;
  MPI_Info_get(info, "mpi_assert_accumulate_intrinsic", 15, value, &found);
  MPI_Info_free(&info);
  return found ? value : "";
}

/// A program that names the ops it uses keeps the others, too, which the engines then carry out.
void named_ops(Flavor flavor, const Program& program) {
  const Info info({{"acc_single_intrinsic", "true"}, {"which_accumulate_ops", "sum,no_op"}});
  Window<int> window(flavor, 2, MPI_COMM_WORLD, info);
  const int two = 2;
  int found = -1;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < 10; ++i) {
    MPI_Accumulate(&two, 1, MPI_INT, program.right(), 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Accumulate(&two, 1, MPI_INT, program.right(), 1, 1, MPI_INT, MPI_BOR, window);
  }
  MPI_Fetch_and_op(nullptr, &found, MPI_INT, program.right(), 0, MPI_NO_OP, window);
  MPI_Win_unlock_all(window);
  CHECK_EQUAL(found, 20);
  support::barrier();
  MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
  CHECK_EQUAL(window[1], 2);
  MPI_Win_unlock(program.rank(), window);
  support::barrier();
  const Info unlike({{"mpi_assert_accumulate_intrinsic", program.rank() == 0 ? "true" : "false"}});
  Window<int> off(flavor, 1, MPI_COMM_WORLD, unlike);
  const bool alone = program.size() == 1;
  if (!program.host_only() && !alone) CHECK_EQUAL(value_in_effect(off), std::string("false"));
}

/// All ranks count at rank 0 by every call there is, until each has been there `rounds` times.
template <class T>
void counted(Flavor flavor, const Program& program, MPI_Datatype type) {
  constexpr int rounds = 60;
  Window<T> window(flavor, 4, MPI_COMM_WORLD, intrinsic());
  const T ones[2] = {1, 1};
  T fetched[2];
  T largest = 0;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < rounds; ++i) {
    MPI_Accumulate(ones, 2, type, 0, 0, 2, type, MPI_SUM, window);
    MPI_Get_accumulate(ones, 2, type, fetched, 2, type, 0, 0, 2, type, MPI_SUM, window);
    MPI_Win_flush(0, window);
    CHECK(fetched[0] >= static_cast<T>(3 * i + 1));
    MPI_Fetch_and_op(ones, fetched, type, 0, 0, MPI_SUM, window);
    MPI_Win_flush_local(0, window);
    CHECK(fetched[0] > largest);
    largest = fetched[0];
  }
  MPI_Win_unlock_all(window);
  support::barrier();
  if (program.rank() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK_EQUAL(window[0], static_cast<T>(3 * rounds * program.size()));
    CHECK_EQUAL(window[1], static_cast<T>(2 * rounds * program.size()));
    CHECK_EQUAL(window[2], T{0});
    MPI_Win_unlock(0, window);
  }
}

/// A counter that compare_and_swap, fetch_and_op and accumulate all increment.
void one_counter(Flavor flavor, const Program& program) {
  constexpr int rounds = 40;
  Window<std::int64_t> window(flavor, 1, MPI_COMM_WORLD, intrinsic());
  const std::int64_t one = 1;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < rounds; ++i) {
    std::int64_t expected = 0;
    std::int64_t found = 0;
    MPI_Fetch_and_op(nullptr, &found, MPI_INT64_T, 0, 0, MPI_NO_OP, window);
    MPI_Win_flush(0, window);
    do {
      expected = found;
      const std::int64_t next = expected + 1;
      MPI_Compare_and_swap(&next, &expected, &found, MPI_INT64_T, 0, 0, window);
      MPI_Win_flush(0, window);
    } while (found != expected);
    MPI_Fetch_and_op(&one, &found, MPI_INT64_T, 0, 0, MPI_SUM, window);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, window);
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
  support::barrier();
  if (program.rank() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK_EQUAL(window[0], std::int64_t{3} * rounds * program.size());
    MPI_Win_unlock(0, window);
  }
}

/// The neighbour's words after one epoch of each kind, closed without a flush.
void epochs(Flavor flavor, const Program& program) {
  Window<std::int64_t> window(flavor, 3, MPI_COMM_WORLD, intrinsic());
  const std::int64_t one = 1;
  const auto add = [&](int word) {
    MPI_Accumulate(&one, 1, MPI_INT64_T, program.right(), word, 1, MPI_INT64_T, MPI_SUM, window);
  };
  constexpr int rounds = 20;
  for (int i = 1; i <= rounds; ++i) {
    MPI_Win_fence(0, window);
    add(0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK_EQUAL(window[0], std::int64_t{i});

    const support::Group origins({program.left()});
    const support::Group targets({program.right()});
    MPI_Win_post(origins, 0, window);
    MPI_Win_start(targets, 0, window);
    add(1);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    CHECK_EQUAL(window[1], std::int64_t{i});

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
    add(2);
    MPI_Win_unlock(program.right(), window);
    support::barrier();
    MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
    CHECK_EQUAL(window[2], std::int64_t{i});
    MPI_Win_unlock(program.rank(), window);
    support::barrier();
  }
}

/// A rank that computes, without a call, is served: it sees what its neighbours have done.
void served_while_computing(Window<std::int64_t>& window, const Program& program) {
  constexpr int rounds = 5;
  constexpr double patience = 30;
  if (program.rank() == program.size() - 1) {
    const std::int64_t all = std::int64_t{rounds} * (program.size() - 1);
    const auto start = std::chrono::steady_clock::now();
    while (window[0] != all) {
      CHECK(std::chrono::steady_clock::now() - start < std::chrono::duration<double>(patience));
    }
  } else {
    const std::int64_t one = 1;
    std::int64_t found = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, program.size() - 1, 0, window);
    for (int i = 0; i < rounds; ++i) {
      MPI_Fetch_and_op(&one, &found, MPI_INT64_T, program.size() - 1, 0, MPI_SUM, window);
      MPI_Win_flush(program.size() - 1, window);
    }
    MPI_Win_unlock(program.size() - 1, window);
  }
  support::barrier();
}

/// The same of a window that was made for fences alone. Nobody serves such windows in a process
/// that has no others: this shows something only when it is the only test that runs.
void locks_allowed_later(Flavor flavor, const Program& program) {
  Window<std::int64_t> window(flavor, 1, MPI_COMM_WORLD, support::Info{{"no_locks", "true"}});
  MPI_Win_set_info(window, support::Info{{"no_locks", "false"}});
  served_while_computing(window, program);
}

/// Longer than any buffer, with gaps on both sides.
void many_elements(Flavor flavor, const Program& program) {
  constexpr int count = 5000;
  Window<std::int32_t> window(flavor, 2 * count, MPI_COMM_WORLD, intrinsic());
  MPI_Datatype every_second;
  MPI_Type_vector(count, 1, 2, MPI_INT32_T, &every_second);
  MPI_Type_commit(&every_second);
  std::vector<std::int32_t> values(count), fetched(2 * count, -1);
  for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = i;
  MPI_Win_lock_all(0, window);
  MPI_Accumulate(values.data(), count, MPI_INT32_T, program.right(), 0, count, MPI_INT32_T, MPI_SUM,
                 window);
  MPI_Get_accumulate(values.data(), count, MPI_INT32_T, fetched.data(), 1, every_second,
                     program.right(), 0, count, MPI_INT32_T, MPI_SUM, window);
  MPI_Win_flush(program.right(), window);
  for (int i = 0; i < count; ++i) {
    CHECK_EQUAL(fetched[static_cast<std::size_t>(2 * i)], i);
    if (i != count - 1) CHECK_EQUAL(fetched[static_cast<std::size_t>(2 * i + 1)], -1);
  }
  MPI_Accumulate(values.data(), count, MPI_INT32_T, program.right(), 0, 1, every_second,
                 MPI_REPLACE, window);
  MPI_Win_unlock_all(window);
  MPI_Type_free(&every_second);
  support::barrier();
  MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
  for (int i = 0; i < count; ++i) {
    CHECK_EQUAL(window[static_cast<std::size_t>(i)], i % 2 == 0 ? i / 2 : 2 * i);
  }
  MPI_Win_unlock(program.rank(), window);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (Flavor flavor : support::flavors()) {
    program.test_unless_host("any", "the key is not a host's", "value in effect", [&] {
      Window<int> window(flavor, 1, MPI_COMM_WORLD, intrinsic());
      Window<int> other(flavor, 1, MPI_COMM_WORLD, MPI_INFO_NULL);
      // Whether the network has atomics is known to whoever starts the program.
      const char* expected = std::getenv("ORIEL_TEST_INTRINSIC");
      if (expected != nullptr) CHECK_EQUAL(value_in_effect(window), std::string(expected));
      if (support::one_node()) {
        // By CPU atomics, unless memory is private (Q3).
        const bool mapped = flavor != Flavor::create || program.size() == 1;
        CHECK_EQUAL(value_in_effect(window), std::string(mapped ? "true" : "false"));
      }
      CHECK_EQUAL(value_in_effect(other), std::string("false"));
    });
    program.test("int16", [&] { counted<std::int16_t>(flavor, program, MPI_INT16_T); });
    program.test("int32", [&] { counted<std::int32_t>(flavor, program, MPI_INT32_T); });
    program.test("uint64", [&] { counted<std::uint64_t>(flavor, program, MPI_UINT64_T); });
    program.test("double", [&] { counted<double>(flavor, program, MPI_DOUBLE); });
    program.test("long double", [&] { counted<long double>(flavor, program, MPI_LONG_DOUBLE); });
    program.test("one counter", [&] { one_counter(flavor, program); });
    program.test("named ops", [&] { named_ops(flavor, program); });
    program.test("epochs", [&] { epochs(flavor, program); });
    program.test_unless_host("any", "no host has an agent", "served while computing", [&] {
      Window<std::int64_t> window(flavor, 1, MPI_COMM_WORLD, intrinsic());
      served_while_computing(window, program);
    });
    program.test_unless_host("any", "no host has an agent", "locks allowed later",
                             [&] { locks_allowed_later(flavor, program); });
    program.test("many elements", [&] { many_elements(flavor, program); });
  }
}
