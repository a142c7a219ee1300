// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "boundary/agent.hpp"
#include "boundary/ops.hpp"
#include "boundary/progress.hpp"
#include "boundary/requests.hpp"
#include "core/settings.hpp"

namespace oriel::boundary {

Runtime runtime;

namespace {

/// How many ranks the launcher says it has started on this node; zero if it says nothing.
long launched_here() {
  // Hydra (MPICH, Intel MPI), prterun (Open MPI), MVAPICH's launcher.
  constexpr std::array names{"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "MV2_COMM_WORLD_LOCAL_SIZE"};
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) return std::strtol(value, nullptr, 10);
  }
  return 0;
}

}  // namespace

Engine::Engine(std::unique_ptr<ShmTransport> node)
    : routes(std::move(node)),
      process(routes, routes.node().self(), generic_reduce(),
              &routes.node().board(routes.node().self())),
      spins(setting_int("ORIEL_SPIN")),
      yields(setting_int("ORIEL_YIELD")),
      launched_crowded(setting_bool("ORIEL_CROWDED") ||
                       launched_here() > ::sysconf(_SC_NPROCESSORS_ONLN)) {}

void Runtime::note_thread_level() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) serialize_threads();
}

void Runtime::serialize_threads() {
  lock.enable();
  requests.enable_threads();
}

bool Runtime::start(std::string& error) {
  const std::lock_guard alone(starting_);
  if (engine_ != nullptr) return true;
  if (!self.start()) {
    error = "MPI has not been started";
    return false;
  }
  progress.start();
  auto transport = ShmTransport::create(error);
  if (transport == nullptr) return false;
  engine_ = std::make_unique<Engine>(std::move(transport));
  datatypes.start(self);
  if (spare_flag_ == nullptr) take_spare_flag();
  return true;
}

void Runtime::stop() {
  engine_.reset();
  windows = WindowTable();
  datatypes = Datatypes();
}

bool Runtime::disabled() {
  static const bool value = setting_bool("ORIEL_DISABLE");
  return value;
}

void Runtime::take_spare_flag() {
  if (free_flags_.empty()) free_flags_.push_back(&flags_.emplace_back());
  spare_flag_ = free_flags_.back();
  free_flags_.pop_back();
  *spare_flag_ = Flag();
}

}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) runtime.note_thread_level();
  return code;
}

#if ORIEL_HOST_SESSIONS

// Which level a session has been granted is nobody's guess.
ORIEL_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  const int code = PMPI_Session_init(info, handler, session);
  if (code == MPI_SUCCESS) runtime.serialize_threads();
  return code;
}

// Where there is no MPI_Finalize, the end of a session when no window is left has its part. Another
// window makes a new engine.
ORIEL_EXPORT int MPI_Session_finalize(MPI_Session* session) {
  if (runtime.engine() != nullptr && runtime.engine()->windows.empty()) {
    agent.stop();
    progress.stop();
    runtime.stop();
    runtime.self.stop();
  }
  return PMPI_Session_finalize(session);
}

#endif

// Delete callbacks on MPI_COMM_SELF run inside and may still free windows: the engine goes last.
ORIEL_EXPORT int MPI_Finalize() {
  agent.stop();
  progress.stop();
  const int code = PMPI_Finalize();
  runtime.stop();
  runtime.self = SelfComm();
  return code;
}
