// SPDX-License-Identifier: BSD-3-Clause
// Persistent alltoallv at random: requests of all ways, types, patterns and communicators, which
// each rank starts, tests and waits for in an order and at a pace of its own, several rounds ahead
// of the others where it can be. What each round leaves behind is what the host's own call does.
//
// Arguments: how many seeds (10), the first one (1). What fails prints its seed:
// `alltoallv_fuzz 1 SEED` runs it alone.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "support/alltoallv/exchange.hpp"
#include "support/number.hpp"
#include "support/program.hpp"
#include "support/stress/random.hpp"

namespace {

using alltoallv::AllTypes;
using alltoallv::Exchange;
using alltoallv::Shape;
using stress::Random;
using support::Program;

/// All ranks, all the other way round, every second one, and each alone.
class Communicators {
 public:
  Communicators() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed_);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half_);
  }
  ~Communicators() {
    MPI_Comm_free(&reversed_);
    MPI_Comm_free(&half_);
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  MPI_Comm one(Random& random) const {
    const int number = random.below(8);
    return number == 0   ? MPI_COMM_SELF
           : number == 1 ? half_
           : number < 4  ? reversed_
                         : MPI_COMM_WORLD;
  }

 private:
  MPI_Comm reversed_ = MPI_COMM_NULL;
  MPI_Comm half_ = MPI_COMM_NULL;
};

/// Bytes that one rank sends another one: mostly few, often none, now and then many.
int bytes(Random& random, int percent_empty) {
  if (random.chance(percent_empty)) return 0;
  const int kind = random.below(20);
  if (kind < 9) return 1 + random.below(130);
  if (kind < 15) return 1 + random.below(9000);
  if (kind < 19) return 65536 - 200 + random.below(400);
  return random.below(1 << 20);
}

/// The same on all ranks of a communicator, from the same random numbers.
Shape shape(Random& random, const AllTypes& types, MPI_Comm comm, bool spare_allowed) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  const alltoallv::Types& of = types[random.below(types.size())];
  // Halves may differ in size, and what follows must not: one source for each matrix.
  Random own{random.next()};
  const int percent_empty = std::array{0, 30, 80, 100}[own.below(4U)];
  const int unit = of.bytes();
  Shape made{of, alltoallv::units(ranks, [&](int, int) {
               return (bytes(own, percent_empty) + unit - 1) / unit;
             })};
  made.in_place = random.chance(25);
  made.memory = alltoallv::memory_of(random.below(3));
  made.rounds = 1 + random.below(4);
  made.seed = random.next();
  made.spare = spare_allowed && !made.in_place && random.chance(25) ? 1 + random.below(40) : 0;
  return made;
}

/// One request, and where this rank is with it.
struct Turn {
  std::unique_ptr<Exchange> exchange;
  int round = 0;
  bool active = false;

  bool over() const { return round == exchange->shape().rounds; }
};

/// What this rank does until all rounds of all requests are through. It waits for good only while
/// all that it can start is started, and only for what is least far: of all ranks that wait those
/// of the least round wait for what everybody has started, so somebody goes on.
class Course {
 public:
  Course(Random random, std::vector<Turn>& turns) : random_(random), turns_(turns) {}

  void run() {
    while (left() > 0) step();
  }

 private:
  std::size_t left() const {
    std::size_t count = 0;
    for (const Turn& turn : turns_) count += turn.over() ? 0 : 1;
    return count;
  }
  void step() {
    Turn& turn = turns_[random_.below(turns_.size())];
    if (random_.chance(2)) ::usleep(random_.below(600U));
    if (turn.over()) {
      if (turn.exchange->request() != MPI_REQUEST_NULL && random_.chance(50)) turn.exchange->free();
      return;
    }
    if (!turn.active) return random_.chance(70) ? start(turn) : start_all();
    const int how = random_.below(10);
    if (how < 5) {
      if (turn.exchange->done()) finish(turn);
    } else if (how < 6) {
      int flag = 0;
      MPI_Request_get_status(turn.exchange->request(), &flag, MPI_STATUS_IGNORE);
      if (flag != 0) CHECK(turn.exchange->done()), finish(turn);
    } else if (how < 8) {
      some();
    } else if (all_started() && turn.round == least()) {
      how == 8 || !all_as_far(turn.round) ? wait(turn) : wait_all();
    }
  }
  void start(Turn& turn) {
    turn.exchange->load(turn.round);
    turn.exchange->start();
    turn.active = true;
  }
  void start_all() {
    std::vector<MPI_Request> requests;
    for (Turn& turn : turns_) {
      if (turn.over() || turn.active) continue;
      turn.exchange->load(turn.round);
      turn.active = true;
      requests.push_back(turn.exchange->request());
    }
    CHECK_EQUAL(MPI_Startall(int(requests.size()), requests.data()), MPI_SUCCESS);
  }
  bool all_started() const {
    for (const Turn& turn : turns_) {
      if (!turn.over() && !turn.active) return false;
    }
    return true;
  }
  int least() const {
    int round = std::numeric_limits<int>::max();
    for (const Turn& turn : turns_) {
      if (!turn.over()) round = std::min(round, turn.round);
    }
    return round;
  }
  bool all_as_far(int round) const {
    for (const Turn& turn : turns_) {
      if (!turn.over() && turn.round != round) return false;
    }
    return true;
  }
  void wait(Turn& turn) {
    turn.exchange->wait();
    finish(turn);
  }
  void wait_all() {
    std::vector<MPI_Request> requests = all();
    CHECK_EQUAL(MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
                MPI_SUCCESS);
    for (Turn& turn : turns_) {
      if (turn.active) finish(turn);
    }
  }
  void some() {
    std::vector<MPI_Request> requests = all();
    std::vector<int> indices(requests.size());
    int count = 0;
    CHECK_EQUAL(MPI_Testsome(int(requests.size()), requests.data(), &count, indices.data(),
                             MPI_STATUSES_IGNORE),
                MPI_SUCCESS);
    for (int i = 0; i < count; ++i) {
      Turn& turn = turns_[std::size_t(indices[std::size_t(i)])];
      CHECK(turn.active);
      finish(turn);
    }
  }
  /// Those that are over and freed, or not started, too.
  std::vector<MPI_Request> all() {
    std::vector<MPI_Request> requests;
    for (Turn& turn : turns_) requests.push_back(turn.exchange->request());
    return requests;
  }
  static void finish(Turn& turn) {
    turn.exchange->check(turn.round);
    turn.active = false;
    ++turn.round;
  }

  Random random_;
  std::vector<Turn>& turns_;
};

void run(const Program& program, const Communicators& communicators, const AllTypes& types,
         std::uint64_t seed) {
  support::limit_time();
  Random same{seed, 1};
  std::vector<Turn> turns(1 + same.below(5U));
  for (Turn& turn : turns) {
    const MPI_Comm comm = communicators.one(same);
    turn.exchange =
        std::make_unique<Exchange>(comm, shape(same, types, comm, !program.host_only()));
    turn.exchange->init(alltoallv::algorithms[same.below(alltoallv::algorithms.size())]);
  }
  Course(Random{seed, 2, std::uint64_t(program.rank())}, turns).run();
}

}  // namespace

int main(int argc, char** argv) {
  const long seeds = support::number(argc, argv, 1, 10);
  const long first = support::number(argc, argv, 2, 1);
  argv[1] = nullptr;  // no names of tests
  Program program(1, argv);
  if (program.host_only()) return 0;  // ranks start in orders of their own
  const Communicators communicators;
  const AllTypes types;
  for (long seed = first; seed < first + seeds; ++seed) {
    static std::string name;
    name = "seed " + std::to_string(seed);
    program.test(name.c_str(),
                 [&] { run(program, communicators, types, static_cast<std::uint64_t>(seed)); });
  }
}
