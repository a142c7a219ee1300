// SPDX-License-Identifier: BSD-3-Clause
// The calls that begin and end MPI and MPI_T, the name of the library, and static objects.
#include <fcntl.h>
#include <oriel/oriel.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/settings.hpp"
#include "engine/record/records.hpp"
#include "mpi/host/host_library.hpp"
#include "mpi/host/host_mpi.hpp"
#include "mpi/mpi_t/tool_interface.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/startup/lifetime.hpp"
#include "transport/ofi/provider_settings.hpp"
#include "transport/shm/descriptors.hpp"

using namespace oriel::mpi;
using oriel::Guard;
using oriel::own_descriptor;
using oriel::run_folder;
using oriel::Running;

namespace {

/// Creates an empty file in the folder of this run, which python/oriel/hosts/load_report.py reads.
/// A missing folder (another machine's, a run that has ended) is no error.
void report(const char* step) {
  const char* folder = run_folder();
  if (folder == nullptr) return;
  const int directory = own_descriptor(::open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory < 0) return;
  const int file = own_descriptor(::openat(directory, step, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (file >= 0) ::close(file);
  ::close(directory);
}

[[gnu::constructor]] void report_loaded() {
  report("loaded");
}

bool mpi_started = false;

/// Runs at the end of the process. Reports a program that has started MPI by functions from the MPI
/// library's own handle (dlsym), which this library does not see.
[[gnu::destructor]] void report_mpi_passed_by() {
  int initialized = 0;
  if (run_folder() == nullptr || mpi_started || !host_loaded()) return;
  if (host_mpi().Initialized(&initialized) == MPI_SUCCESS && initialized != 0) report("passed by");
}

/// Reports to `oriel run` that a process with this library has started MPI. Two further reports are
/// automatic: when the loader initializes the library, and at the end of a process that has started
/// MPI without calling it. Does nothing without `oriel run`.
void report_mpi_started() {
  mpi_started = true;
  report("mpi");
}

/// The name of the library for the program. Programs look for the host's name anywhere in the text,
/// or at its begin, so Oriel's comes last.
std::string shown_version(std::string_view host) {
  if (const char* chosen = oriel::setting_text("ORIEL_LIBRARY_VERSION"); *chosen != '\0') {
    return chosen;
  }
  const bool in_lines = host.ends_with('\n');
  return std::string(host) + (in_lines ? "" : ", ") + "with Oriel " +
         std::to_string(ORIEL_VERSION_MAJOR) + '.' + std::to_string(ORIEL_VERSION_MINOR) + '.' +
         std::to_string(ORIEL_VERSION_PATCH) + (in_lines ? "\n" : "");
}

/// Called before the host starts. libfabric's provider psm3 may allow a process one endpoint, which
/// is the host's, and reads this variable when that is opened.
void allow_second_endpoint() {
  if (!runtime.disabled()) ::setenv("PSM3_MULTI_EP", "1", 0);
}

void limit_memory() {
  int ranks = 0;
  if (runtime.disabled() || host_mpi().Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS) return;
  oriel::limit_provider_memory(ranks);
}

void world_began() {
  limit_memory();
  runtime.note_thread_level();
  report_mpi_started();
}

}  // namespace

// MPI_Init may also grant MPI_THREAD_MULTIPLE: hosts have settings for that.
ORIEL_MPI_CALL(Init)(int* argc, char*** argv) {
  allow_second_endpoint();
  const int code = host_mpi().Init(argc, argv);
  if (code == MPI_SUCCESS) world_began();
  return code;
}

ORIEL_MPI_CALL(Init_thread)(int* argc, char*** argv, int required, int* provided) {
  allow_second_endpoint();
  const int code = host_mpi().Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) world_began();
  return code;
}

// If shown_version() does not fit into MPI_MAX_LIBRARY_VERSION_STRING bytes, the host's text is
// returned.
ORIEL_MPI_CALL(Get_library_version)(char* version, int* length) {
  const int code = host_mpi().Get_library_version(version, length);
  if (code != MPI_SUCCESS || runtime.disabled()) return code;
  const std::string shown = shown_version(version);
  if (shown.size() < MPI_MAX_LIBRARY_VERSION_STRING) {
    std::memcpy(version, shown.c_str(), shown.size() + 1);
    *length = static_cast<int>(shown.size());
  }
  return MPI_SUCCESS;
}

#if ORIEL_HOST_SESSIONS

// The thread level that a session was granted is unknown, so the locks are enabled.
ORIEL_MPI_CALL(Session_init)(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  allow_second_endpoint();
  const int code = host_mpi().Session_init(info, handler, session);
  if (code != MPI_SUCCESS) return code;
  engine.serialize_threads();
  lifetime.begin_session();
  add_session(*session);
  report_mpi_started();
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(Session_finalize)(MPI_Session* session) {
  if (session == nullptr) return host_mpi().Session_finalize(session);
  lifetime.disconnect_with_last_session();
  std::unique_ptr<Running> running = lifetime.before_session_ends();
  SessionEnd end(*session);
  const int code = host_mpi().Session_finalize(session);
  if (code == MPI_SUCCESS) {
    end.succeeded();
  } else {
    lifetime.begin_session();
  }
  lifetime.after_session_ended(std::move(running));
  return code;
}

#endif

ORIEL_MPI_CALL(Abort)(MPI_Comm comm, int errorcode) {
  lifetime.before_abort();
  return host_mpi().Abort(comm, errorcode);
}

ORIEL_MPI_CALL(Finalize)() {
  lifetime.disconnect();
  lifetime.before_world_ends();
  const int code = host_mpi().Finalize();
  lifetime.after_world_ended();
  return code;
}

// A tool may call MPI_T on a thread of its own while the program makes MPI calls, whatever thread
// level MPI has granted. If the program's calls already run without a lock, locks cannot be enabled
// any more: the tool is then granted MPI_THREAD_SINGLE.
ORIEL_MPI_CALL(T_init_thread)(int required, int* provided) {
  const int code = host_mpi().T_init_thread(required, provided);
  if (code != MPI_SUCCESS) return code;
  if (required != MPI_THREAD_SINGLE && !lifetime.serialize_threads()) {
    *provided = MPI_THREAD_SINGLE;
  }
  const Guard guard(engine.lock);
  tool_interface.begin();
  return MPI_SUCCESS;
}

ORIEL_MPI_CALL(T_finalize)() {
  const int code = host_mpi().T_finalize();
  if (code != MPI_SUCCESS) return code;
  const Guard guard(engine.lock);
  tool_interface.end();
  return MPI_SUCCESS;
}

// The destructors of this library's static objects, local ones included, never run: the objects
// live until the process ends. When one thread calls exit(), other threads continue, possibly
// within an MPI call, and a destructor would destroy the engine and its memory while they use it.
// The kernel frees everything that a process has. Agent, which must stop its thread at exit,
// registers that by on_exit(), because atexit() also calls this function.
//
// The compiler registers the destructor of each static object through this function. The library's
// own definition is not exported, so the host and the program keep the C library's.

extern "C" [[gnu::used, gnu::visibility("hidden")]] int __cxa_atexit(void (*)(void*), void*,
                                                                     void*) {
  return 0;
}
