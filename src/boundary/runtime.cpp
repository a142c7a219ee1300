// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/runtime.hpp"

#include <sched.h>

#include <utility>

#include "boundary/ops.hpp"
#include "boundary/progress.hpp"
#include "boundary/requests.hpp"
#include "core/settings.hpp"

namespace oriel::boundary {

Runtime runtime;

Engine::Engine(std::unique_ptr<ShmTransport> shm)
    : transport(std::move(shm)),
      process(*transport, transport->self(), generic_reduce()),
      spins(setting_int("ORIEL_SPIN")),
      yields(setting_int("ORIEL_YIELD")) {}

bool Runtime::start(std::string& error) {
  if (engine_ != nullptr) return true;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) {
    lock.enable();
    requests.enable_threads();
  }
  auto transport = ShmTransport::create(error);
  if (transport == nullptr) return false;
  datatypes.start();
  if (spare_flag_ == nullptr) take_spare_flag();
  engine_ = std::make_unique<Engine>(std::move(transport));
  datatypes.start();
  if (spare_flag_ == nullptr) take_spare_flag();
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  note_ranks_on_node(ranks);
  progress.start();
  return true;
}

void Runtime::stop() {
  engine_.reset();
  windows = WindowTable();
}

bool Runtime::disabled() {
  static const bool value = setting_bool("ORIEL_DISABLE");
  return value;
}

void Runtime::note_ranks_on_node(int ranks) {
  cpu_set_t processors;
  if (::sched_getaffinity(0, sizeof processors, &processors) != 0) return;
  if (ranks > CPU_COUNT(&processors)) engine_->oversubscribed = true;
}

void Runtime::take_spare_flag() {
  if (free_flags_.empty()) free_flags_.push_back(&flags_.emplace_back());
  spare_flag_ = free_flags_.back();
  free_flags_.pop_back();
  *spare_flag_ = Flag();
}

}  // namespace oriel::boundary

using namespace oriel::boundary;

// Delete callbacks on MPI_COMM_SELF run inside and may still free windows: the engine goes last.
ORIEL_EXPORT int MPI_Finalize() {
  progress.stop();
  const int code = PMPI_Finalize();
  runtime.stop();
  return code;
}
