// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/errors.hpp"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace oriel::boundary {
namespace {

// Hosts have space for some thousands of user-defined codes; the same sentence uses the same code,
// and a program that makes ever new ones gets the bare class after this many.
constexpr std::size_t most_codes = 512;

std::string name_of(MPI_Win window) {
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name{};
  int length = 0;
  if (PMPI_Win_get_name(window, name.data(), &length) != MPI_SUCCESS || length == 0) {
    return "an unnamed window";
  }
  return "window " + std::string(name.data(), static_cast<std::size_t>(length));
}

#if ORIEL_HOST_SESSIONS
std::atomic<MPI_Session> last_session{MPI_SESSION_NULL};

void raise_in_session(int code) {
  const MPI_Session session = last_session.load(std::memory_order_acquire);
  if (session != MPI_SESSION_NULL) PMPI_Session_call_errhandler(session, code);
}
#else
void raise_in_session(int) {}
#endif

}  // namespace

#if ORIEL_HOST_SESSIONS
void note_session(MPI_Session session) {
  last_session.store(session, std::memory_order_release);
}
#endif

bool world_exists() {
  int initialized = 0;
  int finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
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
    if (PMPI_Add_error_class(&made) != MPI_SUCCESS) return MPI_ERR_OTHER;
    PMPI_Add_error_string(made, "A notification counter that is not there.");
    return made;
  }();
  return added;
#endif
}

int error_code(int error_class, const std::string& sentence) {
  static std::mutex mutex;
  static std::map<std::pair<int, std::string>, int> codes;
  const std::lock_guard guard(mutex);
  const auto known = codes.find({error_class, sentence});
  if (known != codes.end()) return known->second;
  int code = error_class;
  if (codes.size() >= most_codes) return code;
  if (PMPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  PMPI_Add_error_string(code, sentence.substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
  codes.emplace(std::pair(error_class, sentence), code);
  return code;
}

int raise(MPI_Win window, const char* call, const Failure& failure) {
  const std::string sentence =
      std::string(call) + " on " + name_of(window) + ": " + failure.reason + ".";
  const int code = error_code(failure.error_class, sentence);
  PMPI_Win_call_errhandler(window, code);
  return code;
}

int raise(MPI_Comm communicator, const char* call, int error_class, const std::string& reason) {
  const int code = error_code(error_class, std::string(call) + ": " + reason + ".");
  if (communicator == MPI_COMM_SELF && !world_exists()) {
    raise_in_session(code);
  } else {
    PMPI_Comm_call_errhandler(communicator, code);
  }
  return code;
}

}  // namespace oriel::boundary
