// SPDX-License-Identifier: BSD-3-Clause
// G10: faults that users have reported and that MPI libraries of November 2026 have. The name of a
// test begins with the number of a report. The comment of each test ends with the fault that was
// found. tests/mpi/reports.py has the circumstances that a test needs beside a number of ranks: in
// others it passes on every MPI.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/footprint.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Group;
using support::Info;
using support::Program;
using support::Window;
using Word = std::int64_t;

constexpr std::size_t mebi = std::size_t{1} << 20;

std::uintptr_t address(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Memory of a shared window is contiguous, also where ranks give none, and MPI_PROC_NULL is the
/// first rank that gives some. The base of a rank without memory was null, or that of another rank.
void shared_memory_of_some(const Program& program) {
  if (!support::one_node()) return;
  for (const int giving : {0, program.size() - 1}) {
    const MPI_Aint bytes = program.rank() == giving ? 4096 : 0;
    char* own = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    CHECK(own != nullptr);
    MPI_Aint size = -1;
    int unit = 0;
    char* first = nullptr;
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first);
    CHECK_EQUAL(size, 4096);
    char* base = nullptr;
    MPI_Win_shared_query(win, giving, &size, &unit, &base);
    CHECK_EQUAL(size, 4096);
    CHECK_EQUAL(address(first), address(base));
    CHECK_EQUAL(address(own), address(base) + (program.rank() > giving ? 4096 : 0));
    MPI_Win_free(&win);
  }
  char* own = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate_shared(1024, 1, MPI_INFO_NULL, MPI_COMM_SELF, &own, &win);
  MPI_Aint size = -1;
  int unit = 0;
  char* base = nullptr;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &base);
  CHECK_EQUAL(size, 1024);
  CHECK_EQUAL(address(base), address(own));
  MPI_Win_free(&win);
}

/// A call that moves nothing needs no buffers. It was an error.
void null_buffers(const Program& program) {
  Window<Word> window(Flavor::allocate, 1);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, window);
  CHECK_CLASS(MPI_Fetch_and_op(nullptr, nullptr, MPI_INT64_T, MPI_PROC_NULL, 0, MPI_SUM, window),
              MPI_SUCCESS);
  CHECK_CLASS(
      MPI_Compare_and_swap(nullptr, nullptr, nullptr, MPI_INT64_T, MPI_PROC_NULL, 0, window),
      MPI_SUCCESS);
  for (const int target : {int{MPI_PROC_NULL}, program.right()}) {
    CHECK_CLASS(MPI_Put(nullptr, 0, MPI_INT64_T, target, 0, 0, MPI_INT64_T, window), MPI_SUCCESS);
    CHECK_CLASS(MPI_Get(nullptr, 0, MPI_INT64_T, target, 0, 0, MPI_INT64_T, window), MPI_SUCCESS);
    CHECK_CLASS(MPI_Accumulate(nullptr, 0, MPI_INT64_T, target, 0, 0, MPI_INT64_T, MPI_SUM, window),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Get_accumulate(nullptr, 0, MPI_INT64_T, nullptr, 0, MPI_INT64_T, target, 0, 0,
                                   MPI_INT64_T, MPI_SUM, window),
                MPI_SUCCESS);
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Rget_accumulate(nullptr, 0, MPI_INT64_T, nullptr, 0, MPI_INT64_T, target, 0, 0,
                                    MPI_INT64_T, MPI_SUM, window, &request),
                MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(window);
  support::barrier();
}

template <class Value>
struct Pair {
  Value value;
  int rank;
};

/// One pair of rank 0 that all ranks replace by a larger one and fetch.
template <class Value>
void fetch_largest(MPI_Datatype type, const Program& program) {
  Window<Pair<Value>> window(Flavor::allocate, 1);
  const Pair<Value> own{static_cast<Value>(10 + program.rank()), program.rank()};
  Pair<Value> before{-1, -1};
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Fetch_and_op(&own, &before, type, 0, 0, MPI_MAXLOC, window);
  MPI_Win_flush(0, window);
  if (before.value != 0) CHECK_EQUAL(before.value, static_cast<Value>(10 + before.rank));
  MPI_Get_accumulate(&own, 1, type, &before, 1, type, 0, 0, 1, type, MPI_MAXLOC, window);
  MPI_Win_unlock(0, window);
  CHECK(before.value >= own.value);
  support::barrier();
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Fetch_and_op(nullptr, &before, type, 0, 0, MPI_NO_OP, window);
  MPI_Win_unlock(0, window);
  CHECK_EQUAL(before.rank, program.size() - 1);
  CHECK_EQUAL(before.value, static_cast<Value>(9 + program.size()));
  support::barrier();
}

/// The largest value of all ranks and its rank, by MPI_MAXLOC in a window of rank 0. Many at once,
/// so that the holes between them count.
template <class Value>
void largest_of_all(MPI_Datatype type, const Program& program) {
  constexpr int count = 500;
  Window<Pair<Value>> window(Flavor::allocate, count);
  std::vector<Pair<Value>> own(count);
  for (int i = 0; i < count; ++i) {
    const int rank = program.rank();
    own[static_cast<std::size_t>(i)] = {
        static_cast<Value>(1 + (i + rank) % program.size() + i % 50), rank};
  }
  MPI_Win_fence(0, window);
  MPI_Accumulate(own.data(), count, type, 0, 0, count, type, MPI_MAXLOC, window);
  MPI_Win_fence(0, window);
  std::vector<Pair<Value>> all(count);
  MPI_Get(all.data(), count, type, 0, 0, count, type, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < count; ++i) {
    const Pair<Value>& found = all[static_cast<std::size_t>(i)];
    CHECK_EQUAL(found.value, static_cast<Value>(program.size() + i % 50));
    CHECK_EQUAL((i + found.rank) % program.size(), program.size() - 1);
  }
  fetch_largest<Value>(type, program);
}

/// Pairs of a value and a rank with holes behind or in them. The library hung, crashed, or changed
/// the wrong bytes.
void pairs_with_holes(const Program& program) {
  largest_of_all<short>(MPI_SHORT_INT, program);
  largest_of_all<double>(MPI_DOUBLE_INT, program);
  largest_of_all<long>(MPI_LONG_INT, program);
  largest_of_all<long double>(MPI_LONG_DOUBLE_INT, program);
}

/// Epochs of no peers.
void use_no_peers(MPI_Win win, MPI_Group group) {
  CHECK_CLASS(MPI_Win_start(group, 0, win), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_complete(win), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_post(group, 0, win), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_wait(win), MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_post(group, 0, win), MPI_SUCCESS);
  int over = 0;
  CHECK_CLASS(MPI_Win_test(win, &over), MPI_SUCCESS);
  CHECK_EQUAL(over, 1);
}

/// Epochs without peers, by MPI_GROUP_EMPTY and by a group of no ranks. They were errors.
void empty_groups(const Program& program) {
  const Group none({});
  for (const Flavor flavor : support::flavors()) {
    Window<Word> alone(Flavor::create, 1, MPI_COMM_SELF);
    Window<Word> window(flavor, 1);
    for (const MPI_Win win : {window.win(), alone.win()}) {
      MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
      use_no_peers(win, none);
      use_no_peers(win, MPI_GROUP_EMPTY);
    }
    // The last rank has neither origins nor targets; the others have each other.
    for (Word round = 1; round < 4; ++round) {
      const int others = program.size() - 1;
      const bool takes_part = others > 0 && program.rank() < others;
      const Group targets(takes_part ? std::vector{(program.rank() + 1) % others}
                                     : std::vector<int>{});
      const Group origins(takes_part ? std::vector{(program.rank() + others - 1) % others}
                                     : std::vector<int>{});
      CHECK_CLASS(MPI_Win_post(origins, 0, window), MPI_SUCCESS);
      CHECK_CLASS(MPI_Win_start(targets, 0, window), MPI_SUCCESS);
      if (takes_part) {
        MPI_Put(&round, 1, MPI_INT64_T, (program.rank() + 1) % others, 0, 1, MPI_INT64_T, window);
      }
      CHECK_CLASS(MPI_Win_complete(window), MPI_SUCCESS);
      CHECK_CLASS(MPI_Win_wait(window), MPI_SUCCESS);
      CHECK_EQUAL(window[0], takes_part ? round : 0);
    }
  }
}

/// A long message of rank 0 to rank 1 and one back, under way while rank 0 does something else.
class LongMessages {
 public:
  LongMessages() : sent_(bytes, 'm'), received_(bytes) {
    MPI_Isend(sent_.data(), bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &requests_[0]);
    MPI_Irecv(received_.data(), bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &requests_[1]);
  }
  ~LongMessages() { MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE); }
  LongMessages(const LongMessages&) = delete;
  LongMessages& operator=(const LongMessages&) = delete;

  /// By rank 1.
  static void return_it() {
    std::vector<char> buffer(bytes);
    MPI_Recv(buffer.data(), bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(buffer.back(), 'm');
    MPI_Send(buffer.data(), bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
  }

 private:
  static constexpr int bytes = 32 << 20;
  std::vector<char> sent_;
  std::vector<char> received_;
  std::array<MPI_Request, 2> requests_{};
};

/// Rank 0 polls by MPI_Win_test until rank 1, behind its messages, completes its epoch.
/// MPI_Win_test did not advance the messages.
void test_beside_a_message(const Program& program) {
  Window<Word> window(Flavor::allocate, 1);
  const Group zero({0});
  const Group one({1});
  if (program.rank() == 0) {
    MPI_Win_post(one, 0, window);
    const LongMessages messages;
    for (int over = 0; over == 0;) MPI_Win_test(window, &over);
    CHECK_EQUAL(window[0], 5);
  } else if (program.rank() == 1) {
    LongMessages::return_it();
    const Word five = 5;
    MPI_Win_start(zero, 0, window);
    MPI_Put(&five, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, window);
    MPI_Win_complete(window);
  }
  support::barrier();
}

/// Rank 0 polls its own word between calls of MPI_Win_flush until rank 1, behind its messages, sets
/// it. MPI_Win_flush did not advance the messages.
void flush_beside_a_message(const Program& program) {
  Window<Word> window(Flavor::allocate, 1);
  MPI_Win_lock_all(0, window);
  if (program.rank() == 0) {
    const LongMessages messages;
    while (window[0] == 0) MPI_Win_flush(0, window);
  } else if (program.rank() == 1) {
    LongMessages::return_it();
    const Word one = 1;
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_REPLACE, window);
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
  support::barrier();
}

/// All ranks add to the memory of rank 0, the only one that has some, in many fence epochs. The
/// library hung.
void memory_of_rank_0_alone(const Program& program) {
  constexpr int rounds = 100;
  constexpr int words = 10;
  const MPI_Aint bytes = program.rank() == 0 ? words * MPI_Aint{sizeof(double)} : 0;
  double* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  if (program.rank() == 0) std::fill_n(memory, words, 0.0);
  std::array<double, words> values{};
  std::iota(values.begin(), values.end(), 0.0);
  MPI_Win_fence(0, win);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < words; ++i) {
      const double* const value = &values[static_cast<std::size_t>(i)];
      MPI_Accumulate(value, 1, MPI_DOUBLE, 0, i, 1, MPI_DOUBLE, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
  }
  if (program.rank() == 0) {
    for (int i = 0; i < words; ++i) {
      CHECK_EQUAL(memory[i], static_cast<double>(i) * rounds * program.size());
    }
  }
  MPI_Win_free(&win);
}

/// Windows of every flavor answer MPI_Win_shared_query: of the own rank its memory, of others their
/// memory, or that it cannot be shared. It was an error, or the answer was wrong.
void query_of_every_flavor(const Program& program) {
  for (const Flavor flavor : support::flavors()) {
    Window<Word> window(flavor, 3);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    window[0] = 100 + program.rank();
    MPI_Win_fence(0, window);
    for (int rank = 0; rank < program.size(); ++rank) {
      MPI_Aint size = -1;
      int unit = -1;
      Word* base = nullptr;
      CHECK_CLASS(MPI_Win_shared_query(window, rank, &size, &unit, &base), MPI_SUCCESS);
      if (rank != program.rank() && size == 0) continue;
      CHECK_EQUAL(size, MPI_Aint{3 * sizeof(Word)});
      CHECK_EQUAL(unit, static_cast<int>(sizeof(Word)));
      CHECK_EQUAL(base[0], 100 + rank);
    }
    MPI_Win_fence(0, window);
  }
}

/// MPI_Win_detach of memory that is not attached is an error, which attached memory survives, at
/// any address. The library kept silent, or crashed.
void detach_of_what_is_not_attached(const Program& program) {
  std::vector<char> memory(301, '-');
  char* const odd = memory.data() + 1;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  char other = 0;
  CHECK(MPI_Win_detach(win, &other) != MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_attach(win, odd, 299), MPI_SUCCESS);
  CHECK(MPI_Win_detach(win, &other) != MPI_SUCCESS);
  CHECK(MPI_Win_detach(win, odd + 1) != MPI_SUCCESS);
  std::vector<MPI_Aint> bases(static_cast<std::size_t>(program.size()));
  MPI_Get_address(odd, &bases[static_cast<std::size_t>(program.rank())]);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, bases.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  const std::vector<char> own(299, static_cast<char>('a' + program.rank()));
  MPI_Win_lock_all(0, win);
  CHECK_CLASS(MPI_Put(own.data(), 299, MPI_CHAR, program.right(),
                      bases[static_cast<std::size_t>(program.right())], 299, MPI_CHAR, win),
              MPI_SUCCESS);
  CHECK_CLASS(MPI_Win_unlock_all(win), MPI_SUCCESS);
  support::barrier();
  for (std::size_t i = 0; i < 299; ++i) {
    CHECK_EQUAL(odd[i], static_cast<char>('a' + program.left()));
  }
  CHECK_EQUAL(memory[0], '-');
  CHECK_EQUAL(memory[300], '-');
  CHECK_CLASS(MPI_Win_detach(win, odd), MPI_SUCCESS);
  CHECK(MPI_Win_detach(win, odd) != MPI_SUCCESS);
  MPI_Win_free(&win);
}

/// Rank 0 polls its own word while rank 1 reads from a dynamic window of rank 0 before it sets that
/// word. Polling one window did not advance the other one.
template <class Poll>
void poll_one_window(const Program& program, Poll&& poll) {
  Window<Word> window(Flavor::allocate, 1);
  std::vector<Word> memory(1000, 3);
  MPI_Win dynamic = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_attach(dynamic, memory.data(), 8000);
  MPI_Aint base = 0;
  MPI_Get_address(memory.data(), &base);
  MPI_Bcast(&base, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  if (program.rank() == 0) {
    while (poll(window.win()) == 0) {
    }
  } else if (program.rank() == 1) {
    std::vector<Word> values(1000);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dynamic);
    MPI_Rget(values.data(), 1000, MPI_INT64_T, 0, base, 1000, MPI_INT64_T, dynamic, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(values.back(), 3);
    MPI_Win_unlock(0, dynamic);
    const Word one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_REPLACE, window);
    MPI_Win_unlock(0, window);
  }
  support::barrier();
  MPI_Win_detach(dynamic, memory.data());
  MPI_Win_free(&dynamic);
}

void poll_by_gets(const Program& program) {
  poll_one_window(program, [](MPI_Win win) {
    Word value = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
    MPI_Win_unlock(0, win);
    return value;
  });
}

void poll_by_atomics(const Program& program) {
  poll_one_window(program, [](MPI_Win win) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    Word value = 0;
    while (value == 0) {
      MPI_Fetch_and_op(nullptr, &value, MPI_INT64_T, 0, 0, MPI_NO_OP, win);
      MPI_Win_flush_local(0, win);
    }
    MPI_Win_unlock(0, win);
    return value;
  });
}

/// Each round has another distance between the origins and their targets, and nothing else
/// separates the rounds. Data of another round arrived.
void changing_neighbors(const Program& program) {
  constexpr int rounds = 20;
  Window<Word> window(Flavor::allocate, 1);
  for (int round = 0; round < rounds; ++round) {
    const int distance = round % program.size();
    const int target = (program.rank() + distance) % program.size();
    const int origin = (program.rank() + program.size() - distance) % program.size();
    const Group targets({target});
    const Group origins({origin});
    const Word value = 1000 * round + program.rank();
    MPI_Win_post(origins, 0, window);
    MPI_Win_start(targets, 0, window);
    MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    CHECK_EQUAL(window[0], 1000 * round + origin);
  }
}

/// Many epochs, or five times ORIEL_TEST_EPOCHS. Memory grew without end, or the library crashed.
void many_epochs(const Program& program) {
  const char* const asked = std::getenv("ORIEL_TEST_EPOCHS");
  const int epochs = asked != nullptr ? std::atoi(asked) : 1000;
  Window<Word> window(Flavor::allocate, 1);
  const Group targets({program.right()});
  const Group origins({program.left()});
  Word value = 0;
  const auto round = [&] {
    for (int i = 0; i < epochs; ++i) {
      ++value;
      MPI_Win_post(origins, 0, window);
      MPI_Win_start(targets, 0, window);
      MPI_Put(&value, 1, MPI_INT64_T, program.right(), 0, 1, MPI_INT64_T, window);
      MPI_Win_complete(window);
      MPI_Win_wait(window);
      CHECK_EQUAL(window[0], value);
    }
    for (int i = 0; i < epochs; ++i) {
      MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
      MPI_Put(&value, 1, MPI_INT64_T, program.right(), 0, 1, MPI_INT64_T, window);
      MPI_Win_unlock(program.right(), window);
    }
    support::barrier();
  };
  support::check_settles(5, 100, round);
}

/// More than /dev/shm has. The first touch of the memory ended the process.
void more_than_shm(const Program& program) {
  constexpr std::size_t words = 16 * mebi / sizeof(Word);
  for (const Flavor flavor : support::flavors()) {
    if (flavor == Flavor::create) continue;
    Window<Word> window(flavor, words);
    const Word value = 1 + program.rank();
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT64_T, program.right(), words - 1, 1, MPI_INT64_T, window);
    MPI_Win_fence(0, window);
    CHECK_EQUAL(window[words - 1], 1 + program.left());
  }
}

/// Bytes of address space that this process uses.
std::uint64_t address_space() {
  unsigned long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  CHECK(file != nullptr);
  CHECK_EQUAL(std::fscanf(file, "%lu", &pages), 1);
  std::fclose(file);
  return pages * support::page_bytes();
}

/// One rank may not be able to have the memory that it asks for: all ranks get a window, or all get
/// an error, and smaller windows work. Ranks waited forever, crashed, or did not agree.
void address_limit(const Program& program) {
  constexpr MPI_Aint much = MPI_Aint{8} << 30;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  if (program.rank() == program.size() - 1) {
    const rlimit limit{address_space() + 64 * mebi, before.rlim_max};
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
  }
  char* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  const int code = MPI_Win_allocate(much, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  CHECK_EQUAL(setrlimit(RLIMIT_AS, &before), 0);
  const int made = code == MPI_SUCCESS ? 1 : 0;
  int made_by_all = 0;
  MPI_Allreduce(&made, &made_by_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(made_by_all, made * program.size());
  if (made != 0) MPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  Window<Word> window(Flavor::allocate, 1);
  const Word value = program.rank();
  MPI_Win_fence(0, window);
  MPI_Put(&value, 1, MPI_INT64_T, program.right(), 0, 1, MPI_INT64_T, window);
  MPI_Win_fence(0, window);
  CHECK_EQUAL(window[0], program.left());
}

/// As coarrays do it: an image posts an event by an update, the other one looks at its own memory
/// until the event is there. The update waited for a call of its target.
void posted_event(const Program& program) {
  for (const Flavor flavor : {Flavor::create, Flavor::allocate}) {
    Window<int> window(flavor, 2);
    MPI_Win_lock_all(0, window);
    if (program.rank() == 0) {
      const int one = 1;
      MPI_Accumulate(&one, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_SUM, window);
      MPI_Win_flush(1, window);
    } else if (program.rank() == 1) {
      while (window[1] == 0) MPI_Win_sync(window);
    }
    MPI_Win_unlock_all(window);
    support::barrier();
  }
}

std::string value_of(MPI_Win win, const char* key) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Win_get_info(win, &info);
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
  MPI_Info_free(&info);
  return found != 0 ? value.data() : "none";
}

/// Hints come back from the window as they were given, or with their default; values that a key
/// does not have are ignored. The library crashed, refused, or forgot them.
void hints(const Program& program) {
  const Info given{{"no_locks", "true"},
                   {"same_disp_unit", "true"},
                   {"accumulate_ops", "same_op"},
                   {"accumulate_ordering", "none"}};
  {
    Window<Word> window(Flavor::allocate, 1, MPI_COMM_WORLD, given);
    CHECK_EQUAL(value_of(window, "no_locks"), std::string("true"));
    CHECK_EQUAL(value_of(window, "same_disp_unit"), std::string("true"));
    CHECK_EQUAL(value_of(window, "accumulate_ops"), std::string("same_op"));
    CHECK_EQUAL(value_of(window, "accumulate_ordering"), std::string("none"));
  }
  const std::string longest(MPI_MAX_INFO_VAL - 1, 'x');
  const Info odd{{"no_locks", "perhaps"},
                 {"accumulate_ops", "same_ops"},
                 {"accumulate_ordering", longest.c_str()},
                 {"same_size", "false"},
                 {"nobody_knows", longest.c_str()}};
  for (const Flavor flavor : {Flavor::create, Flavor::allocate}) {
    Window<Word> window(flavor, 1, MPI_COMM_WORLD, odd);
    MPI_Win_set_info(window, odd);
    CHECK_EQUAL(value_of(window, "no_locks"), std::string("false"));
    CHECK_EQUAL(value_of(window, "same_size"), std::string("false"));
    CHECK_EQUAL(value_of(window, "accumulate_ops"), std::string("same_op_no_op"));
    MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
    MPI_Win_unlock(program.right(), window);
  }
}

/// Makes the kernel refuse process_vm_readv and process_vm_writev, as containers do.
void forbid_process_vm() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  CHECK_EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  char byte = 0;
  const iovec part{&byte, 1};
  CHECK_EQUAL(process_vm_readv(getpid(), &part, 1, &part, 1, 0), -1);
}

/// Long puts and gets of private memory, which the kernel may refuse to copy between processes. The
/// library hung.
void private_memory(const Program& program) {
  constexpr int words = 200'000;
  Window<Word> window(Flavor::create, words);
  const std::vector<Word> own(words, program.rank());
  std::vector<Word> got(words, -1);
  MPI_Win_fence(0, window);
  MPI_Put(own.data(), words, MPI_INT64_T, program.right(), 0, words, MPI_INT64_T, window);
  MPI_Win_fence(0, window);
  MPI_Get(got.data(), words, MPI_INT64_T, program.right(), 0, words, MPI_INT64_T, window);
  MPI_Win_fence(0, window);
  CHECK_EQUAL(window[words - 1], program.left());
  CHECK_EQUAL(got[0], program.rank());
  CHECK_EQUAL(got[words - 1], program.rank());
}

/// Memory of any size is aligned for every type, and as its key asks. Addresses were odd, and the
/// key was ignored.
void alignment(const Program& program) {
  const Info aligned{{"mpi_minimum_memory_alignment", "4096"}};
  for (const bool asks : {false, true}) {
    const MPI_Info info = asks ? static_cast<MPI_Info>(aligned) : MPI_INFO_NULL;
    const std::uintptr_t expected = asks ? 4096 : alignof(std::max_align_t);
    const MPI_Aint bytes = 3 + 2 * program.rank();
    char* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Alloc_mem(bytes, info, &base);
    CHECK_EQUAL(address(base) % expected, 0U);
    MPI_Free_mem(base);
    MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &base, &win);
    CHECK_EQUAL(address(base) % expected, 0U);
    MPI_Win_free(&win);
  }
}

/// Calls that need an epoch, without one. The library kept silent.
void outside_of_epochs(const Program& program) {
  for (const Flavor flavor : {Flavor::create, Flavor::allocate}) {
    Window<Word> window(flavor, 1);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    const Word value = 1;
    const int target = program.right();
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window),
                MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Accumulate(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, window),
                MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(target, window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush_all(window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(target, window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(window), MPI_ERR_RMA_SYNC);
    support::barrier();
    CHECK_EQUAL(window[0], 0);
    support::barrier();
  }
}

/// Ranks of two nodes cannot share memory, which MPI_ERR_RMA_SHARED says. The class was another
/// one.
void shared_over_nodes(const Program&) {
  if (support::one_node()) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_CLASS(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
              MPI_ERR_RMA_SHARED);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("ORIEL_TEST_NO_PROCESS_VM") != nullptr) forbid_process_vm();
  Program program(argc, argv);
  using Test = void (*)(const Program&);
  const std::pair<const char*, Test> tests[] = {
      {"mpich#6994 shared memory of some ranks", shared_memory_of_some},
      {"mpich#2334 null buffers of calls that move nothing", null_buffers},
      {"ompi#1666 pairs with holes", pairs_with_holes},
      {"ompi#8677 epochs of empty groups", empty_groups},
      {"forum#499 MPI_Win_test beside long messages", test_beside_a_message},
      {"forum#499 MPI_Win_flush beside long messages", flush_beside_a_message},
      {"libfabric#6706 accumulates to memory of rank 0 alone", memory_of_rank_0_alone},
      {"mpi4py#665 MPI_Win_shared_query of every flavor", query_of_every_flavor},
      {"mpich#5148 detach of what is not attached", detach_of_what_is_not_attached},
      {"ompi#4434 polling by gets while another window moves", poll_by_gets},
      {"ompi#3750 polling by atomics while another window moves", poll_by_atomics},
      {"mpich#6362 post and start with changing neighbors", changing_neighbors},
      {"ompi#7617 memory over many epochs", many_epochs},
      {"ga#254 windows in little shared memory", more_than_shm},
      {"ompi#6740 an address limit on one rank", address_limit},
      {"OpenCoarrays#411 a posted event", posted_event},
      {"ompi#9721 hints and their values", hints},
      {"ompi#4948 private memory without process_vm_readv", private_memory},
      {"ompi#2979 alignment of allocated memory", alignment},
      {"mpich#4889 calls outside of epochs", outside_of_epochs},
      {"mpich#7381 a shared window over two nodes", shared_over_nodes},
  };
  for (const auto& [name, test] : tests) program.test(name, [&] { test(program); });
}
