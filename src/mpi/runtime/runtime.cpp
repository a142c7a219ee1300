// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/runtime/runtime.hpp"

#include "core/base/settings.hpp"
#include "mpi/host/host_mpi.hpp"
#include "transport/ofi/ofi_networks.hpp"

namespace oriel::mpi {

Engine engine;
Runtime runtime;

void Runtime::note_thread_level() {
  int started = 0;
  int level = MPI_THREAD_SINGLE;
  host_mpi().Initialized(&started);
  if (started) host_mpi().Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) engine.serialize_threads();
}

bool Runtime::start(Host& host, std::string& error) {
  if (!self.start()) {
    error = "MPI has not been started";
    return false;
  }
  note_thread_level();  // MPI may have been started before the program called Oriel's symbols
  int rank = -1;
  if (world_exists()) host_mpi().Comm_rank(MPI_COMM_WORLD, &rank);
  static OfiNetworks networks;
  if (!engine.start(host, networks, rank, error)) return false;
  datatypes.start(self, engine.lock);
  return true;
}

std::unique_ptr<Running> Runtime::stop() {
  std::unique_ptr<Running> running = engine.stop();
  windows.clear();
  owned_handles.clear();
  datatypes.stop();
  self.stop();
  return running;
}

bool Runtime::disabled() {
  static const bool value = setting_bool("ORIEL_DISABLE");
  return value;
}

}  // namespace oriel::mpi
