// SPDX-License-Identifier: BSD-3-Clause

// Which way each rank's operations take to every other rank, as MPI_Win_get_info tells it, for
// memory of the MPI library's (allocated windows) and the program's own (created ones). One JSON
// line per rank.

#include <mpi.h>
#include <oriel/oriel.h>

#include <array>
#include <cstdio>
#include <string>

#include "bench/window.hpp"

namespace {

std::string paths_of(const bench::Window& window) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Win_get_info(window.handle(), &info);
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  MPI_Info_get(info, ORIEL_PATHS, MPI_MAX_INFO_VAL, value.data(), &found);
  MPI_Info_free(&info);
  if (found == 0) bench::fail("Oriel is not in this process; start the program with oriel run.");
  return value.data();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    std::array<char, MPI_MAX_PROCESSOR_NAME> node{};
    int length = 0;
    MPI_Get_processor_name(node.data(), &length);
    const bench::Window allocated(bench::Memory::allocated, sizeof(int));
    const bench::Window created(bench::Memory::created, sizeof(int));
    std::printf(R"({"rank": %d, "node": "%s", "allocated": "%s", "created": "%s"})"
                "\n",
                rank, node.data(), paths_of(allocated).c_str(), paths_of(created).c_str());
  }
  MPI_Finalize();
}
