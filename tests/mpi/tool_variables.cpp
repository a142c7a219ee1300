// SPDX-License-Identifier: BSD-3-Clause
// B1: MPI_T has Oriel's variables behind the host's, and they count what the program does.
// `tool_variables list` is a tool that knows nothing of Oriel: it prints all variables.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/nonblocking.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/session.hpp"
#include "support/time_limit.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using Word = std::int64_t;
using Window = support::Window<Word>;
using Count = unsigned long long;

// Lists

/// The calls that list variables: the program's, or the host's own.
struct Lists {
  decltype(&MPI_T_cvar_get_num) cvars;
  decltype(&MPI_T_cvar_get_info) cvar;
  decltype(&MPI_T_pvar_get_num) pvars;
  decltype(&MPI_T_pvar_get_info) pvar;
  decltype(&MPI_T_category_get_num) categories;
  decltype(&MPI_T_category_get_info) category;
};

const Lists the_program{MPI_T_cvar_get_num,  MPI_T_cvar_get_info,    MPI_T_pvar_get_num,
                        MPI_T_pvar_get_info, MPI_T_category_get_num, MPI_T_category_get_info};

/// Finds the host's library by a call that Oriel does not take over.
Lists the_host() {
  Dl_info found{};
  CHECK(dladdr(dlsym(RTLD_DEFAULT, "PMPI_Get_processor_name"), &found) != 0);
  void* library = dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  CHECK(library != nullptr);
  Lists lists{};
  const auto find = [&](auto& call, const char* name) {
    call = reinterpret_cast<std::decay_t<decltype(call)>>(dlsym(library, name));
    CHECK(call != nullptr);
  };
  find(lists.cvars, "PMPI_T_cvar_get_num");
  find(lists.cvar, "PMPI_T_cvar_get_info");
  find(lists.pvars, "PMPI_T_pvar_get_num");
  find(lists.pvar, "PMPI_T_pvar_get_info");
  find(lists.categories, "PMPI_T_category_get_num");
  find(lists.category, "PMPI_T_category_get_info");
  return lists;
}

using Names = std::vector<std::string>;

template <typename GetName>
Names names(int (*get_number)(int*), GetName&& get_name) {
  int number = 0;
  get_number(&number);
  Names all;
  for (int i = 0; i < number; ++i) {
    std::array<char, 512> name{};
    int length = name.size();
    get_name(i, name.data(), &length);
    all.emplace_back(name.data());
  }
  return all;
}

struct AllNames {
  explicit AllNames(const Lists& lists)
      : cvars(names(lists.cvars,
                    [&](int i, char* name, int* length) {
                      lists.cvar(i, name, length, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 nullptr, nullptr);
                    })),
        pvars(names(lists.pvars,
                    [&](int i, char* name, int* length) {
                      lists.pvar(i, name, length, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 nullptr, nullptr, nullptr, nullptr, nullptr);
                    })),
        categories(names(lists.categories, [&](int i, char* name, int* length) {
          lists.category(i, name, length, nullptr, nullptr, nullptr, nullptr, nullptr);
        })) {}

  Names cvars;
  Names pvars;
  Names categories;
};

void print(const char* kind, const Names& all) {
  for (std::size_t i = 0; i < all.size(); ++i) std::printf("%s %zu %s\n", kind, i, all[i].c_str());
}

int list() {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  const AllNames all(the_program);
  print("cvar", all.cvars);
  print("pvar", all.pvars);
  print("category", all.categories);
  MPI_T_finalize();
  return 0;
}

bool is_own(const std::string& name) {
  return name.rfind("oriel", 0) == 0 || name.rfind("ORIEL_", 0) == 0;
}

/// `before`: of the same list, when MPI_T was started.
void check_list(const Names& before, const Names& now, const Names& host) {
  CHECK(now.size() >= before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!now[i].empty()) CHECK_EQUAL(now[i], before[i]);  // Open MPI drops some
  }
  CHECK(std::any_of(now.begin(), now.end(), is_own));
  Names without_own;
  std::copy_if(now.begin(), now.end(), std::back_inserter(without_own),
               [](const std::string& name) { return !is_own(name); });
  CHECK(without_own == host);
}

/// Indices do not change when MPI starts and Open MPI adds variables.
void the_hosts_lists(const AllNames& before) {
  const AllNames now(the_program);
  const AllNames host(the_host());
  check_list(before.cvars, now.cvars, host.cvars);
  check_list(before.pvars, now.pvars, host.pvars);
  check_list(before.categories, now.categories, host.categories);
}

/// One category lists all of Oriel's variables.
void category() {
  int index = -1;
  CHECK_EQUAL(MPI_T_category_get_index("oriel", &index), MPI_SUCCESS);
  int number = 0;
  MPI_T_category_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, &number, nullptr);
  std::vector<int> indices(static_cast<std::size_t>(number));
  CHECK_EQUAL(MPI_T_category_get_pvars(index, number, indices.data()), MPI_SUCCESS);
  const Names all = AllNames(the_program).pvars;
  for (const int i : indices) CHECK(is_own(all[static_cast<std::size_t>(i)]));
  CHECK_EQUAL(std::count_if(all.begin(), all.end(), is_own), number);
}

// Values

int index_of(const std::string& name, int variable_class) {
  int index = -1;
  CHECK_EQUAL(MPI_T_pvar_get_index(name.c_str(), variable_class, &index), MPI_SUCCESS);
  return index;
}

class Session {
 public:
  Session() { CHECK_EQUAL(MPI_T_pvar_session_create(&session_), MPI_SUCCESS); }
  ~Session() { MPI_T_pvar_session_free(&session_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  operator MPI_T_pvar_session() const { return session_; }

 private:
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
};

/// A handle in a session. T is the type of its values.
template <typename T>
class Variable {
 public:
  Variable(const Session& session, const std::string& name, int variable_class,
           void* object = nullptr)
      : session_(session) {
    int count = -1;
    CHECK_EQUAL(
        MPI_T_pvar_handle_alloc(session, index_of(name, variable_class), object, &handle_, &count),
        MPI_SUCCESS);
    CHECK_EQUAL(count, 1);
  }
  ~Variable() {
    MPI_T_pvar_handle_free(session_, &handle_);
    CHECK(handle_ == MPI_T_PVAR_HANDLE_NULL);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  MPI_T_pvar_handle handle() const { return handle_; }
  int start() const { return MPI_T_pvar_start(session_, handle_); }
  int stop() const { return MPI_T_pvar_stop(session_, handle_); }
  int reset() const { return MPI_T_pvar_reset(session_, handle_); }
  int write(T value) const { return MPI_T_pvar_write(session_, handle_, &value); }
  T read() const {
    T value{};
    CHECK_EQUAL(MPI_T_pvar_read(session_, handle_, &value), MPI_SUCCESS);
    return value;
  }

 private:
  const Session& session_;
  MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
};

struct Counter : Variable<Count> {
  Counter(const Session& session, const std::string& name, int variable_class)
      : Variable(session, name, variable_class) {
    CHECK_EQUAL(start(), MPI_SUCCESS);
  }
  Counter(const Session& session, const std::string& name)
      : Counter(session, name, MPI_T_PVAR_CLASS_COUNTER) {}
};

struct Level : Variable<Count> {
  Level(const Session& session, const std::string& name, void* object = nullptr)
      : Variable(session, name, MPI_T_PVAR_CLASS_LEVEL, object) {}
};

/// The protocol that an operation on the other rank counts as.
std::string protocol() {
  return support::one_node() ? "stored" : "message";
}

/// Rank 0 puts to rank 1 before that has posted, so by the general path, and completes by
/// `complete`. Rank 1 posts `seconds` after it has been told that the puts were issued.
template <typename Complete>
void put_before_post(MPI_Win window, int puts, double seconds, MPI_Comm comm, Complete&& complete) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group peer = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  const int other = 1 - rank;
  MPI_Group_incl(all, 1, &other, &peer);
  const Word value = 7;
  if (rank == 0) {
    MPI_Win_start(peer, 0, window);
    for (int i = 0; i < puts; ++i) MPI_Put(&value, 1, MPI_INT64_T, 1, i, 1, MPI_INT64_T, window);
    complete([&] { MPI_Send(nullptr, 0, MPI_INT, 1, 0, comm); });
  } else if (rank == 1) {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    usleep(static_cast<useconds_t>(seconds * 1e6));
    MPI_Win_post(peer, 0, window);
    MPI_Win_wait(window);
  }
  MPI_Group_free(&peer);
  MPI_Group_free(&all);
  MPI_Barrier(comm);
}

void put_before_post(MPI_Win window, int puts, MPI_Comm comm = MPI_COMM_WORLD, double seconds = 0) {
  put_before_post(window, puts, seconds, comm, [&](const auto& tell) {
    tell();
    MPI_Win_complete(window);
  });
}

void counters(const Program& program) {
  const Window window(Flavor::allocate, 16);
  const Session session;
  const Counter operations(session, "oriel_operations_" + protocol());
  const Counter others(session, "oriel_operations_rendezvous");
  const Counter bytes(session, "oriel_bytes_" + protocol(), MPI_T_PVAR_CLASS_AGGREGATE);
  const Counter epochs(session, "oriel_epochs_access");
  const Counter waits(session, "oriel_waits_complete");
  const Counter sweeps(session, "oriel_sweeps");
  const Variable<double> time(session, "oriel_wait_time_complete", MPI_T_PVAR_CLASS_TIMER);
  CHECK_EQUAL(time.start(), MPI_SUCCESS);
  const bool origin = program.rank() == 0;
  // To another node the puts have been sent ahead, and the call does not wait for the post.
  const int waits_expected = support::one_node() ? 1 : 0;
  // An origin that loses its processor for as long as the target is late does not wait.
  Count turns = 0;
  for (int waited = -1; waited < waits_expected && turns < 100; ++turns) {
    put_before_post(window, 10, MPI_COMM_WORLD, 0.1);
    waited = static_cast<int>(waits.read());
    MPI_Bcast(&waited, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  CHECK_EQUAL(operations.read(), origin ? 10 * turns : Count{0});
  CHECK_EQUAL(bytes.read(), origin ? 80 * turns : Count{0});
  CHECK_EQUAL(others.read(), Count{0});
  CHECK_EQUAL(epochs.read(), origin ? turns : Count{0});
  if (origin) CHECK(sweeps.read() > 0);  // the other one may find everything done
  CHECK_EQUAL(waits.read(), Count{origin && waits_expected == 1 ? 1u : 0u});
  CHECK((time.read() > 0) == (origin && waits_expected == 1) && time.read() < 100);
}

/// Another thread of rank 0 starts a handle while the rank waits for rank 1's post: the handle has
/// no time from before its start.
void a_handle_started_in_a_wait() {
  if (!support::one_node()) return;  // the call does not wait there
  using Clock = std::chrono::steady_clock;
  const Window window(Flavor::allocate, 1);
  const Session session;
  const Variable<double> whole(session, "oriel_wait_time_complete", MPI_T_PVAR_CLASS_TIMER);
  const Variable<double> part(session, "oriel_wait_time_complete", MPI_T_PVAR_CLASS_TIMER);
  CHECK_EQUAL(whole.start(), MPI_SUCCESS);
  constexpr double late = 0.2;
  put_before_post(window, 1, late, MPI_COMM_WORLD, [&](const auto& tell) {
    Clock::time_point started;
    std::thread tool([&] {
      usleep(static_cast<useconds_t>(late / 2 * 1e6));
      started = Clock::now();
      CHECK_EQUAL(part.start(), MPI_SUCCESS);
    });
    tell();
    MPI_Win_complete(window);
    tool.join();
    const double counted = part.read();
    CHECK(counted <= std::chrono::duration<double>(Clock::now() - started).count());
  });
}

void waits_for_a_late_rank(const Program& program) {
  const Window window(Flavor::allocate, 1);
  const Session session;
  const Counter waits(session, "oriel_waits_fence");
  MPI_Win_fence(0, window);
  CHECK_EQUAL(waits.reset(), MPI_SUCCESS);  // either rank may have been late
  // A rank that loses its processor for as long as the other one is late does not wait.
  int waited = 0;
  for (int turn = 0; waited == 0 && turn < 100; ++turn) {
    support::barrier();
    if (program.rank() == 1) usleep(100'000);
    MPI_Win_fence(0, window);
    waited = static_cast<int>(waits.read());
    MPI_Bcast(&waited, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  CHECK_EQUAL(waited, 1);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

void start_stop_and_reset(const Program& program) {
  const Window window(Flavor::allocate, 16);
  const Session session;
  const Variable<Count> puts(session, "oriel_operations_" + protocol(), MPI_T_PVAR_CLASS_COUNTER);
  const Count one = program.rank() == 0 ? 1 : 0;
  put_before_post(window, 1);
  CHECK_EQUAL(puts.read(), Count{0});  // it has not been started
  CHECK_EQUAL(puts.start(), MPI_SUCCESS);
  put_before_post(window, 2);
  CHECK_EQUAL(puts.start(), MPI_SUCCESS);  // which it is already
  CHECK_EQUAL(puts.read(), 2 * one);
  CHECK_EQUAL(puts.stop(), MPI_SUCCESS);
  put_before_post(window, 4);
  CHECK_EQUAL(puts.read(), 2 * one);
  CHECK_EQUAL(puts.start(), MPI_SUCCESS);
  put_before_post(window, 8);
  CHECK_EQUAL(puts.read(), 10 * one);
  Count value = 0;
  CHECK_EQUAL(MPI_T_pvar_readreset(session, puts.handle(), &value), MPI_SUCCESS);
  CHECK_EQUAL(value, 10 * one);
  CHECK_EQUAL(puts.read(), Count{0});
  CHECK_EQUAL(puts.write(100), MPI_SUCCESS);
  put_before_post(window, 1);
  CHECK_EQUAL(puts.read(), 100 + one);
}

void sessions_are_independent(const Program& program) {
  const Window window(Flavor::allocate, 16);
  const Session early;
  const Session late;
  const Counter first(early, "oriel_operations_" + protocol());
  const Variable<Count> unstarted(late, "oriel_bytes_" + protocol(), MPI_T_PVAR_CLASS_AGGREGATE);
  put_before_post(window, 3);
  const Counter second(late, "oriel_operations_" + protocol());
  put_before_post(window, 2);
  const Count one = program.rank() == 0 ? 1 : 0;
  CHECK_EQUAL(first.read(), 5 * one);
  CHECK_EQUAL(second.read(), 2 * one);
  CHECK_EQUAL(first.reset(), MPI_SUCCESS);
  CHECK_EQUAL(first.stop(), MPI_SUCCESS);
  CHECK_EQUAL(unstarted.start(), MPI_SUCCESS);
  put_before_post(window, 1);
  CHECK_EQUAL(first.read(), Count{0});
  CHECK_EQUAL(second.read(), 3 * one);
  CHECK_EQUAL(unstarted.read(), 8 * one);
}

#ifndef MPI_ABI_VERSION  // MPICH 5.0's library for the standard ABI crashes in these calls

void all_handles(const Program& program) {
  const Window window(Flavor::allocate, 16);
  const Session one;
  const Session other;
  const Variable<Count> puts(one, "oriel_operations_" + protocol(), MPI_T_PVAR_CLASS_COUNTER);
  const Variable<Count> bytes(one, "oriel_bytes_" + protocol(), MPI_T_PVAR_CLASS_AGGREGATE);
  const Variable<Count> others(other, "oriel_operations_" + protocol(), MPI_T_PVAR_CLASS_COUNTER);
  const Level windows(one, "oriel_windows");
  const Count one_put = program.rank() == 0 ? 1 : 0;
  CHECK_EQUAL(MPI_T_pvar_start(one, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  put_before_post(window, 1);
  CHECK_EQUAL(MPI_T_pvar_stop(one, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  put_before_post(window, 1);
  CHECK_EQUAL(puts.read(), one_put);
  CHECK_EQUAL(bytes.read(), 8 * one_put);
  CHECK_EQUAL(others.read(), Count{0});
  CHECK_EQUAL(MPI_T_pvar_reset(one, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  CHECK_EQUAL(puts.read(), Count{0});
  CHECK(windows.read() > 0);
}

#endif

void levels() {
  const support::Nonblocking nonblocking;
  const Session session;
  const Level windows(session, "oriel_windows");
  const Level memory(session, "oriel_shared_memory");
  const Level epochs(session, "oriel_pending_epochs");
  const Count windows_before = windows.read();
  const Count memory_before = memory.read();
  constexpr std::size_t words = 1 << 17;
  {
    const Window window(Flavor::allocate, words);
    const Window other(Flavor::allocate, 1);
    CHECK_EQUAL(windows.read(), windows_before + 2);
    CHECK(memory.read() >= memory_before + words * sizeof(Word));
    MPI_Win of_window = window;
    MPI_Win of_other = other;
    const Level own(session, "oriel_window_pending_epochs", &of_window);
    const Level others(session, "oriel_window_pending_epochs", &of_other);
    put_before_post(window, 1, 0, MPI_COMM_WORLD, [&](const auto& tell) {
      MPI_Request request = MPI_REQUEST_NULL;
      nonblocking.Win_icomplete(window, &request);
      CHECK_EQUAL(own.read(), Count{1});
      CHECK_EQUAL(others.read(), Count{0});
      CHECK_EQUAL(epochs.read(), Count{1});
      tell();
      support::wait(request);
    });
  }
  // Between nodes an epoch may wait for an answer after its request is complete.
  CHECK_EQUAL(epochs.read(), Count{0});
}

/// On a network that is often busy.
void delayed_packets(const Program& program) {
  const Window window(Flavor::allocate, 1);
  const Session session;
  const Counter delayed(session, "oriel_delayed_packets");
  const Word value = 1;
  while (delayed.read() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
    MPI_Put(&value, 1, MPI_INT64_T, program.right(), 0, 1, MPI_INT64_T, window);
    MPI_Win_unlock(program.right(), window);
  }
  support::barrier();
}

void kept_notifications(const Program& program) {
  const support::Notified notified;
  const Window window(Flavor::allocate, 4);
  MPI_Win of_window = window;
  const Session session;
  const Level kept(session, "oriel_window_kept_notifications", &of_window);
  const Level all(session, "oriel_kept_notifications");
  const Word value = 1;
  if (program.rank() == 1) {
    for (int tag = 0; tag < 3; ++tag) {
      notified.Put_notify(&value, 1, MPI_INT64_T, 0, tag, 1, MPI_INT64_T, window, tag);
    }
    MPI_Win_flush_all(window);
  }
  if (program.rank() == 0) {
    int flag = 0;
    const int none = 3;  // a probe that finds nothing takes notifications from the queue
    while (kept.read() != 3) notified.Notify_iprobe(window, 1, none, &flag, MPI_STATUS_IGNORE);
    CHECK_EQUAL(all.read(), Count{3});
    MPI_Request request = MPI_REQUEST_NULL;
    notified.Notify_init(window, 1, 1, 1, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    CHECK_EQUAL(kept.read(), Count{2});
  }
  support::barrier();
}

/// A session has handles of the host's variables, too. MPICH has no variables unless it is built
/// so.
void the_hosts_variables() {
  const Session session;
  int number = 0;
  MPI_T_pvar_get_num(&number);
  for (int i = 0; i < number; ++i) {
    std::array<char, 512> name{};
    int length = name.size();
    int binding = 0;
    const int known =
        MPI_T_pvar_get_info(i, name.data(), &length, nullptr, nullptr, nullptr, nullptr, nullptr,
                            nullptr, &binding, nullptr, nullptr, nullptr);
    if (known != MPI_SUCCESS || is_own(name.data()) || binding != MPI_T_BIND_NO_OBJECT) continue;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = 0;
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, i, nullptr, &handle, &count), MPI_SUCCESS);
    std::vector<double> values(static_cast<std::size_t>(std::max(count, 1)));
    CHECK_EQUAL(MPI_T_pvar_read(session, handle, values.data()), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
  }
}

void errors() {
  const Session session;
  const Session other;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int count = 0;
  int index = -1;
  CHECK_EQUAL(MPI_T_pvar_get_index("oriel_windows", MPI_T_PVAR_CLASS_COUNTER, &index),
              MPI_T_ERR_INVALID_NAME);
  CHECK_EQUAL(MPI_T_cvar_get_index("ORIEL_NOTHING", &index), MPI_T_ERR_INVALID_NAME);

  const Level level(session, "oriel_windows");
  CHECK_EQUAL(level.start(), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQUAL(level.stop(), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQUAL(level.reset(), MPI_T_ERR_PVAR_NO_WRITE);
  CHECK_EQUAL(level.write(1), MPI_T_ERR_PVAR_NO_WRITE);
  Count value = 0;
  CHECK_EQUAL(MPI_T_pvar_readreset(session, level.handle(), &value), MPI_T_ERR_PVAR_NO_WRITE);
  CHECK_EQUAL(MPI_T_pvar_read(other, level.handle(), &value), MPI_T_ERR_INVALID_HANDLE);
  MPI_T_pvar_handle of_another = level.handle();
  CHECK_EQUAL(MPI_T_pvar_handle_free(other, &of_another), MPI_T_ERR_INVALID_HANDLE);

  const int bound = index_of("oriel_window_pending_epochs", MPI_T_PVAR_CLASS_LEVEL);
  CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, bound, nullptr, &handle, &count), MPI_T_ERR_INVALID);
  MPI_Win none = MPI_WIN_NULL;
  CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, bound, &none, &handle, &count), MPI_T_ERR_INVALID);
  {
    const Window window(Flavor::allocate, 1);
    MPI_Win win = window;
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, bound, &win, &handle, &count), MPI_SUCCESS);
  }
  CHECK_EQUAL(MPI_T_pvar_read(session, handle, &value), MPI_T_ERR_INVALID_HANDLE);
  const Window later(Flavor::allocate, 1);  // which may have the handle of the one before
  CHECK_EQUAL(MPI_T_pvar_read(session, handle, &value), MPI_T_ERR_INVALID_HANDLE);
}

/// Each session has an engine of its own, which counts from 0; a handle goes on counting.
int sessions() {
  support::limit_time();
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  {
    const Session session;
    const Counter puts(session, "oriel_operations_stored");
    Count expected = 0;
    for (int round = 0; round < 3; ++round) {
      MPI_Session mpi = MPI_SESSION_NULL;
      MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &mpi);
      MPI_Comm comm = support::communicator_of_all(mpi, "tool variables");
      int rank = 0;
      MPI_Comm_rank(comm, &rank);
      {
        const Window window(Flavor::allocate, 4, comm, MPI_INFO_NULL);
        put_before_post(window, 3 - round, comm);
      }
      MPI_Comm_free(&comm);
      MPI_Session_finalize(&mpi);
      if (rank == 0) expected += static_cast<Count>(3 - round);
      CHECK_EQUAL(puts.read(), expected);
    }
  }
  MPI_T_finalize();
  std::puts("ok: sessions");
  return 0;
}

/// Calls run without the process lock by now: a tool must not call on a thread of its own.
int late_tool() {
  support::limit_time();
  MPI_Init(nullptr, nullptr);
  int provided = -1;
  {
    const Window window(Flavor::allocate, 4);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, int{MPI_THREAD_SINGLE});
    MPI_T_finalize();
  }
  MPI_Finalize();
  std::puts("ok: late tool");
  return 0;
}

/// The test starts the program with ORIEL_SPIN=12 and ORIEL_OFI_PROVIDER=tcp.
void settings() {
  const auto read = [](const char* name, auto* value) {
    int index = -1;
    CHECK_EQUAL(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    CHECK_EQUAL(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_cvar_read(handle, value), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_cvar_write(handle, value), MPI_T_ERR_CVAR_SET_NEVER);
    int scope = 0;
    MPI_T_cvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, &scope);
    CHECK_EQUAL(scope, int{MPI_T_SCOPE_READONLY});
    CHECK_EQUAL(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
    return count;
  };
  int number = -1;
  CHECK_EQUAL(read("ORIEL_SPIN", &number), 1);
  CHECK_EQUAL(number, 12);
  read("ORIEL_VM", &number);
  CHECK_EQUAL(number, 1);
  std::vector<char> text(65536);
  CHECK(read("ORIEL_OFI_PROVIDER", text.data()) >= 4);
  CHECK_EQUAL(std::string(text.data()), std::string("tcp"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "list") return list();
  if (argc == 2 && std::string(argv[1]) == "sessions") return sessions();
  if (argc == 2 && std::string(argv[1]) == "late") return late_tool();
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);  // one handle is read on another thread
  {
    const AllNames before(the_program);
    const Session session;
    const Counter sweeps(session, "oriel_sweeps");
    CHECK_EQUAL(sweeps.read(), Count{0});  // MPI has not been started
    {
      Program program(argc, argv);
      program.test("the host's lists", [&] { the_hosts_lists(before); });
      program.test("category", [&] { category(); });
      program.test("counters", [&] { counters(program); });
      program.test("waits for a late rank", [&] { waits_for_a_late_rank(program); });
      program.test("start, stop and reset", [&] { start_stop_and_reset(program); });
      program.test("sessions are independent", [&] { sessions_are_independent(program); });
#ifndef MPI_ABI_VERSION
      program.test("all handles", [&] { all_handles(program); });
#endif
      program.test("levels", [&] { levels(); });
      program.test("kept notifications", [&] { kept_notifications(program); });
      program.test("errors", [&] { errors(); });
      program.test("a handle started in a wait", [&] { a_handle_started_in_a_wait(); });
      if (std::getenv("ORIEL_TEST_FABRIC") != nullptr) {
        program.test("delayed packets", [&] { delayed_packets(program); });
      }
      if (std::getenv("ORIEL_SPIN") != nullptr) program.test("settings", [&] { settings(); });
      program.test("the host's variables", [&] { the_hosts_variables(); });
    }
    CHECK(sweeps.read() > 0);  // a handle keeps what it has counted when MPI has ended
  }
  MPI_T_finalize();
}
