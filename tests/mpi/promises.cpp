// SPDX-License-Identifier: BSD-3-Clause
// G12: what MPI libraries give beyond the standard, on the ranks of a node. Each test is a row of
// docs/promises.md. Without Oriel, tests/mpi/test_promises.py runs the rows that a host gives.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <oriel/oriel.h>

#include "support/nonblocking.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Info;
using support::Program;
using support::Window;

constexpr std::int64_t stored = 7;
constexpr int target = 0;  // the rank whose memory is accessed,
constexpr int origin = 1;  // and the one that accesses it

/// The ranks of this node. Where there is one alone, a test does nothing.
class Ranks {
 public:
  Ranks() {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
    MPI_Comm_rank(node_, &rank_);
    MPI_Comm_size(node_, &size_);
  }
  ~Ranks() { MPI_Comm_free(&node_); }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  MPI_Comm comm() const { return node_; }
  int rank() const { return rank_; }
  bool pair() const { return size_ > 1 && std::getenv("ORIEL_TEST_HIDDEN") == nullptr; }
  void barrier() const { MPI_Barrier(node_); }
  void send(int to) const { MPI_Send(nullptr, 0, MPI_INT, to, 0, node_); }
  void receive(int from) const { MPI_Recv(nullptr, 0, MPI_INT, from, 0, node_, MPI_STATUS_IGNORE); }

 private:
  MPI_Comm node_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
};

using Words = Window<std::int64_t>;

enum Operation { get, get_accumulate, fetch_and_op, compare_and_swap };

/// The result, as the operation's call leaves it.
std::int64_t result_of(Operation operation, MPI_Win window) {
  static std::int64_t result;
  static const std::int64_t one = 1;
  result = 0;
  switch (operation) {
    case get:
      MPI_Get(&result, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window);
      break;
    case get_accumulate:
      MPI_Get_accumulate(&one, 1, MPI_INT64_T, &result, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T,
                         MPI_SUM, window);
      break;
    case fetch_and_op:
      MPI_Fetch_and_op(&one, &result, MPI_INT64_T, target, 0, MPI_SUM, window);
      break;
    case compare_and_swap:
      MPI_Compare_and_swap(&one, &stored, &result, MPI_INT64_T, target, 0, window);
  }
  return *const_cast<volatile std::int64_t*>(&result);
}

/// The target holds its own lock exclusively, and stores under it, while body() runs on the origin.
template <class Body>
void behind_a_lock(const Ranks& ranks, Words& window, Body&& body) {
  if (ranks.rank() == target) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    window[0] = stored;
    ranks.send(origin);
    support::compute(0.02);
    MPI_Win_unlock(target, window);
  } else if (ranks.rank() == origin) {
    ranks.receive(target);
    body();
  }
}

void result_behind_a_lock(Flavor flavor, const Ranks& ranks, Operation operation) {
  Words window(flavor, 1, ranks.comm());
  behind_a_lock(ranks, window, [&] {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    CHECK_EQUAL(result_of(operation, window), stored);
    MPI_Win_unlock(target, window);
  });
}

void result_behind_lock_all(Flavor flavor, const Ranks& ranks, MPI_Info info) {
  for (const Operation operation : {get, get_accumulate, fetch_and_op}) {
    Words window(flavor, 1, ranks.comm(), info);
    behind_a_lock(ranks, window, [&] {
      MPI_Win_lock_all(0, window);
      CHECK_EQUAL(result_of(operation, window), stored);
      MPI_Win_unlock_all(window);
    });
  }
}

/// The locks of a lock_all epoch are free.
void result_in_lock_all(Flavor flavor, const Ranks& ranks) {
  Words window(flavor, 1, ranks.comm());
  if (ranks.rank() == target) window[0] = stored;
  ranks.barrier();
  if (ranks.rank() == origin) {
    MPI_Win_lock_all(0, window);
    CHECK_EQUAL(result_of(get, window), stored);
    MPI_Win_unlock_all(window);
  }
}

/// Several results in a row, and a long one.
void results_in_a_row(Flavor flavor, const Ranks& ranks) {
  constexpr std::size_t words = std::size_t{1} << 17;
  Words window(flavor, words, ranks.comm());
  if (ranks.rank() == target) std::fill_n(window.data(), words, stored);
  ranks.barrier();
  if (ranks.rank() == origin) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    for (int i = 0; i < 10; ++i) CHECK_EQUAL(result_of(get, window), stored);
    std::vector<std::int64_t> all(words);
    MPI_Get(all.data(), static_cast<int>(words), MPI_INT64_T, target, 0, static_cast<int>(words),
            MPI_INT64_T, window);
    for (const std::int64_t word : all) CHECK_EQUAL(word, stored);
    MPI_Win_unlock(target, window);
  }
}

void result_between_fences(Flavor flavor, const Ranks& ranks) {
  Words window(flavor, 1, ranks.comm());
  if (ranks.rank() == target) window[0] = stored;
  MPI_Win_fence(0, window);
  if (ranks.rank() == origin) {
    for (const Operation operation : {get, fetch_and_op})
      CHECK_EQUAL(result_of(operation, window), stored);
  }
  MPI_Win_fence(0, window);
}

/// The target is late for a fence that need not wait for it.
void result_behind_a_late_fence(Flavor flavor, const Ranks& ranks, MPI_Info info) {
  Words window(flavor, 1, ranks.comm(), info);
  if (ranks.rank() == target) {
    window[0] = stored;
    support::compute(0.02);
  }
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  if (ranks.rank() == origin) CHECK_EQUAL(result_of(get, window), stored);
  MPI_Win_fence(0, window);
}

/// The ranks of one epoch between post and wait.
MPI_Group group_of(const Ranks& ranks, int rank) {
  MPI_Group all;
  MPI_Group one;
  MPI_Comm_group(ranks.comm(), &all);
  MPI_Group_incl(all, 1, &rank, &one);
  MPI_Group_free(&all);
  return one;
}

void result_behind_a_late_post(Flavor flavor, const Ranks& ranks, MPI_Info info) {
  Words window(flavor, 1, ranks.comm(), info);
  MPI_Group group = group_of(ranks, ranks.rank() == target ? origin : target);
  if (ranks.rank() == target) {
    window[0] = stored;
    support::compute(0.02);
    MPI_Win_post(group, 0, window);
    MPI_Win_wait(window);
  } else if (ranks.rank() == origin) {
    MPI_Win_start(group, 0, window);
    CHECK_EQUAL(result_of(get, window), stored);
    MPI_Win_complete(window);
  }
  MPI_Group_free(&group);
  ranks.barrier();
}

void put(MPI_Win window) {
  MPI_Put(&stored, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window);
}

/// Behind a barrier the target loads what has been put, although nothing has completed the put.
void check_stored(const Ranks& ranks, Words& window) {
  ranks.barrier();
  if (ranks.rank() == target) CHECK_EQUAL(window[0], stored);
  ranks.barrier();
}

void put_under_a_lock(Flavor flavor, const Ranks& ranks) {
  for (const bool all : {false, true}) {
    Words window(flavor, 1, ranks.comm());
    if (ranks.rank() == origin) {
      all ? MPI_Win_lock_all(0, window) : MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
      put(window);
    }
    check_stored(ranks, window);
    if (ranks.rank() == origin) all ? MPI_Win_unlock_all(window) : MPI_Win_unlock(target, window);
  }
}

void put_behind_a_lock(Flavor flavor, const Ranks& ranks, MPI_Info info) {
  Words window(flavor, 2, ranks.comm(), info);
  behind_a_lock(ranks, window, [&] {
    const std::int64_t other = stored + 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Put(&other, 1, MPI_INT64_T, target, 1, 1, MPI_INT64_T, window);
  });
  ranks.barrier();
  if (ranks.rank() == target) CHECK_EQUAL(window[1], stored + 1);
  ranks.barrier();
  if (ranks.rank() == origin) MPI_Win_unlock(target, window);
}

void put_between_fences(Flavor flavor, const Ranks& ranks) {
  Words window(flavor, 1, ranks.comm());
  MPI_Win_fence(0, window);
  if (ranks.rank() == origin) put(window);
  check_stored(ranks, window);
  MPI_Win_fence(0, window);
}

void put_after_a_post(Flavor flavor, const Ranks& ranks) {
  Words window(flavor, 1, ranks.comm());
  MPI_Group group = group_of(ranks, ranks.rank() == target ? origin : target);
  if (ranks.rank() == target) MPI_Win_post(group, 0, window);
  ranks.barrier();
  if (ranks.rank() == origin) {
    MPI_Win_start(group, 0, window);
    put(window);
  }
  check_stored(ranks, window);
  if (ranks.rank() == origin) MPI_Win_complete(window);
  if (ranks.rank() == target) MPI_Win_wait(window);
  MPI_Group_free(&group);
}

/// MPI permits operations with a request in lock and lock_all epochs only.
void request_between_fences(Flavor flavor, const Ranks& ranks) {
  Words window(flavor, 2, ranks.comm());
  if (ranks.rank() == target) window[0] = stored;
  MPI_Win_fence(0, window);
  if (ranks.rank() == origin) {
    std::int64_t result = 0;
    std::array<MPI_Request, 2> requests;
    MPI_Rget(&result, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window, &requests[0]);
    MPI_Rput(&stored, 1, MPI_INT64_T, target, 1, 1, MPI_INT64_T, window, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    CHECK_EQUAL(result, stored);
  }
  MPI_Win_fence(0, window);
  if (ranks.rank() == target) CHECK_EQUAL(window[1], stored);
}

/// The target detaches memory that the origin then accesses.
void operations_on_detached_memory(const Ranks& ranks) {
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, ranks.comm(), &window);
  std::array<std::int64_t, 2> memory{stored, 0};
  MPI_Aint address = 0;
  if (ranks.rank() == target) {
    MPI_Win_attach(window, memory.data(), sizeof memory);
    MPI_Get_address(memory.data(), &address);
  }
  MPI_Bcast(&address, 1, MPI_AINT, target, ranks.comm());
  if (ranks.rank() == origin) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    std::int64_t result = 0;
    // Before the detach, too: some hosts then know where the memory is.
    for (const bool detached : {false, true}) {
      if (detached) {
        ranks.send(target);
        ranks.receive(target);
      }
      result = 0;
      MPI_Get(&result, 1, MPI_INT64_T, target, address, 1, MPI_INT64_T, window);
      MPI_Win_flush(target, window);
      CHECK_EQUAL(result, stored);
    }
    MPI_Put(&stored, 1, MPI_INT64_T, target, MPI_Aint_add(address, 8), 1, MPI_INT64_T, window);
    MPI_Win_unlock(target, window);
  } else if (ranks.rank() == target) {
    ranks.receive(origin);
    MPI_Win_detach(window, memory.data());
    ranks.send(origin);
  }
  ranks.barrier();
  if (ranks.rank() == target) CHECK_EQUAL(memory[1], stored);
  MPI_Win_free(&window);
}

/// The target gives its lock back only when the origin's get has returned.
template <class Open>
void get_does_not_wait(Flavor flavor, const Ranks& ranks, MPI_Info info, Open&& open) {
  Words window(flavor, 1, ranks.comm(), info);
  if (ranks.rank() == target) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    window[0] = stored;
    ranks.send(origin);
    ranks.receive(origin);
    MPI_Win_unlock(target, window);
  } else if (ranks.rank() == origin) {
    std::int64_t result = 0;
    ranks.receive(target);
    open(window);
    MPI_Get(&result, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window);
    ranks.send(target);
    MPI_Win_unlock(target, window);
    CHECK_EQUAL(result, stored);
  }
}

void run(Flavor flavor, const Ranks& ranks, Program& program) {
  // The setting does what the key does.
  const bool set = std::getenv("ORIEL_AWAIT_ACCESS") != nullptr;
  const Info key({{ORIEL_AWAIT_ACCESS, "opening"}});
  const MPI_Info opening = set ? MPI_INFO_NULL : static_cast<MPI_Info>(key);
  const bool created = flavor == Flavor::create;
  const auto test = [&](const char* name, auto&& body) {
    // Only some hosts reach private memory themselves.
    created ? program.test_unless_host("any", "memory is not mapped", name, body)
            : program.test(name, body);
  };
  test("get behind a lock", [&] { result_behind_a_lock(flavor, ranks, get); });
  test("get_accumulate behind a lock",
       [&] { result_behind_a_lock(flavor, ranks, get_accumulate); });
  test("fetch_and_op behind a lock", [&] { result_behind_a_lock(flavor, ranks, fetch_and_op); });
  test("compare_and_swap behind a lock",
       [&] { result_behind_a_lock(flavor, ranks, compare_and_swap); });
  test("result behind lock_all", [&] { result_behind_lock_all(flavor, ranks, opening); });
  test("result in lock_all", [&] { result_in_lock_all(flavor, ranks); });
  test("result between fences", [&] { result_between_fences(flavor, ranks); });
  test("result behind a late fence", [&] { result_behind_a_late_fence(flavor, ranks, opening); });
  test("result behind a late post", [&] { result_behind_a_late_post(flavor, ranks, opening); });
  test("put under a lock", [&] { put_under_a_lock(flavor, ranks); });
  test("put behind a lock", [&] { put_behind_a_lock(flavor, ranks, opening); });
  test("put between fences", [&] { put_between_fences(flavor, ranks); });
  test("put after a post", [&] { put_after_a_post(flavor, ranks); });
  test("request between fences", [&] { request_between_fences(flavor, ranks); });
  if (!created) test("results in a row", [&] { results_in_a_row(flavor, ranks); });
  program.test_unless_host("any", "nonblocking epochs are Oriel's", "nonblocking lock", [&] {
    const support::Nonblocking calls;
    get_does_not_wait(flavor, ranks, MPI_INFO_NULL, [&](MPI_Win window) {
      MPI_Request locked;
      calls.Win_ilock(MPI_LOCK_EXCLUSIVE, target, 0, window, &locked);
      MPI_Wait(&locked, MPI_STATUS_IGNORE);
    });
  });
  const auto lock = [](MPI_Win window) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window); };
  // On a shared window MPI_Win_lock waits, whatever the key says.
  if (flavor == Flavor::shared) return;
  const Info completion({{ORIEL_AWAIT_ACCESS, "completion"}});
  program.test_unless_host("any", "the info key is Oriel's", "access awaited at completion",
                           [&] { get_does_not_wait(flavor, ranks, completion, lock); });
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  const Ranks ranks;
  if (!ranks.pair()) return 0;
  for (const Flavor flavor : {Flavor::create, Flavor::allocate, Flavor::shared}) {
    run(flavor, ranks, program);
  }
  program.test("detached memory", [&] { operations_on_detached_memory(ranks); });
}
