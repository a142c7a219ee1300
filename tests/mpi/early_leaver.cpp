// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives and what the host does at the same time: a rank that is through with them
// waits in a collective of the host's, or ends MPI, while others have not even begun.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/alltoallv/calls.hpp"
#include "support/program.hpp"

namespace {

using alltoallv::calls;

/// From rank 0 to all others, and with `back` from them to rank 0.
class OneWay {
 public:
  OneWay(MPI_Comm comm, int bytes, bool back) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const auto ranks = static_cast<std::size_t>(size);
    const auto block = static_cast<std::size_t>(bytes);
    sent_.assign(ranks * block, static_cast<char>(1 + rank));
    received_.assign(ranks * block, 0);
    std::vector<int> sends(ranks);
    std::vector<int> receives(ranks);
    std::vector<int> places(ranks);
    for (int other = 0; other < size; ++other) {
      const auto at = static_cast<std::size_t>(other);
      const bool apart = other != rank;
      sends[at] = apart && (rank == 0 || (back && other == 0)) ? bytes : 0;
      receives[at] = apart && (other == 0 || (back && rank == 0)) ? bytes : 0;
      places[at] = other * bytes;
      if (receives[at] != 0) last_ = other;
    }
    block_ = block;
    CHECK_EQUAL(
        calls().init(sent_.data(), sends.data(), places.data(), MPI_CHAR, received_.data(),
                     receives.data(), places.data(), MPI_CHAR, comm, MPI_INFO_NULL, &request_),
        MPI_SUCCESS);
  }
  void start() { MPI_Start(&request_); }
  void wait() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    if (last_ < 0) return;
    const std::size_t end = (static_cast<std::size_t>(last_) + 1) * block_;
    CHECK_EQUAL(int{received_[end - 1]}, 1 + last_);
  }
  void free() { MPI_Request_free(&request_); }

 private:
  std::vector<char> sent_;
  std::vector<char> received_;
  std::size_t block_ = 0;
  int last_ = -1;  // from whom something comes
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Rank 0 is in a collective of the host's that the others come to when they have all their bytes.
void wait_in_the_host(int bytes) {
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  OneWay exchange(MPI_COMM_WORLD, bytes, true);
  exchange.start();
  if (rank == 0) MPI_Barrier(other);
  exchange.wait();
  if (rank != 0) MPI_Barrier(other);
  exchange.free();
  MPI_Comm_free(&other);
}

/// Nobody asks where a block would be that has no elements.
void place_empty_blocks_anywhere() {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto ranks = static_cast<std::size_t>(size);
  std::vector<MPI_Count> counts(ranks, 0);
  std::vector<MPI_Aint> places(ranks, std::numeric_limits<MPI_Aint>::max());
  counts[static_cast<std::size_t>(rank)] = 1;
  places[static_cast<std::size_t>(rank)] = 0;
  const int sent = 5 + rank;
  int received = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_EQUAL(calls().init_c(&sent, counts.data(), places.data(), MPI_INT, &received, counts.data(),
                             places.data(), MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
              MPI_SUCCESS);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQUAL(received, sent);
  MPI_Request_free(&request);
}

/// More than the ways to the others hold: some of it is still rank 0's when its waits are over.
void end_before_others_begin() {
  constexpr int many = 400;
  constexpr int bytes = 15000;
  std::vector<OneWay> exchanges;
  exchanges.reserve(many);
  for (int i = 0; i < many; ++i) exchanges.emplace_back(MPI_COMM_WORLD, bytes, false);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) ::usleep(300'000);  // rank 0 is in MPI_Finalize, as a rule
  for (OneWay& exchange : exchanges) exchange.start();
  for (OneWay& exchange : exchanges) exchange.wait();
  for (OneWay& exchange : exchanges) exchange.free();
}

}  // namespace

int main(int argc, char** argv) {
  support::Program program(argc, argv);
  for (const int bytes : {1000, 300'000, 2'000'000}) {
    const std::string name =
        "a collective of the host's meanwhile, " + std::to_string(bytes) + " bytes";
    program.test(name.c_str(), [bytes] { wait_in_the_host(bytes); });
  }
  program.test("empty blocks anywhere", place_empty_blocks_anywhere);
  end_before_others_begin();
}
