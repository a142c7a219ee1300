// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/progress/error_report.hpp"

#include <array>

#include "boundary/progress/setup_collectives.hpp"

namespace oriel::boundary {

int find_reporting_rank(MPI_Comm communicator, bool reports, int& reporting_rank) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(communicator, &rank);
  PMPI_Comm_size(communicator, &ranks);
  const int candidate = reports ? rank : ranks;
  return setup::allreduce(&candidate, &reporting_rank, 1, MPI_INT, MPI_MIN, communicator);
}

int share_report(MPI_Comm communicator, int reporting_rank, std::string& words) {
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  std::array<char, 512> text{};
  if (rank == reporting_rank) words.copy(text.data(), text.size() - 1);
  const int code =
      setup::broadcast(text.data(), static_cast<int>(text.size()), reporting_rank, communicator);
  if (code == MPI_SUCCESS && rank != reporting_rank) words = text.data();
  return code;
}

}  // namespace oriel::boundary
