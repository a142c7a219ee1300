// SPDX-License-Identifier: BSD-3-Clause
// G2, G8: a program that starts MPI by sessions only, without MPI_Init. Its windows come and go
// with its sessions.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/in_threads.hpp"
#include "support/notified.hpp"
#include "support/session.hpp"
#include "support/time_limit.hpp"
#include "support/window.hpp"
#include "support/windows.hpp"

namespace {

using support::Flavor;
using support::Window;

/// One session and a communicator of all processes.
class Session {
 public:
  Session() {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session_);
    comm_ = support::communicator_of_all(session_, "all");
  }
  ~Session() {
    MPI_Comm_free(&comm_);
    MPI_Session_finalize(&session_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    return rank;
  }
  int size() const {
    int size = 0;
    MPI_Comm_size(comm_, &size);
    return size;
  }

 private:
  MPI_Session session_ = MPI_SESSION_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Threads take memory before there is a window.
void memory_in_threads() {
  support::in_threads([](int) {
    for (int i = 0; i < 50; ++i) {
      int* memory = nullptr;
      MPI_Alloc_mem(sizeof(int), MPI_INFO_NULL, &memory);
      *memory = i;
      MPI_Free_mem(memory);
    }
  });
}

/// Fences, a request, and a datatype that has to be flattened.
void put_around(const Session& session) {
  constexpr int pairs = 3;
  const int rank = session.rank();
  const int right = (rank + 1) % session.size();
  const int left = (rank + session.size() - 1) % session.size();
  for (Flavor flavor : {Flavor::create, Flavor::allocate}) {
    Window<int> window(flavor, 2 * pairs, session.comm());
    MPI_Datatype every_second;
    MPI_Type_vector(pairs, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    const std::vector<int> values{10 * rank, 10 * rank + 1, 10 * rank + 2};
    MPI_Win_fence(0, window);
    MPI_Put(values.data(), pairs, MPI_INT, right, 0, 1, every_second, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < pairs; ++i) {
      CHECK_EQUAL(static_cast<int>(window[static_cast<std::size_t>(2 * i)]), 10 * left + i);
    }
    MPI_Type_free(&every_second);
    MPI_Request request;
    int got = -1;
    MPI_Win_lock_all(0, window);
    MPI_Rget(&got, 1, MPI_INT, right, 2, 1, MPI_INT, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    CHECK_EQUAL(got, 10 * rank + 1);
  }
}

/// Duplicates are made and freed in turn.
void duplicates(const Session& session) {
  if (std::getenv("ORIEL_TEST_HOST_ONLY") != nullptr) return;  // no host has them
  const support::Windows oriel;
  Window<int> window(Flavor::allocate, 1, session.comm());
  for (int i = 0; i < 3; ++i) {
    MPI_Win made = MPI_WIN_NULL;
    CHECK_EQUAL(oriel.Win_dup_with_info(window, MPI_INFO_NULL, &made), MPI_SUCCESS);
    MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, session.rank(), 0, made);
    CHECK_EQUAL(MPI_Win_unlock(session.rank(), made), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_free(&made), MPI_SUCCESS);
  }
}

/// The program has not freed a request of the last session: a wait for one of the host's is the
/// host's own.
void wait_after_leftover() {
  const support::Notified oriel;
  {
    const Session session;
    Window<int> window(Flavor::allocate, 1, session.comm());
    MPI_Request left = MPI_REQUEST_NULL;
    CHECK_EQUAL(oriel.Notify_init(window, MPI_ANY_SOURCE, 0, 1, &left), MPI_SUCCESS);
  }
  const Session session;
  int sent = 7;
  int received = 0;
  std::array<MPI_Request, 2> both{};
  MPI_Irecv(&received, 1, MPI_INT, session.rank(), 0, session.comm(), &both[0]);
  MPI_Isend(&sent, 1, MPI_INT, session.rank(), 0, session.comm(), &both[1]);
  for (MPI_Request& request : both) CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  CHECK_EQUAL(received, 7);
}

/// Attributes of the program's are as it has set them, though a key of its may have the number that
/// one of Oriel's had in an earlier session.
void attributes_after_session() {
  const auto use = [](const Session& session) {
    MPI_Comm_set_errhandler(session.comm(), MPI_ERRORS_ARE_FATAL);
    const Window<int> window(Flavor::allocate, 1, session.comm());
  };
  use(Session());
  const Session session;
  std::array<int, 8> keys{};
  for (int& key : keys) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(session.comm(), key, &key);
  }
  use(session);
  for (int& key : keys) {
    void* value = nullptr;
    int found = 0;
    MPI_Comm_get_attr(session.comm(), key, &value, &found);
    CHECK_EQUAL(found, 1);
    CHECK_EQUAL(value == &key, true);
    MPI_Comm_free_keyval(&key);
  }
}

int heard = 0;  // errors, by the handler below

void hear(MPI_Session*, int*, ...) {
  ++heard;
}

/// Where there is no MPI_COMM_SELF, an error that has neither a window nor a communicator goes to
/// the error handler of the session that was begun last and has not ended.
void wait_after_window() {
  if (std::getenv("ORIEL_TEST_HOST_ONLY") != nullptr) return;
  const support::Notified oriel;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Session_create_errhandler(hear, &handler);
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, handler, &session);
  MPI_Errhandler_free(&handler);
  MPI_Session ended = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &ended);
  MPI_Session_finalize(&ended);
  int world = 0;
  MPI_Initialized(&world);  // Intel MPI has it, and MPI_COMM_SELF, once there is a session
  for (const MPI_Comm host : {MPI_COMM_SELF, MPI_COMM_WORLD}) {
    if (world != 0) MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN);
  }
  MPI_Comm comm = support::communicator_of_all(session, "window");
  MPI_Request request = MPI_REQUEST_NULL;
  {
    Window<int> window(Flavor::allocate, 1, comm);
    CHECK_EQUAL(oriel.Notify_init(window, MPI_ANY_SOURCE, 0, 1, &request), MPI_SUCCESS);
    MPI_Start(&request);
  }
  heard = 0;
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  CHECK_EQUAL(heard, world != 0 ? 0 : 1);
  MPI_Request_free(&request);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

/// Takes processor time from all ranks until it goes, so that some are slow to read what others
/// have sent to them.
class Load {
 public:
  void begin() {
    for (std::jthread& thread : threads_) {
      thread = std::jthread([](const std::stop_token& end) {
        while (!end.stop_requested()) {
        }
      });
    }
  }

 private:
  std::array<std::jthread, 3> threads_;
};

/// Intel MPI and Open MPI cannot be started again after the last session, and MPICH only in a job
/// of one rank: of more, one time in four the ranks of two of its lives meet, and it ends.
bool can_start_again() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  const char* ranks = std::getenv("PMI_SIZE");
  return std::strstr(version, "MPICH") != nullptr && ranks != nullptr &&
         std::strcmp(ranks, "1") == 0;
}

}  // namespace

int main() {
  support::limit_time();
  for (int round = 0; round < 2 && can_start_again(); ++round) duplicates(Session());
  if (can_start_again()) {
    attributes_after_session();
    wait_after_leftover();
  }
  Load load;  // beyond the last session, whose end must not take what others have not read yet
  const Session first;
  for (int round = 0; round < 2; ++round) {
    const Session second;
    memory_in_threads();
    put_around(first);
    put_around(second);
    duplicates(second);
  }
  wait_after_window();
  load.begin();
  put_around(first);
  if (first.rank() == 0) std::printf("ok: 2 tests on %d ranks, 0 skipped\n", first.size());
}
