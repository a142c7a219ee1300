// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/errors.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "boundary/host/host_mpi.hpp"

namespace oriel::boundary {
namespace {

// Hosts have space for some thousands of user-defined codes; the same sentence uses the same code,
// and a program that makes ever new ones gets the bare class after this many.
constexpr std::size_t most_codes = 512;

/// The codes of ours and their sentences, each way.
struct Codes {
  std::mutex mutex;
  std::map<std::pair<int, std::string>, int> by_sentence;
  std::map<int, std::string> by_code;
};

Codes& codes() {
  static Codes all;
  return all;
}

/// Empty: no code of ours.
std::string sentence_of(int code) {
  Codes& all = codes();
  const std::lock_guard guard(all.mutex);
  const auto known = all.by_code.find(code);
  return known != all.by_code.end() ? known->second : std::string();
}

/// Whether the host tells the sentence where an error ends the program. MPICH 4.0 tells another one
/// for codes that belong to MPI's own classes.
bool told_by_host(int code, const std::string& sentence) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  return host_mpi().Error_string(code, text.data(), &length) == MPI_SUCCESS &&
         std::string(text.data()).find(sentence) != std::string::npos;
}

/// Tells what the host would not, if this handler ends the program. Takes the handler, and frees
/// it.
void tell_before_the_end(MPI_Errhandler handler, int code) {
  bool ends = handler == MPI_ERRORS_ARE_FATAL;
#ifdef MPI_ERRORS_ABORT
  ends = ends || handler == MPI_ERRORS_ABORT;
#endif
  const std::string sentence = ends ? sentence_of(code) : std::string();
  if (!sentence.empty() && !told_by_host(code, sentence)) {
    std::fprintf(stderr, "oriel: %s\n", sentence.c_str());
  }
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
}

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
  if (session == MPI_SESSION_NULL) return;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Session_get_errhandler(session, &handler);
  tell_before_the_end(handler, code);
  PMPI_Session_call_errhandler(session, code);
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
  Codes& all = codes();
  const std::lock_guard guard(all.mutex);
  const auto known = all.by_sentence.find({error_class, sentence});
  if (known != all.by_sentence.end()) return known->second;
  int code = error_class;
  if (all.by_sentence.size() >= most_codes) return code;
  if (PMPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  const std::string text = sentence.substr(0, MPI_MAX_ERROR_STRING - 1);
  PMPI_Add_error_string(code, text.c_str());
  all.by_sentence.emplace(std::pair(error_class, sentence), code);
  all.by_code.emplace(code, text);
  return code;
}

int raise(MPI_Win window, const char* call, const Failure& failure) {
  const std::string sentence =
      std::string(call) + " on " + name_of(window) + ": " + failure.reason + ".";
  const int code = error_code(failure.error_class, sentence);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Win_get_errhandler(window, &handler);
  tell_before_the_end(handler, code);
  PMPI_Win_call_errhandler(window, code);
  return code;
}

int raise(MPI_Comm communicator, const char* call, int error_class, const std::string& reason) {
  const int code = error_code(error_class, std::string(call) + ": " + reason + ".");
  if (communicator == MPI_COMM_SELF && !world_exists()) {
    raise_in_session(code);
  } else {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(communicator, &handler);
    tell_before_the_end(handler, code);
    PMPI_Comm_call_errhandler(communicator, code);
  }
  return code;
}

}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_MPI_CALL(Error_string)(int code, char* text, int* length) {
  const std::string sentence = sentence_of(code);
  if (sentence.empty() || text == nullptr || length == nullptr) {
    return host_mpi().Error_string(code, text, length);
  }
  std::memcpy(text, sentence.c_str(), sentence.size() + 1);
  *length = static_cast<int>(sentence.size());
  return MPI_SUCCESS;
}
