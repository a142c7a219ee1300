// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/failure.hpp"
#include "persistent/buffers.hpp"

namespace alltoallv {

using persistent::Element;

/// How many elements each rank sends to each rank.
class Pattern {
 public:
  static Pattern uniform(int ranks, std::size_t bytes) {
    const auto size = static_cast<std::size_t>(ranks);
    return {ranks, std::vector<std::int64_t>(size * size,
                                             static_cast<std::int64_t>(bytes / sizeof(Element)))};
  }

  /// From a text file: line i has what rank i sends to each rank. Rank 0 reads it for all.
  static Pattern from_file(int ranks, int rank, const std::string& path) {
    const auto size = static_cast<std::size_t>(ranks);
    std::vector<std::int64_t> counts(size * size);
    if (rank == 0) read(path, size, counts);
    MPI_Bcast(counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, 0, MPI_COMM_WORLD);
    return {ranks, std::move(counts)};
  }

  int count(int sender, int receiver) const {
    return static_cast<int>(counts_[static_cast<std::size_t>(sender) * ranks_ + receiver]);
  }

  /// The longest message, in bytes.
  std::int64_t longest() const { return bytes(*std::max_element(counts_.begin(), counts_.end())); }
  std::int64_t total() const {
    return bytes(std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0}));
  }

 private:
  Pattern(int ranks, std::vector<std::int64_t> counts) : ranks_(ranks), counts_(std::move(counts)) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::int64_t sent = 0;
      std::int64_t received = 0;
      for (int other = 0; other < ranks; ++other) {
        sent += counts_[static_cast<std::size_t>(rank) * ranks + other];
        received += counts_[static_cast<std::size_t>(other) * ranks + rank];
      }
      if (std::max(sent, received) <= std::numeric_limits<int>::max()) continue;
      bench::fail("rank " + std::to_string(rank) + " sends or receives " +
                  std::to_string(std::max(sent, received)) +
                  " elements, and MPI_Alltoallv's displacements are ints; ask for less.");
    }
  }

  static std::int64_t bytes(std::int64_t elements) {
    return elements * static_cast<std::int64_t>(sizeof(Element));
  }

  static void read(const std::string& path, std::size_t ranks, std::vector<std::int64_t>& counts) {
    std::ifstream file(path);
    if (!file) bench::fail("the file of counts " + path + " cannot be read.");
    std::string line;
    for (std::size_t sender = 0; sender < ranks; ++sender) {
      std::getline(file, line);
      std::istringstream words(line);
      for (std::size_t receiver = 0; receiver < ranks; ++receiver) {
        std::int64_t& count = counts[sender * ranks + receiver];
        if (words >> count && count >= 0) continue;
        bench::fail(wrong(path, ranks, "line " + std::to_string(sender + 1) + " is \"" + line));
      }
      if (std::string more; words >> more) {
        bench::fail(wrong(path, ranks, "line " + std::to_string(sender + 1) + " is \"" + line));
      }
    }
    if (std::string more; file >> more)
      bench::fail(wrong(path, ranks, "it goes on with \"" + more));
  }

  static std::string wrong(const std::string& path, std::size_t ranks, const std::string& what) {
    const std::string number = std::to_string(ranks);
    return "for " + number + " ranks the file of counts " + path + " has " + number + " lines of " +
           number + " whole numbers that are not negative, and " + what + "\".";
  }

  int ranks_;
  std::vector<std::int64_t> counts_;
};

}  // namespace alltoallv
