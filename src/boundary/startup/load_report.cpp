// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/startup/load_report.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cstdlib>

#include "boundary/host/host.hpp"
#include "engine/process/run_folder.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel::boundary {
namespace {

/// Creates an empty file in the folder of this run, which python/oriel/hosts/load_report.py reads.
/// A missing folder (another machine's, a run that has ended) is no error.
void report(const char* step) {
  const char* folder = run_folder();
  if (folder == nullptr) return;
  const int place = own_descriptor(::open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (place < 0) return;
  const int file = own_descriptor(::openat(place, step, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (file >= 0) ::close(file);
  ::close(place);
}

[[gnu::constructor]] void report_loaded() {
  report("loaded");
}

bool mpi_started = false;

/// Runs at the end of the process. Reports a program that has started MPI by functions from the MPI
/// library's own handle (dlsym), which this library does not see.
[[gnu::destructor]] void report_mpi_passed_by() {
  int initialized = 0;
  if (run_folder() == nullptr || mpi_started) return;
  if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized != 0) report("passed by");
}

}  // namespace

void report_mpi_started() {
  mpi_started = true;
  report("mpi");
}

}  // namespace oriel::boundary
