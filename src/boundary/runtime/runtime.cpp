// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime/runtime.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "core/base/settings.hpp"

namespace oriel::boundary {

Runtime runtime;

namespace {

/// How many ranks the launcher says it has started on this node; zero if it says nothing.
long launched_here() {
  // Hydra (MPICH, Intel MPI), prterun (Open MPI), MVAPICH's launcher.
  constexpr std::array names{"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "MV2_COMM_WORLD_LOCAL_SIZE"};
  for (const char* name : names) {
    if (const char* value = ::secure_getenv(name)) return std::strtol(value, nullptr, 10);
  }
  return 0;
}

}  // namespace

Engine::Engine(std::unique_ptr<ShmTransport> node)
    : transports(std::move(node)),
      process(transports, transports.shm().self()),
      calls(transports.shm().calls(transports.shm().self())),
      spins(setting_int("ORIEL_SPIN")),
      yields(setting_int("ORIEL_YIELD")),
      launched_crowded(setting_bool("ORIEL_CROWDED") ||
                       launched_here() > ::sysconf(_SC_NPROCESSORS_ONLN)),
      launched_alone(launched_here() == 1) {}

void Runtime::note_thread_level() {
  int started = 0;
  int level = MPI_THREAD_SINGLE;
  PMPI_Initialized(&started);
  if (started) PMPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) serialize_threads();
}

void Runtime::serialize_threads() {
  lock.enable();
  request_lock.enable();
}

bool Runtime::start(std::string& error) {
  if (!self.start()) {
    error = "MPI has not been started";
    return false;
  }
  note_thread_level();  // MPI may have been started before our names were the program's
  int rank = -1;
  if (world_exists()) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto transport = ShmTransport::create(arena, error, rank);
  if (transport == nullptr) return false;
  line_keeper.start(transport->own_threads());
  engine_.store(new Engine(std::move(transport)), std::memory_order_release);
  datatypes.start(self, lock);
  if (spare_flag_ == nullptr) take_spare_flag();
  return true;
}

std::unique_ptr<Engine> Runtime::stop() {
  line_keeper.stop();
  std::unique_ptr<Engine> engine(engine_.exchange(nullptr, std::memory_order_relaxed));
  windows.clear();
  datatypes.stop();
  self.stop();
  return engine;
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

void take_host_turn() {
  static thread_local std::uint32_t reported = 0;
  const auto hot_calls = static_cast<std::uint32_t>(steps_of_calls / one_hot_call);
  if (Engine* engine = runtime.engine(); engine != nullptr) {
    engine->calls.add_hot(hot_calls - reported);
  }
  reported = hot_calls;
  runtime.self.advance_host();
}

void sweep_beside_others() {
  static thread_local unsigned calls = 0;
  static thread_local std::uint64_t seen = 0;
  Engine& engine = *runtime.engine();
  const Process& process = engine.process;
  const bool others_sweep = runtime.lock.enabled() && process.sweeps() != seen;
  const bool only_looks = engine.transports.network() != nullptr && !process.expects();
  if ((others_sweep || only_looks) && ++calls % calls_per_look != 0) {
    seen = process.sweeps();
    return;
  }
  if (const TryGuard guard{runtime.lock}) sweep_pending();
  seen = process.sweeps();
}

}  // namespace oriel::boundary
