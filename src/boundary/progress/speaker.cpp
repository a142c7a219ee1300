// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/progress/speaker.hpp"

#include <array>

#include "boundary/progress/setup_collectives.hpp"

namespace oriel::boundary {

int find_speaker(MPI_Comm communicator, bool speaks, int& speaker) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(communicator, &rank);
  PMPI_Comm_size(communicator, &ranks);
  const int candidate = speaks ? rank : ranks;
  return setup::allreduce(&candidate, &speaker, 1, MPI_INT, MPI_MIN, communicator);
}

int hear(MPI_Comm communicator, int speaker, std::string& words) {
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  std::array<char, 512> text{};
  if (rank == speaker) words.copy(text.data(), text.size() - 1);
  const int code =
      setup::broadcast(text.data(), static_cast<int>(text.size()), speaker, communicator);
  if (code == MPI_SUCCESS && rank != speaker) words = text.data();
  return code;
}

}  // namespace oriel::boundary
