// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/host/errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mpi/host/communicator_mark.hpp"
#include "mpi/host/host_mpi.hpp"

namespace oriel::mpi {
namespace {

/// True if the host prints the sentence when the error ends the program. MPICH 4.0 does not.
bool host_prints(int code, const std::string& sentence) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  return host_mpi().Error_string(code, text.data(), &length) == MPI_SUCCESS &&
         std::string(text.data()).find(sentence) != std::string::npos;
}

/// Prints the sentence of the code if this handler ends the program and the host does not print it.
void print_if_fatal(MPI_Errhandler handler, int code) {
  const std::string sentence = ends_program(handler) ? sentence_of(code) : std::string();
  if (!sentence.empty() && !host_prints(code, sentence)) {
    std::fprintf(stderr, "oriel: %s\n", sentence.c_str());
  }
}

/// Calls the error handler of an object, by call(). get(&handler) stores a reference to the
/// handler.
template <typename Get, typename Call>
void call_handler(int code, Get&& get, Call&& call) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  get(&handler);
  print_if_fatal(handler, code);
  if (handler != MPI_ERRHANDLER_NULL) host_mpi().Errhandler_free(&handler);
  call();
}

#if ORIEL_HOST_SESSIONS
std::mutex sessions_mutex;
std::vector<MPI_Session> sessions;  // that the program has begun and not ended, in this order

void raise_in_session(int code) {
  MPI_Session session = MPI_SESSION_NULL;
  {
    const std::lock_guard guard(sessions_mutex);
    if (sessions.empty()) return;
    session = sessions.back();
  }
  call_handler(
      code, [&](MPI_Errhandler* handler) { host_mpi().Session_get_errhandler(session, handler); },
      [&] { host_mpi().Session_call_errhandler(session, code); });
}
#else
void raise_in_session(int) {}
#endif

#if ORIEL_HOST_DEFAULT_ERRHANDLERS
// Marks communicators to which the program has given MPI_ERRORS_ARE_FATAL.
// MPI_Comm_get_errhandler returns this handler for a communicator without an error handler, too.
CommunicatorMark made_fatal;

bool has_errhandler(MPI_Comm communicator) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  host_mpi().Comm_get_errhandler(communicator, &handler);
  const bool may_be_none = handler == MPI_ERRORS_ARE_FATAL;
  if (handler != MPI_ERRHANDLER_NULL) host_mpi().Errhandler_free(&handler);
  return !may_be_none || made_fatal.is_set(communicator);
}

/// True if the host uses the error handler of MPI_COMM_SELF for errors of no object: MPICH from 4.2
/// on (MPI-4). Earlier versions of MPICH, and Intel MPI, use that of MPI_COMM_WORLD.
bool asks_comm_self() {
  static const bool asks = mpich_version() >= std::pair(4, 2);  // false if there is none
  return asks;
}
#endif

// The maximal number of codes. Hosts have space for some thousands of user-defined codes. Each
// sentence has one code, and after this many sentences a new one gets only its class.
constexpr std::size_t most_codes = 512;

/// Oriel's codes and their sentences, in both directions.
struct Codes {
  std::mutex mutex;
  std::map<std::pair<int, std::string>, int> by_sentence;
  std::map<int, std::string> by_code;
};

Codes& codes() {
  static Codes all;
  return all;
}

}  // namespace

#if ORIEL_HOST_SESSIONS
void add_session(MPI_Session session) {
  const std::lock_guard guard(sessions_mutex);
  sessions.push_back(session);
}

SessionEnd::SessionEnd(MPI_Session session) : session_(session) {
  const std::lock_guard guard(sessions_mutex);
  const auto found = std::ranges::find(sessions, session);
  if (found == sessions.end()) return;
  position_ = static_cast<std::size_t>(found - sessions.begin());
  sessions.erase(found);
}

SessionEnd::~SessionEnd() {
  if (position_ == nowhere) return;
  const std::lock_guard guard(sessions_mutex);
  const std::size_t position = std::min(position_, sessions.size());
  sessions.insert(sessions.begin() + static_cast<std::ptrdiff_t>(position), session_);
}
#endif

#if ORIEL_HOST_DEFAULT_ERRHANDLERS
MPI_Comm errhandler_owner(MPI_Comm communicator) {
  if (communicator != MPI_COMM_NULL && has_errhandler(communicator)) return communicator;
  return asks_comm_self() && has_errhandler(MPI_COMM_SELF) ? MPI_COMM_SELF : MPI_COMM_WORLD;
}

void set_errhandler(MPI_Comm communicator, MPI_Errhandler handler) {
  host_mpi().Comm_set_errhandler(communicator, handler);
}
#else
MPI_Comm errhandler_owner(MPI_Comm communicator) {
  return communicator != MPI_COMM_NULL ? communicator : MPI_COMM_WORLD;
}

void set_errhandler(MPI_Comm communicator, MPI_Errhandler handler) {
  host_mpi().Comm_set_errhandler(communicator, handler);
}
#endif

bool ends_program(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

bool throws_exception([[maybe_unused]] MPI_Errhandler handler) {
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
  return handler == MPIR_ERRORS_THROW_EXCEPTIONS;
#else
  return false;
#endif
}

bool world_exists() {
  int initialized = 0;
  int finalized = 0;
  host_mpi().Initialized(&initialized);
  host_mpi().Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

Failure said(int error_class, std::string sentence) {
  static thread_local std::string reason;
  reason = std::move(sentence);
  return {error_class, reason.c_str()};
}

int error_class(Error error) {
  switch (error) {
    case Error::none:
      return MPI_SUCCESS;
    case Error::rank:
      return MPI_ERR_RANK;
    case Error::displacement:
      return MPI_ERR_DISP;
    case Error::range:
      return MPI_ERR_RMA_RANGE;
    case Error::sync:
      return MPI_ERR_RMA_SYNC;
    case Error::attach:
      return MPI_ERR_RMA_ATTACH;
    case Error::base:
      return MPI_ERR_BASE;
    case Error::operation:
      return MPI_ERR_OP;
    case Error::argument:
      return MPI_ERR_ARG;
    case Error::memory:
      return MPI_ERR_NO_MEM;
    case Error::size:
      return MPI_ERR_SIZE;
    case Error::not_shared:
      return MPI_ERR_RMA_SHARED;
    case Error::peer_lost:
    case Error::system:
      break;
  }
  return MPI_ERR_OTHER;
}

int err_rma_notification() {
#ifdef MPI_ERR_RMA_NOTIFICATION
  return MPI_ERR_RMA_NOTIFICATION;
#else
  static const int added = []() -> int {
    int made = MPI_ERR_OTHER;
    if (host_mpi().Add_error_class(&made) != MPI_SUCCESS) return MPI_ERR_OTHER;
    host_mpi().Add_error_string(made, "A notification counter that is not there.");
    return made;
  }();
  return added;
#endif
}

void call_errhandler(MPI_Comm communicator, int code) {
  const bool world = world_exists();
  if (communicator == MPI_COMM_NULL && !world) return raise_in_session(code);
  call_own_errhandler(world ? errhandler_owner(communicator) : communicator, code);
}

void call_own_errhandler(MPI_Comm communicator, int code) {
  call_handler(
      code, [&](MPI_Errhandler* handler) { host_mpi().Comm_get_errhandler(communicator, handler); },
      [&] { host_mpi().Comm_call_errhandler(communicator, code); });
}

void call_host_errhandler(MPI_Win window, int code) {
  call_handler(
      code, [&](MPI_Errhandler* handler) { host_mpi().Win_get_errhandler(window, handler); },
      [&] { host_mpi().Win_call_errhandler(window, code); });
}

std::string host_window_name(MPI_Win window) {
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name{};
  int length = 0;
  if (host_mpi().Win_get_name(window, name.data(), &length) != MPI_SUCCESS) return "";
  return {name.data(), static_cast<std::size_t>(length)};
}

int raise(MPI_Comm communicator, const char* call, int error_class, const std::string& reason) {
  const int code = error_code(error_class, std::string(call) + ": " + reason + ".");
  call_errhandler(communicator, code);
  return code;
}

std::string sentence_of(int code) {
  Codes& all = codes();
  const std::lock_guard guard(all.mutex);
  const auto known = all.by_code.find(code);
  return known != all.by_code.end() ? known->second : std::string();
}

int error_code(int error_class, const std::string& sentence) {
  Codes& all = codes();
  {
    const std::lock_guard guard(all.mutex);
    const auto known = all.by_sentence.find({error_class, sentence});
    if (known != all.by_sentence.end()) return known->second;
    if (all.by_sentence.size() >= most_codes) return error_class;
  }
  // Without the mutex, because a host without free codes calls an error handler of the program.
  int code = error_class;
  if (host_mpi().Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  const std::string text = sentence.substr(0, MPI_MAX_ERROR_STRING - 1);
  host_mpi().Add_error_string(code, text.c_str());
  const std::lock_guard guard(all.mutex);
  all.by_sentence.emplace(std::pair(error_class, sentence), code);
  all.by_code.emplace(code, text);
  return code;
}

}  // namespace oriel::mpi

using namespace oriel::mpi;

ORIEL_MPI_CALL(Error_string)(int code, char* text, int* length) {
  const std::string sentence = sentence_of(code);
  if (sentence.empty() || text == nullptr || length == nullptr) {
    return host_mpi().Error_string(code, text, length);
  }
  std::memcpy(text, sentence.c_str(), sentence.size() + 1);
  *length = static_cast<int>(sentence.size());
  return MPI_SUCCESS;
}

#if ORIEL_HOST_DEFAULT_ERRHANDLERS
ORIEL_MPI_CALL(Comm_set_errhandler)(MPI_Comm comm, MPI_Errhandler errhandler) {
  const int code = host_mpi().Comm_set_errhandler(comm, errhandler);
  if (code == MPI_SUCCESS && comm != MPI_COMM_NULL && errhandler == MPI_ERRORS_ARE_FATAL) {
    made_fatal.set(comm);
  }
  return code;
}
#endif
