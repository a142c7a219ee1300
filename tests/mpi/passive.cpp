// SPDX-License-Identifier: BSD-3-Clause
// G5, E12, S4: lock, unlock, lock_all, every flush, sync; exclusion, sharing and atomicity; and
// that a rank outside MPI delays nobody.
#include <cstdint>
#include <vector>

#include <oriel/oriel.h>

#include "support/nonblocking.hpp"
#include "support/program.hpp"
#include "support/tally.hpp"
#include "support/window.hpp"

namespace {

using support::barrier;
using support::Flavor;
using support::Info;
using support::Program;
using support::Window;

/// Read, add, write under an exclusive lock: only exclusion keeps all of it.
void exclusion(Flavor flavor, const Program& program) {
  constexpr int rounds = 40;
  Window<long> window(flavor, 2);
  for (int i = 0; i < rounds; ++i) {
    long pair[2];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(pair, 2, MPI_LONG, 0, 0, 2, MPI_LONG, window);
    MPI_Win_flush(0, window);
    CHECK_EQUAL(pair[1], 3 * pair[0]);
    pair[0] += 1;
    pair[1] += 3;
    MPI_Put(pair, 2, MPI_LONG, 0, 0, 2, MPI_LONG, window);
    MPI_Win_unlock(0, window);
  }
  barrier();
  if (program.rank() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK_EQUAL(window[0], static_cast<long>(rounds) * program.size());
    MPI_Win_unlock(0, window);
  }
}

/// Writers hold the exclusive lock, readers the shared one: a reader never sees half a write. This
/// mix hung a host (ompi#6549 and its siblings).
void readers_and_writers(Flavor flavor, const Program& program) {
  constexpr int rounds = 40;
  constexpr int words = 64;
  Window<int> window(flavor, words);
  for (int i = 1; i <= rounds; ++i) {
    int values[words];
    const int target = i % program.size();
    if ((i + program.rank()) % 3 == 0) {
      std::fill_n(values, words, program.rank() * 1000 + i);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
      MPI_Put(values, words, MPI_INT, target, 0, words, MPI_INT, window);
      MPI_Win_unlock(target, window);
    } else {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
      MPI_Get(values, words, MPI_INT, target, 0, words, MPI_INT, window);
      MPI_Win_unlock(target, window);
      for (int word : values) CHECK_EQUAL(word, values[0]);
    }
  }
}

/// Shared locks of all ranks at the same time: nobody lets go before all have it.
void sharing(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const int one = 1;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_flush(0, window);
  int seen = 0;
  while (seen < program.size()) {
    MPI_Fetch_and_op(nullptr, &seen, MPI_INT, 0, 0, MPI_NO_OP, window);
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock(0, window);
}

/// Locks to several targets at once, released in another order.
void several_targets(Flavor flavor, const Program& program) {
  const auto size = static_cast<std::size_t>(program.size());
  Window<int> window(flavor, size);
  const int mark = program.rank() + 1;
  for (int target = 0; target < program.size(); ++target) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Put(&mark, 1, MPI_INT, target, program.rank(), 1, MPI_INT, window);
  }
  for (int target = program.size() - 1; target >= 0; --target) MPI_Win_unlock(target, window);
  barrier();
  MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
  for (std::size_t i = 0; i < size; ++i) CHECK_EQUAL(window[i], static_cast<int>(i) + 1);
  MPI_Win_unlock(program.rank(), window);
}

/// Exclusive locks that all ranks take in one order (E18), of two targets and of one target of two
/// windows, and read, add and write under all of them.
void one_order(Flavor flavor, const Program& program) {
  constexpr int rounds = 40;
  Window<long> first(flavor, 1);
  Window<long> second(flavor, 1);
  struct Place {
    MPI_Win window;
    int target;
  };
  const Place places[][2] = {
      {{first, 0}, {first, program.size() - 1}},
      {{first, 0}, {second, 0}},
      {{second, 0}, {second, program.size() - 1}},
  };
  for (int i = 0; i < rounds; ++i) {
    for (const auto& both : places) {
      if (both[0].window == both[1].window && program.size() == 1) continue;
      long values[2];
      for (const Place& place : both)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, place.target, 0, place.window);
      for (int k : {0, 1}) {
        MPI_Get(&values[k], 1, MPI_LONG, both[k].target, 0, 1, MPI_LONG, both[k].window);
        MPI_Win_flush(both[k].target, both[k].window);
        ++values[k];
        MPI_Put(&values[k], 1, MPI_LONG, both[k].target, 0, 1, MPI_LONG, both[k].window);
      }
      const int ends_first = i % 2;
      for (const int k : {ends_first, 1 - ends_first}) {
        MPI_Win_unlock(both[k].target, both[k].window);
      }
    }
  }
  barrier();
  if (program.rank() != 0) return;
  const long each = static_cast<long>(rounds) * program.size();
  const int used = program.size() == 1 ? 1 : 2;  // of the three rows, by each window's rank 0
  for (const MPI_Win window : {static_cast<MPI_Win>(first), static_cast<MPI_Win>(second)}) {
    long value = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    CHECK_EQUAL(value, used * each);
  }
}

void flushes(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 4);
  MPI_Win_lock_all(0, window);
  int value = 1;
  int got = 0;
  const int slot = program.rank() % 4;
  const int target = program.right();
  MPI_Put(&value, 1, MPI_INT, target, slot, 1, MPI_INT, window);
  MPI_Win_flush_local(target, window);
  value = 2;  // the buffer is ours again
  MPI_Win_flush(target, window);
  MPI_Get(&got, 1, MPI_INT, target, slot, 1, MPI_INT, window);
  MPI_Win_flush_local(target, window);
  CHECK_EQUAL(got, 1);
  MPI_Accumulate(&value, 1, MPI_INT, target, slot, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_flush_local_all(window);
  value = 100;
  MPI_Win_flush_all(window);
  MPI_Get(&got, 1, MPI_INT, target, slot, 1, MPI_INT, window);
  MPI_Win_flush_all(window);
  CHECK_EQUAL(got, 3);
  MPI_Win_unlock_all(window);
}

/// Put, flush, tell by a message, sync, load: the usual way to hand over data.
void sync_after_message(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  for (int round = 1; round <= 10; ++round) {
    MPI_Put(&round, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_flush(program.right(), window);
    MPI_Sendrecv(nullptr, 0, MPI_INT, program.right(), 0, nullptr, 0, MPI_INT, program.left(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_sync(window);
    CHECK_EQUAL(window[0], round);
    MPI_Sendrecv(nullptr, 0, MPI_INT, program.left(), 1, nullptr, 0, MPI_INT, program.right(), 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(window);
}

/// Rank 0 has opened lock_all and loads the memory of `owner`: nobody changes it under its eyes.
void loads_under_lock_all(Flavor flavor, const Program& program, int owner) {
  if (program.size() < 2) return;
  Window<int> window(flavor, 1);
  MPI_Aint bytes = sizeof(int);
  int unit = 0;
  int* found = window.data();
  if (program.rank() == 0 && owner != 0) {
    MPI_Win_shared_query(window, owner, &bytes, &unit, &found);
  }
  int reachable = bytes != 0;
  MPI_Bcast(&reachable, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (reachable == 0) return;
  const volatile int* loaded = found;
  int changed = 0;
  if (program.rank() == 0) {
    MPI_Win_lock_all(0, window);
    const int before = *loaded;
    MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&changed, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(changed, 0);
    CHECK_EQUAL(*loaded, before);
    MPI_Win_unlock_all(window);
  } else if (program.rank() == 1) {
    const support::Nonblocking calls;
    const int value = 7;
    MPI_Request unlocked;
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    calls.Win_ilock(MPI_LOCK_EXCLUSIVE, owner, 0, window, &unlocked);
    MPI_Wait(&unlocked, MPI_STATUS_IGNORE);
    MPI_Put(&value, 1, MPI_INT, owner, 0, 1, MPI_INT, window);
    calls.Win_iunlock(owner, window, &unlocked);
    for (int i = 0; i < 100 && changed == 0; ++i) MPI_Test(&unlocked, &changed, MPI_STATUS_IGNORE);
    MPI_Send(&changed, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Wait(&unlocked, MPI_STATUS_IGNORE);
  }
  barrier();
  if (program.rank() == owner) {
    MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window);
    CHECK_EQUAL(window[0], 7);
    MPI_Win_unlock(owner, window);
  }
}

/// Every call that updates a counter, mixed: each is atomic next to each other one (ompi#4688).
void contended_counter(Flavor flavor, const Program& program) {
  constexpr int rounds = 100;
  Window<std::int64_t> window(flavor, 1);
  const std::int64_t one = 1;
  std::int64_t before = 0;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < rounds; ++i) {
    switch ((i + program.rank()) % 4) {
      case 0:
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, window);
        break;
      case 1:
        MPI_Get_accumulate(&one, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T,
                           MPI_SUM, window);
        break;
      case 2:
        MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window);
        break;
      case 3: {
        std::int64_t expected = 0;
        while (true) {
          const std::int64_t next = expected + 1;
          MPI_Compare_and_swap(&next, &expected, &before, MPI_INT64_T, 0, 0, window);
          MPI_Win_flush(0, window);
          if (before == expected) break;
          expected = before;
        }
        break;
      }
    }
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
  barrier();
  if (program.rank() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK_EQUAL(window[0], static_cast<std::int64_t>(rounds) * program.size());
    MPI_Win_unlock(0, window);
  }
}

/// Fetch_and_op hands out every number once.
void tickets(Flavor flavor, const Program& program) {
  constexpr int rounds = 50;
  Window<int> window(flavor, 1);
  std::vector<int> mine(rounds);
  const int one = 1;
  MPI_Win_lock_all(0, window);
  for (int& ticket : mine) {
    MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
  for (int i = 1; i < rounds; ++i) {
    CHECK(mine[static_cast<std::size_t>(i)] > mine[static_cast<std::size_t>(i - 1)]);
  }
  const auto all = static_cast<std::size_t>(rounds * program.size());
  std::vector<int> tickets(all);
  MPI_Gather(mine.data(), rounds, MPI_INT, tickets.data(), rounds, MPI_INT, 0, MPI_COMM_WORLD);
  if (program.rank() != 0) return;
  std::sort(tickets.begin(), tickets.end());
  for (std::size_t i = 0; i < all; ++i) CHECK_EQUAL(tickets[i], static_cast<int>(i));
}

/// Get_accumulate with REPLACE on a contended place: a token is neither lost nor doubled
/// (ompi#14173).
void contended_replace(Flavor flavor, const Program& program) {
  constexpr int rounds = 50;
  Window<int> window(flavor, 1);
  // Everybody swaps its own token in and takes another one; all are there at the end.
  int token = program.rank() + 1;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < rounds; ++i) {
    int got = -1;
    if (i % 2 == 0) {
      MPI_Get_accumulate(&token, 1, MPI_INT, &got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE,
                         window);
      MPI_Win_flush(0, window);
    } else {
      MPI_Request request;
      MPI_Rget_accumulate(&token, 1, MPI_INT, &got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE,
                          window, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Win_flush(0, window);
    }
    token = got;
  }
  MPI_Win_unlock_all(window);
  int sum = 0;
  MPI_Reduce(&token, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (program.rank() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    CHECK_EQUAL(sum + window[0], program.size() * (program.size() + 1) / 2);
    MPI_Win_unlock(0, window);
  }
}

void nocheck_and_self(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  const int value = 3;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.rank(), MPI_MODE_NOCHECK, window);
  MPI_Put(&value, 1, MPI_INT, program.rank(), 0, 1, MPI_INT, window);
  MPI_Win_flush(program.rank(), window);
  CHECK_EQUAL(window[0], 3);
  window[0] = 4;
  MPI_Win_unlock(program.rank(), window);
  barrier();
  int got = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, program.right(), MPI_MODE_NOCHECK, window);
  MPI_Get(&got, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
  MPI_Win_unlock(program.right(), window);
  CHECK_EQUAL(got, 4);
}

/// Epochs without operations leave nothing behind.
void empty_epochs(Flavor flavor, const Program& program) {
  Window<int> window(flavor, 1);
  for (int i = 0; i < 50; ++i) {
    MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
    MPI_Win_unlock(program.right(), window);
    MPI_Win_lock_all(0, window);
    MPI_Win_unlock_all(window);
  }
}

/// Rank 0 computes outside MPI until everybody else has worked on its window and is done.
void absent_target(Flavor flavor, const Program& program) {
  if (program.size() < 2) return;
  Window<double> window(flavor, 1000);
  const support::Tally done;
  barrier();
  if (program.rank() == 0) {
    while (done.count() < program.size() - 1) {
    }
  } else {
    const std::vector<double> ones(1000, 1.0);
    std::vector<double> got(1000);
    for (int i = 0; i < 20; ++i) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      MPI_Put(ones.data(), 1000, MPI_DOUBLE, 0, 0, 1000, MPI_DOUBLE, window);
      MPI_Win_flush(0, window);
      MPI_Accumulate(ones.data(), 1000, MPI_DOUBLE, 0, 0, 1000, MPI_DOUBLE, MPI_SUM, window);
      MPI_Win_flush(0, window);
      MPI_Get(got.data(), 1000, MPI_DOUBLE, 0, 0, 1000, MPI_DOUBLE, window);
      MPI_Win_unlock(0, window);
      CHECK_EQUAL(got[999], 2.0);
    }
    done.add();
  }
  barrier();
}

/// S7: an unlock that does not wait for the target; MPI_Win_free and usual unlocks still do. Many
/// ranks at once, so that locks have to be waited for.
void weak_unlock(Flavor flavor, const Program& program, bool by_info) {
  constexpr int rounds = 30;
  const Info info({{ORIEL_WEAK_UNLOCK, by_info ? "true" : "false"}});
  const int assertion = by_info ? 0 : ORIEL_MODE_WEAK_UNLOCK;
  const int root = 0;
  std::vector<int> memory(2, 0);
  {
    Window<int> window(flavor, 2, MPI_COMM_WORLD, info);
    for (int i = 1; i <= rounds; ++i) {
      int value = i;
      const int one = 1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), assertion, window);
      MPI_Put(&value, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
      MPI_Win_unlock(program.right(), window);
      value = -1;  // the buffer is ours again
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, root, assertion, window);
      MPI_Accumulate(&one, 1, MPI_INT, root, 1, 1, MPI_INT, MPI_SUM, window);
      MPI_Win_unlock(root, window);
    }
    int got = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, program.right(), assertion, window);
    MPI_Get(&got, 1, MPI_INT, program.right(), 0, 1, MPI_INT, window);
    MPI_Win_unlock(program.right(), window);
    CHECK_EQUAL(got, rounds);
    MPI_Win_set_info(window, Info({{ORIEL_WEAK_UNLOCK, "false"}}));
    MPI_Win_lock(MPI_LOCK_SHARED, root, 0, window);
    MPI_Win_unlock(root, window);
    barrier();
    MPI_Win_lock(MPI_LOCK_SHARED, root, 0, window);
    MPI_Get(&got, 1, MPI_INT, root, 1, 1, MPI_INT, window);
    MPI_Win_unlock(root, window);
    CHECK_EQUAL(got, rounds * program.size());
  }
  MPI_Win window;
  const auto bytes = static_cast<MPI_Aint>(memory.size() * sizeof(int));
  MPI_Win_create(memory.data(), bytes, sizeof(int), info, MPI_COMM_WORLD, &window);
  const int value = program.rank() + 1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), assertion, window);
  MPI_Put(&value, 1, MPI_INT, program.right(), 1, 1, MPI_INT, window);
  MPI_Win_unlock(program.right(), window);
  MPI_Win_free(&window);
  CHECK_EQUAL(memory[1], program.left() + 1);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (Flavor flavor : support::flavors()) {
    program.test("exclusion", [&] { exclusion(flavor, program); });
    program.test("readers and writers", [&] { readers_and_writers(flavor, program); });
    program.test("sharing", [&] { sharing(flavor, program); });
    program.test("several targets", [&] { several_targets(flavor, program); });
    program.test("one order", [&] { one_order(flavor, program); });
    program.test("flushes", [&] { flushes(flavor, program); });
    program.test("sync after a message", [&] { sync_after_message(flavor, program); });
    program.test("contended counter", [&] { contended_counter(flavor, program); });
    program.test("tickets", [&] { tickets(flavor, program); });
    program.test("contended replace", [&] { contended_replace(flavor, program); });
    program.test("nocheck and self", [&] { nocheck_and_self(flavor, program); });
    program.test("empty epochs", [&] { empty_epochs(flavor, program); });
    for (const int owner : {0, 1}) {
      program.test_unless_host("any", "rank 1 uses nonblocking epochs", "loads under lock_all",
                               [&] { loads_under_lock_all(flavor, program, owner); });
    }
    for (const bool by_info : {false, true}) {
      program.test_unless_host("any", "the weak unlock is Oriel's", "weak unlock",
                               [&] { weak_unlock(flavor, program, by_info); });
    }
    if (flavor == Flavor::shared) continue;  // mapped like an allocated window; the test is long
    program.test_unless_host("any", "a host may need the target's processor", "absent target",
                             [&] { absent_target(flavor, program); });
  }
}
