// SPDX-License-Identifier: BSD-3-Clause
// G2: windows of each kind, made, used and freed by the thousand, leave nothing behind: no memory,
// mapping, descriptor, thread or shared memory. Most are of one rank each, because those of all
// ranks take their time. The argument is the number of windows of each kind. Without
// UCX_MEM_EVENTS=n the UCX in MPICH keeps 148 bytes for each munmap or madvise of anybody, until it
// registers memory.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

#include "support/number.hpp"
#include "support/open_descriptors.hpp"
#include "support/program.hpp"

namespace {

using support::Program;

enum class Kind { create, allocate, shared, dynamic };

constexpr int small = 8;
// Elements of some pages.
constexpr int large = 5000;
// One window in so many is of all ranks, and one in so many is large.
constexpr int world_apart = 100;
constexpr int large_apart = 30;

/// Every rank adds 1 to the last element of its right neighbour's memory.
void make_use_and_free(Kind kind, MPI_Comm comm, int count) {
  static std::array<int, large> own;
  int* base = own.data();
  const auto bytes = static_cast<MPI_Aint>(sizeof(int)) * count;
  MPI_Aint place = count - 1;
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  MPI_Win win = MPI_WIN_NULL;
  switch (kind) {
    case Kind::create:
      MPI_Win_create(base, bytes, sizeof(int), MPI_INFO_NULL, comm, &win);
      break;
    case Kind::allocate:
      MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, comm, &base, &win);
      break;
    case Kind::shared:
      MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, comm, &base, &win);
      break;
    case Kind::dynamic:
      MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
      MPI_Win_attach(win, base, bytes);
      MPI_Get_address(&own[static_cast<std::size_t>(place)], &place);
      if (size > 1) {
        MPI_Sendrecv_replace(&place, 1, MPI_AINT, left, 0, right, 0, comm, MPI_STATUS_IGNORE);
      }
  }
  base[count - 1] = 0;
  const int one = 1;
  MPI_Win_fence(0, win);
  MPI_Accumulate(&one, 1, MPI_INT, right, place, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  CHECK_EQUAL(base[count - 1], 1);
  if (kind == Kind::dynamic) MPI_Win_detach(win, base);
  MPI_Win_free(&win);
}

void make_use_and_free_all(Kind kind, long windows) {
  for (long i = 0; i < windows; ++i) {
    make_use_and_free(kind, i % world_apart == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF,
                      i % large_apart == 0 ? large : small);
  }
}

long lines_of(const char* path) {
  std::ifstream file(path);
  long lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

/// A number of /proc/self/status.
long status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stol(line.substr(name.size() + 1));
  }
  support::fail(__FILE__, __LINE__, "the kernel does not tell " + name);
}

/// Bytes that the kernel has given the files by which this process shares memory.
long shared_kilobytes() {
  long sum = 0;
  for (const auto& [number, name] : support::open_descriptor_names()) {
    struct stat file{};
    if (name.find("oriel") == std::string::npos || fstat(std::stoi(number), &file) != 0) continue;
    sum += file.st_blocks / 2;
  }
  return sum;
}

/// How much more a process may hold after so many windows than before.
struct Holding {
  const char* name;
  long slack;
  long (*measure)();
};

// Memory that the hosts share is not counted: they touch more and more of their queues.
constexpr std::array holdings{
    // The smallest object that a heap gives away, left behind by each of 10,000 windows, is 320 kB.
    Holding{"kB of private memory", 64, [] { return status("RssAnon"); }},
    Holding{"kB of shared memory", 0, shared_kilobytes},
    // A heap that grows is two for a while.
    Holding{"mappings", 1, [] { return lines_of("/proc/self/maps"); }},
    Holding{"descriptors", 0, support::open_descriptors},
    Holding{"threads", 0, [] { return status("Threads"); }},
};

/// A sentence that names what piled up while windows lived; empty: nothing did.
std::string piled_up(Kind kind, long windows) {
  std::array<long, holdings.size()> before;
  std::ranges::transform(holdings, before.begin(),
                         [](const Holding& one) { return one.measure(); });
  make_use_and_free_all(kind, windows);
  std::string sentence;
  for (std::size_t i = 0; i < holdings.size(); ++i) {
    const long more = holdings[i].measure() - before[i];
    if (more > holdings[i].slack)
      sentence += std::to_string(more) + " " + holdings[i].name + " more. ";
  }
  return sentence;
}

/// Hosts keep some memory for later use; that ends after some thousand windows, whereas what is
/// never given back grows in each round.
void leave_nothing(Kind kind, long windows) {
  constexpr int most_rounds = 3;
  make_use_and_free_all(kind, 500);
  std::string sentence;
  int grows = 1;
  for (int i = 0; grows != 0 && i < most_rounds; ++i) {
    sentence = piled_up(kind, windows);
    grows = sentence.empty() ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &grows, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  if (!sentence.empty()) support::fail(__FILE__, __LINE__, sentence);
}

}  // namespace

int main(int argc, char** argv) {
  const long windows = support::number(argc, argv, 1, 10'000);
  // The program's arguments would be names of tests.
  char* no_arguments[] = {argv[0], nullptr};
  Program program(1, no_arguments);
  for (const auto& [kind, name] :
       {std::pair(Kind::create, "create"), std::pair(Kind::allocate, "allocate"),
        std::pair(Kind::shared, "allocate_shared"), std::pair(Kind::dynamic, "create_dynamic")}) {
    program.test(name, [&, kind = kind] { leave_nothing(kind, windows); });
  }
}
