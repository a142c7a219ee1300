// SPDX-License-Identifier: BSD-3-Clause
// G4: one accumulate on several elements is one update: others see all of it or nothing, as on
// every host, although MPI asks for atomic elements only.
#include <array>
#include <cstdint>
#include <vector>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Info;
using support::Program;
using support::Window;

/// So many that ranks of a node meet within an update; a journey to another node takes longer.
int rounds() {
  return support::one_node() ? 20000 : 300;
}

/// All bytes of a small record are replaced by one number and fetched, by all ranks.
void records(Flavor flavor, const Program& program) {
  using Record = std::array<unsigned char, 16>;
  Window<Record> window(flavor, 1);
  constexpr int bytes = sizeof(Record);
  const int owner = 0;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < rounds(); ++i) {
    Record mine;
    mine.fill(static_cast<unsigned char>(i * program.size() + program.rank()));
    if (i % 2 == 0) {
      MPI_Accumulate(mine.data(), bytes, MPI_BYTE, owner, 0, bytes, MPI_BYTE, MPI_REPLACE, window);
    } else {
      Record found{};
      MPI_Get_accumulate(nullptr, 0, MPI_BYTE, found.data(), bytes, MPI_BYTE, owner, 0, bytes,
                         MPI_BYTE, MPI_NO_OP, window);
      MPI_Win_flush(owner, window);
      Record expected;
      expected.fill(found[0]);
      CHECK(found == expected);
    }
    MPI_Win_flush(owner, window);
  }
  MPI_Win_unlock_all(window);
  support::barrier();
}

/// Two counters that one call increments together, read one after the other by calls of one
/// element: the first one is never ahead of the second.
void counters(Flavor flavor, const Program& program) {
  Window<std::int64_t> window(flavor, 2);
  const std::array<std::int64_t, 2> ones{1, 1};
  const int owner = program.size() - 1;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < rounds(); ++i) {
    if (program.rank() % 2 == 0) {
      MPI_Accumulate(ones.data(), 2, MPI_INT64_T, owner, 0, 2, MPI_INT64_T, MPI_SUM, window);
      MPI_Win_flush(owner, window);
      continue;
    }
    std::array<std::int64_t, 2> found{};
    for (const int which : {0, 1}) {
      MPI_Fetch_and_op(nullptr, &found[static_cast<std::size_t>(which)], MPI_INT64_T, owner, which,
                       MPI_NO_OP, window);
      MPI_Win_flush(owner, window);
    }
    CHECK(found[0] <= found[1]);
  }
  support::barrier();
  const std::int64_t sum = std::int64_t{rounds()} * ((program.size() + 1) / 2);
  if (program.rank() == owner) CHECK(window[0] == sum && window[1] == sum);
  MPI_Win_unlock_all(window);
  support::barrier();
}

/// A datatype with gaps at the target, whose blocks are replaced by one call.
void gaps(Flavor flavor, const Program& program) {
  constexpr int count = 24;
  Window<int> window(flavor, 2 * count);
  MPI_Datatype every_second;
  MPI_Type_vector(count, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  std::vector<int> found(count);
  const int owner = 0;
  const int calls = support::one_node() ? rounds() : 5 * rounds();
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < calls; ++i) {
    const std::vector<int> mine(count, i * program.size() + program.rank());
    MPI_Get_accumulate(mine.data(), count, MPI_INT, found.data(), count, MPI_INT, owner, 0, 1,
                       every_second, MPI_REPLACE, window);
    MPI_Win_flush(owner, window);
    CHECK(found == std::vector<int>(count, found[0]));
  }
  MPI_Win_unlock_all(window);
  MPI_Type_free(&every_second);
  support::barrier();
}

/// Longer than a message between nodes, from an origin's memory that is scattered.
void long_calls(Flavor flavor, const Program& program) {
  constexpr int count = 80000;
  Window<int> window(flavor, count);
  MPI_Datatype every_second;
  MPI_Type_vector(count, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  std::vector<int> mine(2 * std::size_t{count});
  std::vector<int> found(count);
  const int owner = 0;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < 12; ++i) {
    mine.assign(mine.size(), i * program.size() + program.rank());
    if (i % 3 == 0) {
      MPI_Get_accumulate(nullptr, 0, MPI_INT, found.data(), count, MPI_INT, owner, 0, count,
                         MPI_INT, MPI_NO_OP, window);
    } else if (i % 3 == 1) {
      MPI_Get_accumulate(mine.data(), 1, every_second, found.data(), count, MPI_INT, owner, 0,
                         count, MPI_INT, MPI_REPLACE, window);
    } else {
      MPI_Accumulate(mine.data(), 1, every_second, owner, 0, count, MPI_INT, MPI_REPLACE, window);
    }
    MPI_Win_flush(owner, window);
    CHECK(found == std::vector<int>(count, found[0]));
  }
  MPI_Win_unlock_all(window);
  MPI_Type_free(&every_second);
  support::barrier();
}

/// Where the program permits it, each element is by itself: nothing is lost.
void relaxed(Flavor flavor, const Program& program, const Info& info) {
  constexpr int count = 20;
  Window<int> window(flavor, count, MPI_COMM_WORLD, info);
  const std::vector<int> ones(count, 1);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < 100; ++i) {
    MPI_Accumulate(ones.data(), count, MPI_INT, program.right(), 0, count, MPI_INT, MPI_SUM,
                   window);
    MPI_Accumulate(ones.data(), 1, MPI_INT, 0, i % count, 1, MPI_INT, MPI_SUM, window);
  }
  MPI_Win_flush_all(window);
  support::barrier();
  for (int i = 0; i < count; ++i) {
    const int all = program.rank() == 0 ? 100 / count * program.size() : 0;
    CHECK_EQUAL(window[static_cast<std::size_t>(i)], 100 + all);
  }
  MPI_Win_unlock_all(window);
  support::barrier();
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (const Flavor flavor : support::flavors()) {
    program.test("records are whole", [&] { records(flavor, program); });
    program.test("counters go together", [&] { counters(flavor, program); });
    program.test("calls with gaps are whole", [&] { gaps(flavor, program); });
    program.test("long calls are whole", [&] { long_calls(flavor, program); });
    program.test("elements, by granularity",
                 [&] { relaxed(flavor, program, Info({{"mpi_accumulate_granularity", "1"}})); });
    program.test("elements, by same_op",
                 [&] { relaxed(flavor, program, Info({{"accumulate_ops", "same_op"}})); });
  }
}
