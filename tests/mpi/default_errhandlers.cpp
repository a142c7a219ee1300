// SPDX-License-Identifier: BSD-3-Clause
// G7: which communicator's error handler a host calls for an error of an object that has none, or
// of no object at all. test_default_errhandlers.py compares the host's answers with Oriel's.
//
//     default_errhandlers HANDLERS FIRST [LAST]
//
// sets error handlers on MPI_COMM_WORLD (w), MPI_COMM_SELF (s: one that returns, f:
// MPI_ERRORS_ARE_FATAL) and a duplicate of MPI_COMM_SELF (d), each named in HANDLERS, and makes the
// wrong calls from number FIRST to LAST. A line for each: the call, and the handlers that it
// called. A line without an end is that of a call that has ended the process.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

namespace {

template <char name>
void note(MPI_Comm* comm, int*, ...) {
  const char* of = *comm == MPI_COMM_WORLD ? "world" : *comm == MPI_COMM_SELF ? "self" : "another";
  std::printf(" %c of %s", name, of);
}

template <char name>
void set(MPI_Comm comm) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(&note<name>, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
}

struct Case {
  const char* name;
  std::function<void()> call;
};

MPI_Win null_window() {
  return MPI_WIN_NULL;
}

MPI_Comm null_communicator() {
  return MPI_COMM_NULL;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  MPI_Comm duplicate;
  MPI_Comm_dup(MPI_COMM_SELF, &duplicate);
  static int memory[4] = {};
  static int value = 1;
  void* base = nullptr;
  int number = 0;
  MPI_Win created, allocated, dynamic;
  MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
  MPI_Win_allocate(16, 4, MPI_INFO_NULL, duplicate, static_cast<void*>(&base), &allocated);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &dynamic);

  const char* handlers = argv[1];
  if (std::strchr(handlers, 'w') != nullptr) set<'w'>(MPI_COMM_WORLD);
  if (std::strchr(handlers, 's') != nullptr) set<'s'>(MPI_COMM_SELF);
  if (std::strchr(handlers, 'd') != nullptr) set<'d'>(duplicate);
  if (std::strchr(handlers, 'f') != nullptr)
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);

  const auto put = [](MPI_Win win) { MPI_Put(&value, 1, MPI_INT, 77, 0, 1, MPI_INT, win); };
  const auto create = [](MPI_Comm comm, MPI_Aint size) {
    MPI_Win made = MPI_WIN_NULL;
    MPI_Win_create(memory, size, 4, MPI_INFO_NULL, comm, &made);
  };
  const std::vector<Case> cases{
      {"a created window", [&] { put(created); }},
      {"no window", [&] { put(null_window()); }},
      {"a window on a duplicate of MPI_COMM_SELF", [&] { create(duplicate, -1); }},
#if MPI_VERSION >= 4
      {"a persistent collective without a communicator",
       [] {
         MPI_Request made = MPI_REQUEST_NULL;
         MPI_Bcast_init(&value, 1, MPI_INT, 0, null_communicator(), MPI_INFO_NULL, &made);
       }},
      {"a persistent collective on a duplicate of MPI_COMM_SELF",
       [&] {
         MPI_Request made = MPI_REQUEST_NULL;
         MPI_Bcast_init(&value, -1, MPI_INT, 0, duplicate, MPI_INFO_NULL, &made);
       }},
#endif
      {"a fence without a window", [] { MPI_Win_fence(0, null_window()); }},
      {"an attribute without a window",
       [&] { MPI_Win_get_attr(null_window(), MPI_WIN_BASE, &base, &number); }},
      {"a name without a window", [] { MPI_Win_set_name(null_window(), "none"); }},
      {"an error handler without a window",
       [] { MPI_Win_set_errhandler(null_window(), MPI_ERRORS_RETURN); }},
      {"MPI_Win_call_errhandler without a window",
       [] { MPI_Win_call_errhandler(null_window(), MPI_ERR_OTHER); }},
      {"MPI_Win_free without a window",
       [] {
         MPI_Win none = MPI_WIN_NULL;
         MPI_Win_free(&none);
       }},
      {"a window without a communicator", [&] { create(null_communicator(), 16); }},
      {"a window on MPI_COMM_WORLD", [&] { create(MPI_COMM_WORLD, -1); }},
      {"a window on MPI_COMM_SELF", [&] { create(MPI_COMM_SELF, -1); }},
      {"no place for a window",
       [&] { MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, nullptr); }},
      {"no place for memory", [] { MPI_Alloc_mem(64, MPI_INFO_NULL, nullptr); }},
      {"memory of a negative size",
       [&] { MPI_Alloc_mem(-1, MPI_INFO_NULL, static_cast<void*>(&base)); }},
      {"MPI_Wait without a place", [] { MPI_Wait(nullptr, MPI_STATUS_IGNORE); }},
      {"MPI_Waitall without a place", [] { MPI_Waitall(1, nullptr, MPI_STATUSES_IGNORE); }},
      {"MPI_Test without a flag",
       [] {
         MPI_Request none = MPI_REQUEST_NULL;
         MPI_Test(&none, nullptr, MPI_STATUS_IGNORE);
       }},
      {"MPI_Start without a place", [] { MPI_Start(nullptr); }},
      {"MPI_Start without a request",
       [] {
         MPI_Request none = MPI_REQUEST_NULL;
         MPI_Start(&none);
       }},
      {"MPI_Request_free without a request",
       [] {
         MPI_Request none = MPI_REQUEST_NULL;
         MPI_Request_free(&none);
       }},
      {"a key that is none",
       [] {
         int none = MPI_KEYVAL_INVALID;
         MPI_Win_free_keyval(&none);
       }},
      {"no error handler to free",
       [] {
         MPI_Errhandler none = MPI_ERRHANDLER_NULL;
         MPI_Errhandler_free(&none);
       }},
      // On Open MPI each of these ends the process.
      {"an allocated window", [&] { put(allocated); }},
      {"a dynamic window", [&] { put(dynamic); }},
      {"MPI_Win_call_errhandler", [&] { MPI_Win_call_errhandler(created, MPI_ERR_OTHER); }},
      {"an attribute without a key",
       [&] { MPI_Win_set_attr(created, MPI_KEYVAL_INVALID, nullptr); }},
      {"an error handler that is none",
       [&] { MPI_Win_set_errhandler(created, MPI_ERRHANDLER_NULL); }},
      {"no place for a group", [&] { MPI_Win_get_group(created, nullptr); }},
      {"no place for a request",
       [&] {
         MPI_Win_lock_all(0, created);
         MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, created, nullptr);
         MPI_Win_unlock_all(created);
       }},
  };
  const auto last = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : cases.size() - 1;
  for (auto i = std::strtoul(argv[2], nullptr, 10); i <= last; ++i) {
    std::printf("case %lu, %s:", i, cases[i].name);
    cases[i].call();
    std::printf(".\n");
  }
  std::printf("through\n");
  // Nothing is freed: an error has left windows in any state.
  std::_Exit(0);
}
