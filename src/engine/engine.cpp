// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engine.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "core/base/settings.hpp"

namespace oriel {

namespace {

/// The number of ranks that the launcher has started on this node; zero: it does not say.
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

Running::Running(std::unique_ptr<ShmTransport> node, Host& of)
    : transports(std::move(node)),
      process(transports, transports.shm().self()),
      host(of),
      calls(transports.shm().calls(transports.shm().self())),
      spins(setting_int("ORIEL_SPIN")),
      yields(setting_int("ORIEL_YIELD")),
      launched_crowded(setting_bool("ORIEL_CROWDED") ||
                       launched_here() > ::sysconf(_SC_NPROCESSORS_ONLN)) {}

bool Engine::start(Host& host, int rank, std::string& error) {
  auto transport = ShmTransport::create(arena, error, rank);
  if (transport == nullptr) return false;
  line_keeper.start(transport->own_threads());
  running_.store(new Running(std::move(transport), host), std::memory_order_release);
  if (spare_flag_ == nullptr) take_spare_flag();
  return true;
}

std::unique_ptr<Running> Engine::stop() {
  line_keeper.stop();
  return std::unique_ptr<Running>(running_.exchange(nullptr, std::memory_order_relaxed));
}

void Engine::disown() {
  running_.store(nullptr, std::memory_order_relaxed);
  line_keeper.disown();
}

void Engine::serialize_threads() {
  lock.enable();
  request_lock.enable();
}

void Engine::take_spare_flag() {
  if (free_flags_.empty()) free_flags_.push_back(&flags_.emplace_back());
  spare_flag_ = free_flags_.back();
  free_flags_.pop_back();
  *spare_flag_ = Flag();
}

}  // namespace oriel
