// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "support/check.hpp"

namespace support {

/// A count that all ranks of the world can add to and look at without MPI, across nodes of one
/// machine as well: the size of a file without a name.
class Tally {
 public:
  Tally() {
    std::array<char, 64> path{"/tmp/oriel-tally-XXXXXX"};
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) file_ = mkstemp(path.data());
    MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0) file_ = open(path.data(), O_WRONLY | O_APPEND | O_CLOEXEC);
    CHECK(file_ >= 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path.data());
  }
  ~Tally() { close(file_); }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  /// On every rank but the first.
  void add() const { CHECK_EQUAL(write(file_, "+", 1), 1); }
  int count() const {
    struct stat status{};
    CHECK_EQUAL(fstat(file_, &status), 0);
    return static_cast<int>(status.st_size);
  }

 private:
  int file_ = -1;
};

}  // namespace support
