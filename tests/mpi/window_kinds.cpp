// SPDX-License-Identifier: BSD-3-Clause
// G2 and G6: every kind of window of Oriel, and what a window carries along.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "oriel/oriel.h"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::barrier;
using support::Flavor;
using support::Info;
using support::Window;

template <class T>
T attribute(MPI_Win win, int key) {
  void* value = nullptr;
  int flag = 0;
  MPI_Win_get_attr(win, key, &value, &flag);
  CHECK(flag);
  return *static_cast<T*>(value);
}

std::string info_value(MPI_Win win, const char* key) {
  MPI_Info info;
  MPI_Win_get_info(win, &info);
  char value[256] = "";
  int flag = 0;
  MPI_Info_get(info, key, sizeof value - 1, value, &flag);
  MPI_Info_free(&info);
  return flag ? value : "(not there)";
}

/// Every rank writes its number into its right neighbour's window and reads it back.
void use(MPI_Win win, const support::Program& program, MPI_Aint displacement = 0) {
  const int value = 1000 + program.rank();
  int back = 0;
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT, program.right(), displacement, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Get(&back, 1, MPI_INT, program.right(), displacement, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(back, value);
}

/// Makes local stores visible to the loads of others, and the other way round. A first fence would
/// not do: it ends no epoch, so it need not be a barrier.
void exchange_stores(MPI_Win win) {
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  MPI_Win_sync(win);
  barrier();
  MPI_Win_sync(win);
  MPI_Win_unlock_all(win);
}

int deleted = 0;
MPI_Win deleted_win = MPI_WIN_NULL;
int on_delete(MPI_Win win, int, void* value, void*) {
  deleted += static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  deleted_win = win;
  return MPI_SUCCESS;
}

int handled = 0;
MPI_Win handled_win = MPI_WIN_NULL;
void on_error(MPI_Win* win, int*, ...) {
  ++handled;
  handled_win = *win;
}

void attributes(Flavor flavor) {
  Window<double> window(flavor, 5);
  void* base = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &flag);
  CHECK(flag);
  CHECK(base == window.data());
  CHECK_EQUAL(attribute<MPI_Aint>(window, MPI_WIN_SIZE), MPI_Aint{40});
  CHECK_EQUAL(attribute<int>(window, MPI_WIN_DISP_UNIT), 8);
  const int expected = flavor == Flavor::create     ? MPI_WIN_FLAVOR_CREATE
                       : flavor == Flavor::allocate ? MPI_WIN_FLAVOR_ALLOCATE
                                                    : MPI_WIN_FLAVOR_SHARED;
  CHECK_EQUAL(attribute<int>(window, MPI_WIN_CREATE_FLAVOR), expected);
  const int model = attribute<int>(window, MPI_WIN_MODEL);
  CHECK(model == MPI_WIN_UNIFIED || model == MPI_WIN_SEPARATE);
}

void names_and_groups(Flavor flavor) {
  Window<int> window(flavor, 1);
  char name[MPI_MAX_OBJECT_NAME] = "untouched";
  int length = -1;
  MPI_Win_set_name(window, "halo of the coarse grid");
  MPI_Win_get_name(window, name, &length);
  CHECK_EQUAL(std::string(name), std::string("halo of the coarse grid"));
  CHECK_EQUAL(length, 23);
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Win_get_group(window, &group);
  int result = MPI_UNEQUAL;
  MPI_Group_compare(world, group, &result);
  CHECK_EQUAL(result, MPI_IDENT);
  MPI_Group_free(&world);
  MPI_Group_free(&group);
#ifndef MPI_ABI_VERSION  // whose names for it differ, and do not give the handle back on Intel MPI
  CHECK(MPI_Win_f2c(MPI_Win_c2f(window)) == window.win());
#endif
}

void keyvals() {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &keyval, nullptr);
  MPI_Win handle;
  deleted = 0;
  {
    Window<int> window(Flavor::allocate, 1);
    handle = window;
    void* value = nullptr;
    int flag = 1;
    MPI_Win_get_attr(window, keyval, &value, &flag);
    CHECK(!flag);
    MPI_Win_set_attr(window, keyval, reinterpret_cast<void*>(std::intptr_t{3}));
    MPI_Win_get_attr(window, keyval, &value, &flag);
    CHECK(flag);
    CHECK(value == reinterpret_cast<void*>(std::intptr_t{3}));
    MPI_Win_delete_attr(window, keyval);
    CHECK_EQUAL(deleted, 3);
    MPI_Win_set_attr(window, keyval, reinterpret_cast<void*>(std::intptr_t{4}));
  }
  CHECK_EQUAL(deleted, 7);
  CHECK(deleted_win == handle);
  MPI_Win_free_keyval(&keyval);
  CHECK_EQUAL(keyval, MPI_KEYVAL_INVALID);
}

void error_handlers() {
  Window<int> window(Flavor::allocate, 1);
  MPI_Errhandler handler, now;
  MPI_Win_get_errhandler(window, &now);
  CHECK(now == MPI_ERRORS_ARE_FATAL);
  MPI_Win_create_errhandler(on_error, &handler);
  MPI_Win_set_errhandler(window, handler);
  MPI_Win_get_errhandler(window, &now);
  CHECK(now == handler);
  MPI_Errhandler_free(&now);
  handled = 0;
  MPI_Win_call_errhandler(window, MPI_ERR_OTHER);
  CHECK_EQUAL(handled, 1);
  CHECK(handled_win == window.win());
  MPI_Errhandler_free(&handler);
}

/// An error that Oriel itself finds goes through the same handler.
void error_handler_called_by_oriel(const support::Program& program) {
  Window<int> window(Flavor::allocate, 1);
  MPI_Errhandler handler;
  MPI_Win_create_errhandler(on_error, &handler);
  MPI_Win_set_errhandler(window, handler);
  handled = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, program.size(), 0, window);
  CHECK_EQUAL(handled, 1);
  CHECK(handled_win == window.win());
  MPI_Errhandler_free(&handler);
}

void info_defaults(Flavor flavor) {
  Window<int> window(flavor, 1);
  CHECK_EQUAL(info_value(window, "no_locks"), std::string("false"));
  CHECK_EQUAL(info_value(window, "accumulate_ordering"), std::string("rar,raw,war,waw"));
  CHECK_EQUAL(info_value(window, "accumulate_ops"), std::string("same_op_no_op"));
  CHECK_EQUAL(info_value(window, "same_size"), std::string("false"));
  CHECK_EQUAL(info_value(window, "same_disp_unit"), std::string("false"));
  CHECK_EQUAL(info_value(window, "mpi_accumulate_granularity"), std::string("0"));
  if (flavor == Flavor::shared) {
    CHECK_EQUAL(info_value(window, "alloc_shared_noncontig"), std::string("false"));
  }
}

void info_round_trip(const support::Program& program) {
  Info info{{"no_locks", "true"},          {"accumulate_ordering", "none"},
            {"accumulate_ops", "same_op"}, {"same_size", "true"},
            {"same_disp_unit", "true"},    {"a key that nobody knows", "1"}};
  Window<int> window(Flavor::allocate, 2, MPI_COMM_WORLD, info);
  CHECK_EQUAL(info_value(window, "no_locks"), std::string("true"));
  CHECK_EQUAL(info_value(window, "accumulate_ordering"), std::string("none"));
  CHECK_EQUAL(info_value(window, "accumulate_ops"), std::string("same_op"));
  CHECK_EQUAL(info_value(window, "same_size"), std::string("true"));
  CHECK_EQUAL(info_value(window, "same_disp_unit"), std::string("true"));
  use(window, program);
}

/// MPI_Win_set_info changes the keys that may change after creation. All of them take effect but
/// alloc_shared_noncontig, which is only reported.
void info_changes(Flavor flavor, const support::Program& program) {
  Window<int> window(flavor, 2);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  const int target = program.right();
  const Info strict{{"no_locks", "true"},
                    {"accumulate_ordering", "raw,waw"},
                    {"same_size", "true"},
                    {"same_disp_unit", "true"}};
  MPI_Win_set_info(window, strict);
  CHECK_EQUAL(info_value(window, "no_locks"), std::string("true"));
  CHECK_EQUAL(info_value(window, "accumulate_ordering"), std::string("raw,waw"));
  CHECK_EQUAL(info_value(window, "same_size"), std::string("true"));
  CHECK_EQUAL(info_value(window, "same_disp_unit"), std::string("true"));
  // How accumulates exclude one another the ranks settle when the window is made.
  const Info late{{"accumulate_ops", "same_op"}, {"mpi_accumulate_granularity", "8"}};
  MPI_Win_set_info(window, late);
  CHECK_EQUAL(info_value(window, "accumulate_ops"), std::string("same_op_no_op"));
  CHECK_EQUAL(info_value(window, "mpi_accumulate_granularity"), std::string("0"));
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);

  const Info nonsense{{"no_locks", "perhaps"},
                      {"accumulate_ordering", "raw,wow"},
                      {"alloc_shared_noncontig", "never"}};
  MPI_Win_set_info(window, nonsense);
  CHECK_EQUAL(info_value(window, "no_locks"), std::string("true"));
  CHECK_EQUAL(info_value(window, "accumulate_ordering"), std::string("raw,waw"));
  CHECK_EQUAL(info_value(window, "alloc_shared_noncontig"), std::string("false"));
  for (const char* value : {"true", "false"}) {
    const Info info{{"alloc_shared_noncontig", value}};
    MPI_Win_set_info(window, info);
    CHECK_EQUAL(info_value(window, "alloc_shared_noncontig"), std::string(value));
  }
  support::barrier();

  const Info loose{{"no_locks", "false"}, {"accumulate_ordering", "none"}, {"same_size", "false"}};
  MPI_Win_set_info(window, loose);
  CHECK_EQUAL(info_value(window, "no_locks"), std::string("false"));
  CHECK_EQUAL(info_value(window, "accumulate_ordering"), std::string("none"));
  CHECK_EQUAL(info_value(window, "same_size"), std::string("false"));
  const int value = 5 + program.rank();
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window), MPI_SUCCESS);
  MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window);
  CHECK_CLASS(MPI_Win_unlock(target, window), MPI_SUCCESS);
  support::barrier();
  CHECK_EQUAL(window[0], 5 + program.left());
}

/// What is no value of a key changes nothing, and neither does an alignment that cannot be given.
/// `by_update`: of a window that is there.
void info_values_that_are_none(bool by_update) {
  constexpr const char* granularity = "mpi_accumulate_granularity";
  constexpr const char* alignment = "mpi_minimum_memory_alignment";
  constexpr const char* ops = "which_accumulate_ops";
  const auto refused = [&](const char* key, const char* value) {
    Window<int> defaults(Flavor::allocate, 1);
    const Info info{{key, value}};
    Window<int> window(Flavor::allocate, 1, MPI_COMM_WORLD, by_update ? MPI_INFO_NULL : info);
    if (by_update) MPI_Win_set_info(window, info);
    CHECK_EQUAL(info_value(window, key), info_value(defaults, key));
  };
  for (const char* value : {"banana", "-64", "8 bytes", "8.5", "0x10", "18446744073709551616"}) {
    refused(granularity, value);
    refused(alignment, value);
  }
  for (const char* value : {"0", "96", "4294967296"}) refused(alignment, value);
  for (const char* value : {"banana", "sum,banana", "sum,", ",sum", "sum no_op", "SUM"}) {
    refused(ops, value);
  }
}

/// What is reported is given.
void info_values(const support::Program& program) {
  const auto report = [](Flavor flavor, const char* key, const char* value) {
    Window<int> window(flavor, 1, MPI_COMM_WORLD, Info{{key, value}});
    return info_value(window, key);
  };
  for (const char* value : {"0", "1", "8", "4294967296"}) {
    CHECK_EQUAL(report(Flavor::allocate, "mpi_accumulate_granularity", value), std::string(value));
  }
  for (const char* value : {"any_op", "sum", "no_op,sum,cswap", "minloc,replace"}) {
    CHECK_EQUAL(report(Flavor::allocate, "which_accumulate_ops", value), std::string(value));
  }
  for (const long asked : {1L, 64L, 4096L, 1L << 20}) {
    const Info info{{"mpi_minimum_memory_alignment", std::to_string(asked).c_str()}};
    std::vector<Flavor> flavors{Flavor::allocate};
    if (support::one_node()) flavors.push_back(Flavor::shared);
    for (const Flavor flavor : flavors) {
      Window<int> window(flavor, 1, MPI_COMM_WORLD, info);
      const long given = std::stol(info_value(window, "mpi_minimum_memory_alignment"));
      CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(window.data()) % std::size_t(given), 0UL);
      // Behind rank 0's, memory of a shared window lies where the others' sizes put it.
      if (flavor == Flavor::allocate || program.rank() == 0) CHECK(given >= asked);
    }
  }
}

/// All keys that MPI_Win_get_info reports.
std::vector<std::string> reported_keys(MPI_Win win) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Win_get_info(win, &info);
  int count = 0;
  MPI_Info_get_nkeys(info, &count);
  std::vector<std::string> keys;
  for (int index = 0; index < count; ++index) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    MPI_Info_get_nthkey(info, index, key.data());
    keys.emplace_back(key.data());
  }
  MPI_Info_free(&info);
  return keys;
}

/// Each has the paper's name and its abbreviation. Whichever the host's MPI_Info takes is
/// understood; one of them is reported: the paper's, where it fits.
void reorder_keys(const support::Program& program) {
  struct Key {
    const char* name;
    const char* abbreviation;
    const char* reported;
  };
  const Key keys[] = {
      {"MPI_WIN_ACCESS_AFTER_ACCESS_REORDER", "A_A_A_R", ORIEL_ACCESS_AFTER_ACCESS_REORDER},
      {"MPI_WIN_ACCESS_AFTER_EXPOSURE_REORDER", "A_A_E_R", ORIEL_ACCESS_AFTER_EXPOSURE_REORDER},
      {"MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER", "E_A_E_R", ORIEL_EXPOSURE_AFTER_EXPOSURE_REORDER},
      {"MPI_WIN_EXPOSURE_AFTER_ACCESS_REORDER", "E_A_A_R", ORIEL_EXPOSURE_AFTER_ACCESS_REORDER}};
  for (const Key& key : keys) {
    for (const char* name : {key.name, key.abbreviation}) {
      if (std::strlen(name) >= MPI_MAX_INFO_KEY) continue;
      Info on{{name, "1"}};
      Window<int> window(Flavor::allocate, 1, MPI_COMM_WORLD, on);
      CHECK_EQUAL(info_value(window, key.reported), std::string("1"));
      const std::vector<std::string> reported = reported_keys(window);
      for (const Key& other : keys) {
        const auto count = [&](const char* one) {
          return std::count(reported.begin(), reported.end(), one);
        };
        CHECK_EQUAL(count(other.reported), std::ptrdiff_t{1});
        CHECK_EQUAL(count(other.name) + count(other.abbreviation), std::ptrdiff_t{1});
      }
      use(window, program);
    }
  }
}

/// Reported as in effect (Q9), and not where every flush asks for all threads.
void thread_scope() {
  const Info thread{{ORIEL_WIN_SCOPE, "thread"}};
  Window<int> allocated(Flavor::allocate, 1, MPI_COMM_WORLD, thread);
  CHECK_EQUAL(info_value(allocated, ORIEL_WIN_SCOPE), std::string("thread"));
  MPI_Win own;
  MPI_Win_create_dynamic(thread, MPI_COMM_SELF, &own);
  CHECK_EQUAL(info_value(own, ORIEL_WIN_SCOPE), std::string("thread"));
  MPI_Win_free(&own);
  if (support::one_node()) return;
  MPI_Win all;
  MPI_Win_create_dynamic(thread, MPI_COMM_WORLD, &all);
  CHECK_EQUAL(info_value(all, ORIEL_WIN_SCOPE), std::string("process"));
  MPI_Win_set_info(all, thread);
  CHECK_EQUAL(info_value(all, ORIEL_WIN_SCOPE), std::string("process"));
  MPI_Win_free(&all);
}

void shared_contiguous(const support::Program& program) {
  int* mine = nullptr;
  MPI_Win win;
  const MPI_Aint bytes = static_cast<MPI_Aint>(sizeof(int)) * (program.rank() + 1);
  MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  std::fill_n(mine, program.rank() + 1, program.rank());
  MPI_Win_sync(win);
  barrier();
  MPI_Win_sync(win);
  const int* next = nullptr;
  for (int rank = 0; rank < program.size(); ++rank) {
    MPI_Aint size = 0;
    int unit = 0;
    int* base = nullptr;
    MPI_Win_shared_query(win, rank, &size, &unit, &base);
    CHECK_EQUAL(size, static_cast<MPI_Aint>(sizeof(int)) * (rank + 1));
    CHECK_EQUAL(unit, static_cast<int>(sizeof(int)));
    if (rank > 0) CHECK(base == next);
    next = base + rank + 1;
    for (int i = 0; i <= rank; ++i) CHECK_EQUAL(base[i], rank);
    if (rank == program.rank()) CHECK(base == mine);
  }
  barrier();
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

void shared_noncontiguous(const support::Program& program) {
  Info info{{"alloc_shared_noncontig", "true"}};
  Window<int> window(Flavor::shared, 3, MPI_COMM_WORLD, info);
  window[2] = program.rank();
  exchange_stores(window);
  for (int rank = 0; rank < program.size(); ++rank) {
    MPI_Aint size = 0;
    int unit = 0;
    int* base = nullptr;
    MPI_Win_shared_query(window, rank, &size, &unit, &base);
    CHECK(size >= static_cast<MPI_Aint>(3 * sizeof(int)));
    CHECK_EQUAL(base[2], rank);
  }
  barrier();
}

/// MPI-4.1: MPI_PROC_NULL asks for the lowest rank with memory.
void shared_query_proc_null(const support::Program& program) {
  int* mine = nullptr;
  MPI_Win win;
  const bool has = program.rank() == program.size() - 1;
  MPI_Win_allocate_shared(has ? 8 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  if (has) mine[1] = 77;
  exchange_stores(win);
  MPI_Aint size = 0;
  int unit = 0;
  int* base = nullptr;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &base);
  CHECK_EQUAL(size, MPI_Aint{8});
  CHECK_EQUAL(base[1], 77);
  barrier();
  MPI_Win_free(&win);
}

/// MPI-4.1: on other kinds of windows a rank's memory is either there or has size zero.
void shared_query_everywhere(const support::Program& program) {
  for (Flavor flavor : {Flavor::create, Flavor::allocate}) {
    Window<int> window(flavor, 2);
    window[1] = 500 + program.rank();
    exchange_stores(window);
    for (int rank = 0; rank < program.size(); ++rank) {
      MPI_Aint size = -1;
      int unit = -1;
      int* base = nullptr;
      MPI_Win_shared_query(window, rank, &size, &unit, &base);
      const bool mapped = flavor == Flavor::allocate && support::one_node();
      if (mapped || rank == program.rank()) CHECK(size == 8);
      if (size > 0) CHECK_EQUAL(base[1], 500 + rank);
    }
    barrier();
  }
}

/// MPI_PROC_NULL asks for the lowest rank with memory of whatever kind, also where this rank maps
/// another one's alone.
void shared_query_of_the_lowest(const support::Program& program) {
  const int lowest = program.size() > 2 ? 1 : 0;
  for (Flavor flavor : {Flavor::create, Flavor::allocate}) {
    Window<int> window(flavor, program.rank() < lowest ? 0 : 2);
    const auto query = [&](int rank) {
      MPI_Aint size = -1;
      int unit = -1;
      int* base = nullptr;
      MPI_Win_shared_query(window, rank, &size, &unit, &base);
      return std::pair(size, base);
    };
    CHECK(query(MPI_PROC_NULL) == query(lowest));
    barrier();
  }
}

void different_sizes_and_units(const support::Program& program, bool allocate) {
  const auto unit_of = [](int rank) { return 1 << (rank % 4); };
  const auto size_of = [](int rank) { return 16 * (rank + 1); };
  std::vector<std::uint8_t> memory(static_cast<std::size_t>(size_of(program.rank())));
  std::uint8_t* base = memory.data();
  MPI_Win win;
  if (allocate) {
    MPI_Win_allocate(size_of(program.rank()), unit_of(program.rank()), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    std::fill_n(base, size_of(program.rank()), std::uint8_t{0});
  } else {
    MPI_Win_create(base, size_of(program.rank()), unit_of(program.rank()), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
  }
  MPI_Win_fence(0, win);
  const auto mark = static_cast<std::uint8_t>(program.rank() + 1);
  // The last unit of the right neighbour's memory, then all of it but that.
  const int last = size_of(program.right()) / unit_of(program.right()) - 1;
  MPI_Put(&mark, 1, MPI_UINT8_T, program.right(), last, 1, MPI_UINT8_T, win);
  MPI_Win_fence(0, win);
  const int byte = size_of(program.rank()) - unit_of(program.rank());
  for (int i = 0; i < size_of(program.rank()); ++i) {
    CHECK_EQUAL(base[i], i == byte ? program.left() + 1 : 0);
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/// Even ranks alone have memory; then no rank has any.
void zero_sizes(Flavor flavor, const support::Program& program) {
  const int rank = program.rank();
  for (const bool some : {true, false}) {
    const auto count_of = [&](int of) { return some && of % 2 == 0 ? 1 : 0; };
    Window<int> window(flavor, static_cast<std::size_t>(count_of(rank)));
    const int there = count_of(program.right());
    MPI_Win_fence(0, window);
    MPI_Put(there == 0 ? nullptr : &rank, there, MPI_INT, program.right(), 0, there, MPI_INT,
            window);
    MPI_Win_fence(0, window);
    if (count_of(rank) == 1) CHECK_EQUAL(static_cast<int>(window[0]), program.left());
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
    MPI_Win_unlock(program.right(), window);
  }
}

std::size_t resident_pages(void* memory, std::size_t bytes) {
  std::vector<unsigned char> pages(bytes / support::page_bytes());
  CHECK_EQUAL(mincore(memory, bytes, pages.data()), 0);
  return static_cast<std::size_t>(
      std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; }));
}

/// The kernel places a page near the processor that touches it first, which has to be its rank's:
/// making the window touches none, nor did the window before that had the same memory.
void untouched(bool shared, bool contiguous, const support::Program& program) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  const Info info{{"alloc_shared_noncontig", contiguous ? "false" : "true"}};
  for (int i = 0; i < 2; ++i) {
    char* base = nullptr;
    MPI_Win win;
    const auto make = shared ? MPI_Win_allocate_shared : MPI_Win_allocate;
    make(bytes, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    barrier();
    CHECK_EQUAL(resident_pages(base, bytes), std::size_t{0});
    barrier();
    for (const std::size_t byte : {std::size_t{0}, bytes / 2, bytes - 1}) base[byte] = 1;
    CHECK(resident_pages(base, bytes) >= 3);
    MPI_Put(base, 1, MPI_CHAR, program.right(), bytes / 2, 1, MPI_CHAR, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
  }
}

void memory_from_alloc_mem(const support::Program& program) {
  int* memory = nullptr;
  MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
  MPI_Win win;
  // A part of the block, to see that the offset is kept.
  MPI_Win_create(memory + 3, 20, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  use(win, program, 4);
  CHECK_EQUAL(memory[7], 1000 + program.left());
  MPI_Win_free(&win);
  MPI_Free_mem(memory);
}

void self_communicator() {
  for (Flavor flavor : support::flavors()) {
    Window<int> window(flavor, 4, MPI_COMM_SELF);
    const int value = 9;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    CHECK_EQUAL(window[3], 9);
  }
}

void freed_communicator(Flavor flavor, const support::Program& program) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Window<int> window(flavor, 2, comm);
  MPI_Comm_free(&comm);
  use(window, program, 1);
}

/// On a rank alone, on half of the world, and on all of it; even ranks alone have memory. The
/// communicators are freed while the windows live.
void dynamic_on_communicators(const support::Program& program) {
  std::array<MPI_Comm, 3> comms;
  MPI_Comm_dup(MPI_COMM_SELF, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, program.rank() % 2, -program.rank(), &comms[1]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
  for (MPI_Comm& comm : comms) {
    int rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int right = (rank + 1) % size;
    const auto has_memory = [](int of) { return of % 2 == 0; };
    int value = -1;
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    if (has_memory(rank)) MPI_Win_attach(win, &value, sizeof value);
    MPI_Aint address = 0;
    MPI_Get_address(&value, &address);
    std::vector<MPI_Aint> addresses(static_cast<std::size_t>(size));
    MPI_Allgather(&address, 1, MPI_AINT, addresses.data(), 1, MPI_AINT, comm);
    MPI_Comm_free(&comm);
    MPI_Win_fence(0, win);
    if (has_memory(right)) {
      MPI_Put(&rank, 1, MPI_INT, right, addresses[static_cast<std::size_t>(right)], 1, MPI_INT,
              win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_EQUAL(value, has_memory(rank) ? (rank + size - 1) % size : -1);
    if (has_memory(rank)) MPI_Win_detach(win, &value);
    MPI_Win_free(&win);
  }
}

void dynamic_stays_usable(const support::Program& program) {
  MPI_Win win;
  int value = -1;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, &value, sizeof value);
  MPI_Aint address = 0;
  MPI_Get_address(&value, &address);
  MPI_Aint theirs = 0;
  MPI_Sendrecv(&address, 1, MPI_AINT, program.left(), 0, &theirs, 1, MPI_AINT, program.right(), 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  use(win, program, theirs);
  CHECK_EQUAL(value, 1000 + program.left());
  MPI_Win_detach(win, &value);
  MPI_Win_free(&win);
}

#if MPI_VERSION >= 4
void large_count_creation(const support::Program& program) {
  int* base = nullptr;
  MPI_Win win;
  MPI_Win_allocate_c(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  use(win, program, 1);
  MPI_Win_free(&win);
  int memory[2] = {0, 0};
  MPI_Win_create_c(memory, 8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  use(win, program, 1);
  MPI_Win_free(&win);
  if (!support::one_node()) return;
  MPI_Win_allocate_shared_c(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  use(win, program, 1);
  MPI_Aint size = 0, unit = 0;
  MPI_Win_shared_query_c(win, program.rank(), &size, &unit, &base);
  CHECK_EQUAL(size, MPI_Aint{8});
  CHECK_EQUAL(unit, MPI_Aint{4});
  MPI_Win_free(&win);
}
#endif

/// Each size alone is one, all of them together are not: an error everywhere, and no window.
void sizes_that_wrap(const support::Program& program) {
  if (program.size() == 1) return;
  const MPI_Aint size = std::numeric_limits<MPI_Aint>::max() / program.size() + 4096;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  void* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  const int code = MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  CHECK_EQUAL(support::class_name(support::error_class(code)), support::class_name(MPI_ERR_SIZE));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  for (Flavor flavor : support::flavors()) {
    program.test("attributes", [&] { attributes(flavor); });
    program.test("names and groups", [&] { names_and_groups(flavor); });
    program.test_unless_host("any", "hosts leave out keys that were not set", "info defaults",
                             [&] { info_defaults(flavor); });
    program.test_unless_host("any", "hosts drop some keys", "info changes",
                             [&] { info_changes(flavor, program); });
    program.test("zero sizes", [&] { zero_sizes(flavor, program); });
    program.test_unless_host("intel", "it needs the communicator", "freed communicator",
                             [&] { freed_communicator(flavor, program); });
  }
  // POSIX shared memory is backed with pages when the window is made.
  if (support::uses_memfd()) {
    constexpr const char* why = "some hosts touch the pages";
    program.test_unless_host("any", why, "untouched", [&] { untouched(false, false, program); });
    if (support::one_node()) {
      for (const bool contiguous : {true, false}) {
        program.test_unless_host("any", why, "untouched, shared",
                                 [&] { untouched(true, contiguous, program); });
      }
    }
  }
  program.test("keyvals", keyvals);
  program.test("error handlers", error_handlers);
  program.test_unless_host("any", "what a host checks is its own choice", "error handler by Oriel",
                           [&] { error_handler_called_by_oriel(program); });
  program.test_unless_host("any", "hosts drop some keys", "info round trip",
                           [&] { info_round_trip(program); });
  for (const bool by_update : {false, true}) {
    program.test_unless_host("any", "hosts take what comes", "info values that are none",
                             [&] { info_values_that_are_none(by_update); });
  }
  program.test_unless_host("any", "hosts drop some keys", "info values",
                           [&] { info_values(program); });
  program.test_unless_host("any", "Oriel's own keys", "reorder keys",
                           [&] { reorder_keys(program); });
  program.test_unless_host("any", "Oriel's own keys", "thread scope", thread_scope);
  if (support::one_node()) {
    program.test("shared contiguous", [&] { shared_contiguous(program); });
    program.test("shared noncontiguous", [&] { shared_noncontiguous(program); });
    program.test_unless_host("any", "some wrap", "more than an address can say",
                             [&] { sizes_that_wrap(program); });
    program.test("shared query of MPI_PROC_NULL", [&] { shared_query_proc_null(program); });
  }
  program.test_unless_host("any", "new in MPI-4.1", "shared query everywhere",
                           [&] { shared_query_everywhere(program); });
  program.test_unless_host("any", "new in MPI-4.1", "shared query of the lowest",
                           [&] { shared_query_of_the_lowest(program); });
  program.test("different sizes and units, create",
               [&] { different_sizes_and_units(program, false); });
  program.test("different sizes and units, allocate",
               [&] { different_sizes_and_units(program, true); });
  program.test("memory from MPI_Alloc_mem", [&] { memory_from_alloc_mem(program); });
  program.test("self communicator", self_communicator);
  program.test_unless_host("intel", "it needs the communicator", "dynamic on communicators",
                           [&] { dynamic_on_communicators(program); });
  program.test("dynamic stays usable", [&] { dynamic_stays_usable(program); });
#if MPI_VERSION >= 4
  program.test("large-count creation", [&] { large_count_creation(program); });
#endif
}
