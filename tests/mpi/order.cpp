// SPDX-License-Identifier: BSD-3-Clause
// Q2: with mpi_win_order operations to one target complete there in the order of issue, without a
// flush between them.
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "oriel/oriel.h"
#include "support/program.hpp"
#include "support/window.hpp"
#include "support/windows.hpp"

namespace {

using support::Flavor;
using support::Info;
using support::Program;
using support::Window;

std::string order_of(MPI_Win window) {
  MPI_Info info;
  MPI_Win_get_info(window, &info);
  char value[16] = "";
  int flag = 0;
  MPI_Info_get(info, ORIEL_WIN_ORDER, sizeof value - 1, value, &flag);
  MPI_Info_free(&info);
  return flag ? value : "(not there)";
}

/// A word of our own memory, as an atomic operation reads it.
std::int64_t own_word(MPI_Win window, int rank, MPI_Aint displacement) {
  std::int64_t value = 0;
  MPI_Fetch_and_op(nullptr, &value, MPI_INT64_T, rank, displacement, MPI_NO_OP, window);
  MPI_Win_flush(rank, window);
  return value;
}

/// Rounds of a put of so many words, and behind it the flag that tells of it. The left neighbour's
/// words are looked at as soon as its flag is there, and answered by another flag.
void flags_behind_puts(Flavor flavor, const Program& program, MPI_Aint count, int rounds) {
  const Info info{{ORIEL_WIN_ORDER, "true"}};
  // The words, their flag, and the answer's.
  Window<std::int64_t> window(flavor, static_cast<std::size_t>(count) + 2, MPI_COMM_WORLD, info);
  CHECK_EQUAL(order_of(window), std::string("true"));
  const int right = program.right();
  const int left = program.left();
  std::vector<std::int64_t> words(static_cast<std::size_t>(count));
  support::barrier();
  MPI_Win_lock_all(0, window);
  for (std::int64_t round = 1; round <= rounds; ++round) {
    std::fill(words.begin(), words.end(), round);
    MPI_Put(words.data(), static_cast<int>(count), MPI_INT64_T, right, 0, static_cast<int>(count),
            MPI_INT64_T, window);
    MPI_Accumulate(&round, 1, MPI_INT64_T, right, count, 1, MPI_INT64_T, MPI_REPLACE, window);
    while (own_word(window, program.rank(), count) < round) sched_yield();
    for (MPI_Aint i = 0; i < count; ++i) {
      CHECK_EQUAL(static_cast<volatile std::int64_t*>(window.data())[i], round);
    }
    MPI_Accumulate(&round, 1, MPI_INT64_T, left, count + 1, 1, MPI_INT64_T, MPI_REPLACE, window);
    MPI_Win_flush(left, window);
    while (own_word(window, program.rank(), count + 1) < round) sched_yield();
  }
  MPI_Win_unlock_all(window);
  support::barrier();
}

/// Operations of all kinds on the same words: gets see what comes before them, and the last holds.
void mixed(Flavor flavor, const Program& program) {
  constexpr int count = 40'000;
  Window<std::int64_t> window(flavor, count);
  const support::Windows oriel;
  const Info info{{ORIEL_WIN_ORDER, "true"}};
  MPI_Win ordered = MPI_WIN_NULL;
  CHECK_EQUAL(oriel.Win_dup_with_info(window, info, &ordered), MPI_SUCCESS);
  CHECK_EQUAL(order_of(ordered), std::string("true"));
  CHECK_EQUAL(order_of(window), std::string("false"));
  const int target = program.right();
  const std::vector<std::int64_t> first(count, 1);
  const std::vector<std::int64_t> second(count, 2);
  std::vector<std::int64_t> got(count);
  std::int64_t one = 0;
  std::int64_t fetched = 0;
  const std::int64_t ten = 10;
  MPI_Win_lock_all(0, ordered);
  for (int round = 0; round < 5; ++round) {
    MPI_Put(first.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, ordered);
    MPI_Accumulate(&ten, 1, MPI_INT64_T, target, count - 1, 1, MPI_INT64_T, MPI_SUM, ordered);
    MPI_Get(&one, 1, MPI_INT64_T, target, count - 1, 1, MPI_INT64_T, ordered);
    MPI_Put(second.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, ordered);
    MPI_Get(got.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, ordered);
    MPI_Put(first.data(), 1, MPI_INT64_T, target, 3, 1, MPI_INT64_T, ordered);
    MPI_Fetch_and_op(&ten, &fetched, MPI_INT64_T, target, 3, MPI_SUM, ordered);
    MPI_Win_flush(target, ordered);
    CHECK_EQUAL(one, std::int64_t{11});
    CHECK(got == second);
    CHECK_EQUAL(fetched, std::int64_t{1});
  }
  MPI_Win_unlock_all(window);
  support::barrier();
  MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
  CHECK_EQUAL(window.data()[0], std::int64_t{2});
  CHECK_EQUAL(window.data()[3], std::int64_t{11});
  CHECK_EQUAL(window.data()[count - 1], std::int64_t{2});
  MPI_Win_unlock(program.rank(), window);
  const Info no_longer{{ORIEL_WIN_ORDER, "false"}};
  MPI_Win_set_info(ordered, no_longer);
  CHECK_EQUAL(order_of(ordered), std::string("false"));
  MPI_Win_free(&ordered);
}

/// A put to a word that an accumulate has just been sent to. A card could carry the put out first.
void put_behind_accumulate(Flavor flavor, const Program& program) {
  const Info info{{ORIEL_WIN_ORDER, "true"}};
  Window<std::int64_t> window(flavor, 1, MPI_COMM_WORLD, info);
  const int target = program.right();
  support::barrier();
  MPI_Win_lock_all(0, window);
  for (std::int64_t round = 0; round < 20; ++round) {
    const std::int64_t first = 2 * round;
    const std::int64_t second = first + 1;
    std::int64_t got = 0;
    MPI_Accumulate(&first, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_REPLACE, window);
    MPI_Put(&second, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window);
    MPI_Win_flush(target, window);
    MPI_Get(&got, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window);
    MPI_Win_flush(target, window);
    CHECK_EQUAL(got, second);
  }
  MPI_Win_unlock_all(window);
  support::barrier();
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  if (program.host_only()) return 0;  // no host has the key
  for (const Flavor flavor : support::flavors()) {
    program.test("flags behind short puts", [&] { flags_behind_puts(flavor, program, 1, 200); });
    program.test("flags behind puts", [&] { flags_behind_puts(flavor, program, 1000, 50); });
    program.test("flags behind long puts", [&] { flags_behind_puts(flavor, program, 100'000, 5); });
    program.test("mixed", [&] { mixed(flavor, program); });
    program.test("a put behind an accumulate", [&] { put_behind_accumulate(flavor, program); });
  }
}
