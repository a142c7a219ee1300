// SPDX-License-Identifier: BSD-3-Clause
// Persistent alltoallv: what arrives, in every way of the info key, is what the host's own
// MPI_Alltoallv delivers, byte by byte and gap by gap; and requests start, wait and end in whatever
// order and company MPI and oriel/collectives.h let them.
#include "oriel/collectives.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/alltoallv/exchange.hpp"
#include "support/footprint.hpp"
#include "support/nonblocking.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using alltoallv::AllTypes;
using alltoallv::Exchange;
using alltoallv::Memory;
using alltoallv::Pattern;
using alltoallv::Shape;
using alltoallv::Units;
using support::Program;

using Exchanges = std::vector<std::unique_ptr<Exchange>>;

/// One way, and what its tests need.
struct Way {
  const Program& program;
  const AllTypes& types;
  const char* algorithm;

  int number() const {
    int found = 0;
    while (std::strcmp(alltoallv::algorithms[std::size_t(found)], algorithm) != 0) ++found;
    return found;
  }
  bool notified() const { return std::strcmp(algorithm, "notified") == 0; }
  /// Units of these types in a pattern, among so many ranks.
  Units units(Pattern pattern, const alltoallv::Types& of, int ranks) const {
    return alltoallv::units(pattern, ranks, of.bytes());
  }
  Shape shape(Pattern pattern, const char* name, int rounds) const {
    const alltoallv::Types& of = types.named(name);
    return {of, units(pattern, of, program.size()), false, Memory::malloc, rounds};
  }
  std::unique_ptr<Exchange> made(MPI_Comm comm, const Shape& shape) const {
    auto exchange = std::make_unique<Exchange>(comm, shape);
    exchange->init(algorithm);
    return exchange;
  }
};

void signal(int to) {
  MPI_Send(nullptr, 0, MPI_INT, to, 99, MPI_COMM_WORLD);
}
void await_signal(int from) {
  MPI_Recv(nullptr, 0, MPI_INT, from, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int ranks_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Types, counts with holes, memory: each type meets each pattern, in place and not, and each kind
/// of memory, though not each with each of the others. Two rounds with other contents.
void contents(const Way& way) {
  int number = 0;
  for (const alltoallv::Types& types : way.types) {
    for (const Pattern pattern : alltoallv::patterns) {
      // The ways share them: each pattern and each type come several times to each way, and a
      // pair to a way or two. (7 patterns in a row, and 4 has no part in 7.)
      const bool is_long = pattern == Pattern::long_and_short || pattern == Pattern::edges;
      ++number;
      if ((number + way.number()) % (is_long ? 8 : 4) != 0) continue;
      Shape shape{types, way.units(pattern, types, way.program.size())};
      shape.in_place = number % 3 == 1;
      shape.memory = alltoallv::memory_of(number);
      shape.rounds = 2;
      shape.seed = std::uint64_t(number);
      const auto exchange = way.made(MPI_COMM_WORLD, shape);
      for (int round = 0; round < shape.rounds; ++round) exchange->run(round);
    }
  }
}

/// Bytes of all lengths around those where a way may change its mind.
void lengths(const Way& way) {
  for (const Pattern pattern : {Pattern::long_and_short, Pattern::edges}) {
    Shape shape = way.shape(pattern, "bytes", 2);
    shape.memory = alltoallv::memory_of(way.number() + (pattern == Pattern::edges ? 1 : 0));
    const auto exchange = way.made(MPI_COMM_WORLD, shape);
    for (int round = 0; round < shape.rounds; ++round) exchange->run(round);
    shape.in_place = true;
    way.made(MPI_COMM_WORLD, shape)->run(1);
  }
}

/// A rank may be sent less than it expects, and nothing where it expects something.
void less_than_expected(const Way& way) {
  for (const char* name : {"bytes", "ints to vectors"}) {
    Shape shape = way.shape(Pattern::holes, name, 2);
    shape.spare = 3;
    const auto exchange = way.made(MPI_COMM_WORLD, shape);
    exchange->run(0);
    exchange->run(1);
  }
}

/// MPI_BOTTOM on both sides, with the addresses in the types.
void absolute_addresses(const Way& way) {
  const auto ranks = std::size_t(way.program.size());
  std::vector<int> sent(3 * ranks);
  std::vector<int> received(3 * ranks, -1);
  std::array<MPI_Datatype, 2> types{};
  int i = 0;
  for (std::vector<int>* memory : {&sent, &received}) {
    MPI_Aint address = 0;
    MPI_Get_address(memory->data(), &address);
    const int three = 3;
    MPI_Datatype type;
    MPI_Type_create_hindexed(1, &three, &address, MPI_INT, &type);
    MPI_Type_create_resized(type, 0, 3 * sizeof(int), &types[std::size_t(i)]);
    MPI_Type_free(&type);
    MPI_Type_commit(&types[std::size_t(i++)]);
  }
  const std::vector<int> ones(ranks, 1);
  std::vector<int> places(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) places[rank] = int(rank);
  for (std::size_t at = 0; at < sent.size(); ++at) sent[at] = 1000 * way.program.rank() + int(at);
  const support::Info info({{ORIEL_ALLTOALLV, way.algorithm}});
  MPI_Request request;
  CHECK_EQUAL(
      alltoallv::calls().init(MPI_BOTTOM, ones.data(), places.data(), types[0], MPI_BOTTOM,
                              ones.data(), places.data(), types[1], MPI_COMM_WORLD, info, &request),
      MPI_SUCCESS);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (std::size_t at = 0; at < received.size(); ++at) {
    CHECK_EQUAL(received[at], 1000 * int(at / 3) + 3 * way.program.rank() + int(at % 3));
  }
  MPI_Request_free(&request);
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
}

/// One request through all ways of copying that are tried in its first uses, and beyond: of lengths
/// that are tried, one cell or several.
void many_uses(const Way& way) {
  constexpr int uses = 20;
  const std::array<int, 4> lengths = {5000, 16384, 40000, 65536};
  for (const char* types : {"bytes", "ints to vectors"}) {
    Shape shape = way.shape(Pattern::all, types, uses);
    int next = 0;
    for (std::vector<int>& row : shape.units) {
      for (int& units : row) units = lengths[std::size_t(next++) % 4] / shape.types.bytes();
    }
    Exchange exchange(MPI_COMM_WORLD, shape);
    exchange.init(way.algorithm);
    for (int use = 0; use < uses; ++use) exchange.run(use);
  }
}

/// Large counts and displacements.
void large_counts(const Way& way) {
  if (alltoallv::calls().init_c == nullptr) return;  // the host alone
  for (const bool in_place : {false, true}) {
    Shape shape = way.shape(Pattern::holes, "vectors with gaps", 2);
    shape.in_place = in_place;
    Exchange exchange(MPI_COMM_WORLD, shape);
    exchange.init_large(way.algorithm);
    exchange.run(0);
    exchange.run(1);
  }
}

/// Several requests of one communicator are active together, started in one order on all ranks or
/// in an order of each rank's own, and waited for in others.
void several_active(const Way& way, bool own_orders) {
  constexpr int rounds = 3;
  constexpr std::array names = {"bytes", "vectors to ints", "structs", "resized, wide", "ints"};
  constexpr std::array which = {Pattern::edges, Pattern::holes, Pattern::all, Pattern::one_pair,
                                Pattern::idle_ranks};
  Exchanges exchanges;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Shape shape = way.shape(which[i], names[i], rounds);
    shape.seed = 100 + i;
    exchanges.push_back(way.made(MPI_COMM_WORLD, shape));
  }
  const std::size_t count = exchanges.size();
  const auto mine = own_orders ? std::size_t(way.program.rank()) : 0;
  for (int round = 0; round < rounds; ++round) {
    for (auto& exchange : exchanges) exchange->load(round);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t turn = mine % 2 == 0 ? i : count - 1 - i;
      exchanges[(turn + mine + std::size_t(round)) % count]->start();
    }
    for (std::size_t i = 0; i < count; ++i) exchanges[(3 * i + mine) % count]->wait();
    for (auto& exchange : exchanges) exchange->check(round);
  }
}

/// Requests whose first starts show what `auto` is (C4), to the end of their trials and beyond:
/// ranks start them in orders of their own, with pauses, and wait for them in different ways. Each
/// start delivers, by whatever algorithm.
void trial(const Way& way) {
  constexpr int starts = 70;  // 13 + 45 of three algorithms, and more
  constexpr std::array names = {"ints", "bytes"};
  Exchanges exchanges;
  for (const char* name : names) {
    Shape shape = way.shape(Pattern::holes, name, 3);
    shape.seed = 7 + exchanges.size();
    exchanges.push_back(way.made(MPI_COMM_WORLD, shape));
  }
  const auto rank = std::size_t(way.program.rank());
  for (int number = 0; number < starts; ++number) {
    const int round = number % 3;
    const std::size_t first = (rank + std::size_t(number / 3)) % 2;
    for (auto& exchange : exchanges) exchange->load(round);
    exchanges[first]->start();
    if (number % 7 == way.program.rank()) usleep(300);
    exchanges[1 - first]->start();
    if (number % 2 == 0) {
      for (auto& exchange : exchanges) exchange->wait();
    } else {
      std::array requests{exchanges[0]->request(), exchanges[1]->request()};
      CHECK_EQUAL(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    }
    for (auto& exchange : exchanges) exchange->check(round);
  }
  // One that is freed within its trial, and one after it, which the program has shown not to need
  // one; of another length than the others.
  for (const int uses : {20, 2}) {
    const auto exchange = way.made(MPI_COMM_WORLD, way.shape(Pattern::long_and_short, "bytes", 2));
    for (int number = 0; number < uses; ++number) exchange->run(number % 2);
  }
}

/// A request with the starts of its trial and not one more, and another one of the same lengths,
/// which goes by what the first has shown.
void whole_trial(const Way& way) {
  constexpr int starts = 45;  // 13 + 30 of two algorithms, and two in which the ranks agree
  const Shape shape = way.shape(Pattern::holes, "bytes", 3);
  for (const int uses : {starts, 1}) {
    const auto exchange = way.made(MPI_COMM_WORLD, shape);
    for (int number = 0; number < uses; ++number) exchange->run(number % 3);
  }
}

/// A rank sends itself no whole number of the elements that it receives, which Open MPI refuses:
/// `auto` leaves its call out.
void part_of_an_element(const Way& way) {
  const auto ranks = std::size_t(way.program.size());
  const auto self = std::size_t(way.program.rank());
  MPI_Datatype four;
  MPI_Type_contiguous(4, MPI_INT, &four);
  MPI_Type_commit(&four);
  const std::array sent{1, 2, 3, 4, 5};
  std::vector<int> sends(ranks);
  std::vector<int> receives(ranks);
  const std::vector<int> places(ranks);
  sends[self] = 5;
  receives[self] = 2;
  std::array<int, 8> received{};
  const support::Info info({{ORIEL_ALLTOALLV, way.algorithm}});
  MPI_Request request;
  CHECK_EQUAL(
      alltoallv::calls().init(sent.data(), sends.data(), places.data(), MPI_INT, received.data(),
                              receives.data(), places.data(), four, MPI_COMM_WORLD, info, &request),
      MPI_SUCCESS);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (std::size_t at = 0; at < received.size(); ++at) {
    CHECK_EQUAL(received[at], at < sent.size() ? sent[at] : 0);
  }
  MPI_Request_free(&request);
  MPI_Type_free(&four);
}

/// More requests than `auto` takes communicators for: see test_auto.py.
void crowd(const Way& way) {
  constexpr std::size_t requests = 1100;
  Exchanges exchanges;
  while (exchanges.size() < requests) {
    exchanges.push_back(way.made(MPI_COMM_WORLD, way.shape(Pattern::all, "ints", 1)));
  }
  exchanges.back()->run(0);
}

/// One rank alone, halves, all ranks the other way round, and communicators that share ranks.
void communicators(const Way& way) {
  const int rank = way.program.rank();
  const int size = way.program.size();
  constexpr int rounds = 3;
  std::vector<MPI_Comm> made;
  Exchanges exchanges;
  const auto add = [&](MPI_Comm comm, const char* name) {
    if (comm == MPI_COMM_NULL) return;
    const alltoallv::Types& types = way.types.named(name);
    Shape shape{types, way.units(Pattern::all, types, ranks_of(comm))};
    shape.rounds = rounds;
    exchanges.push_back(way.made(comm, shape));
  };
  const auto split = [&](int color, int key, const char* name) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    if (comm != MPI_COMM_NULL) made.push_back(comm);
    add(comm, name);
  };
  split(rank, 0, "structs");
  split(rank % 2, rank, "bytes");
  split(0, -rank, "ints to vectors");
  split(rank <= size / 2 ? 1 : MPI_UNDEFINED, rank, "ints");
  split(rank >= size / 2 ? 1 : MPI_UNDEFINED, -rank, "doubles");
  add(MPI_COMM_SELF, "vectors to ints");
  add(MPI_COMM_WORLD, "bytes");
  std::vector<MPI_Request> requests;
  for (int round = 0; round < rounds; ++round) {
    for (auto& exchange : exchanges) exchange->load(round);
    // Each communicator has one: their order is up to each rank.
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      exchanges[(i + std::size_t(rank)) % exchanges.size()]->start();
    }
    requests.clear();
    for (auto& exchange : exchanges) requests.push_back(exchange->request());
    CHECK_EQUAL(MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
                MPI_SUCCESS);
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      CHECK(requests[i] == exchanges[i]->handle());
      exchanges[i]->check(round);
    }
  }
  exchanges.clear();
  for (MPI_Comm& comm : made) MPI_Comm_free(&comm);
}

/// An array of two of ours, a ring of the host's persistent messages, one of ours that is never
/// started, and a place without a request: in every kind of wait and test.
class Company {
 public:
  static constexpr int count = 6;
  static constexpr int active = 4;
  static constexpr int rounds = 9;

  explicit Company(const Way& way)
      : program_(way.program),
        one_(way.made(MPI_COMM_WORLD, way.shape(Pattern::all, "ints", rounds))),
        other_(way.made(MPI_COMM_WORLD, way.shape(Pattern::holes, "vectors with gaps", rounds))),
        idle_(way.made(MPI_COMM_WORLD, way.shape(Pattern::all, "ints", 1))) {
    MPI_Recv_init(&received_, 1, MPI_INT, program_.left(), 5, MPI_COMM_WORLD, &host_[0]);
    MPI_Send_init(&sent_, 1, MPI_INT, program_.right(), 5, MPI_COMM_WORLD, &host_[1]);
  }
  ~Company() {
    for (MPI_Request& request : host_) MPI_Request_free(&request);
  }
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  template <class Finish>
  void run(Finish&& finish) {
    one_->load(round_);
    other_->load(round_);
    sent_ = 100 * round_ + program_.rank();
    received_ = -1;
    std::array<MPI_Request, 4> started = {one_->handle(), host_[0], other_->handle(), host_[1]};
    CHECK_EQUAL(MPI_Startall(4, started.data()), MPI_SUCCESS);
    const std::array<MPI_Request, count> before = {started[0], started[1],       started[2],
                                                   started[3], MPI_REQUEST_NULL, idle_->handle()};
    std::array<MPI_Request, count> requests = before;
    finish(requests.data());
    CHECK(requests == before);  // persistent requests outlive their waits
    one_->check(round_);
    other_->check(round_);
    CHECK_EQUAL(received_, 100 * round_ + program_.left());
    // All are inactive: every wait returns at once, and so does every test.
    int flag = 0;
    MPI_Testall(count, requests.data(), &flag, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(flag, 1);
    int index = 0;
    MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
    CHECK_EQUAL(index, MPI_UNDEFINED);
    ++round_;
  }

 private:
  const Program& program_;
  std::unique_ptr<Exchange> one_;
  std::unique_ptr<Exchange> other_;
  std::unique_ptr<Exchange> idle_;
  std::array<MPI_Request, 2> host_{};
  int sent_ = 0;
  int received_ = 0;
  int round_ = 0;
};

void company(const Way& way) {
  constexpr int count = Company::count;
  constexpr int active = Company::active;
  Company company(way);
  company.run([](MPI_Request* requests) {
    for (int i = 0; i < count; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  });
  company.run([](MPI_Request* requests) { MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); });
  company.run([](MPI_Request* requests) {
    std::array<MPI_Status, count> statuses;
    MPI_Waitall(count, requests, statuses.data());
  });
  company.run([](MPI_Request* requests) {
    std::array<int, count> seen{};
    for (int i = 0; i < active; ++i) {
      int index = -1;
      MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
      CHECK(index >= 0 && index < active && seen[std::size_t(index)]++ == 0);
    }
  });
  company.run([](MPI_Request* requests) {
    std::array<int, count> seen{};
    for (int done = 0; done < active;) {
      int some = 0;
      std::array<int, count> indices;
      MPI_Waitsome(count, requests, &some, indices.data(), MPI_STATUSES_IGNORE);
      CHECK(some > 0);
      for (int i = 0; i < some; ++i) {
        const int index = indices[std::size_t(i)];
        CHECK(index >= 0 && index < active && seen[std::size_t(index)]++ == 0);
      }
      done += some;
    }
  });
  company.run([](MPI_Request* requests) {
    int flag = 0;
    while (!flag) MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
  });
  company.run([](MPI_Request* requests) {
    for (int done = 0; done < active;) {
      int flag = 0;
      int index = MPI_UNDEFINED;
      MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
      if (flag) {
        CHECK(index >= 0 && index < active);
        ++done;
      }
    }
  });
  company.run([](MPI_Request* requests) {
    for (int done = 0; done < active;) {
      int some = 0;
      std::array<int, count> indices;
      MPI_Testsome(count, requests, &some, indices.data(), MPI_STATUSES_IGNORE);
      CHECK(some >= 0);
      done += some;
    }
  });
  company.run([](MPI_Request* requests) {
    for (int i = 0; i < active; ++i) {
      int flag = 0;
      while (!flag) MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
      // It has said so, and not ended it: a test says it once more.
      MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
      CHECK_EQUAL(flag, 1);
      MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
      CHECK_EQUAL(flag, 1);
    }
  });
}

/// One rank starts when all the others have looked for its data in vain again and again. Until then
/// its buffers are its own; and it looks at what it got while the others are in the next round.
void slow_rank(const Way& way) {
  constexpr int rounds = 4;
  Shape shape = way.shape(Pattern::all, "bytes", rounds);
  shape.units[0].back() = 5000;
  const auto exchange = way.made(MPI_COMM_WORLD, shape);
  for (int round = 0; round < rounds; ++round) {
    const int slow = round / 2 % way.program.size();
    exchange->load(round);
    if (way.program.rank() == slow) {
      for (int other = 0; other < way.program.size(); ++other) {
        if (other != slow) await_signal(other);
      }
      exchange->check_untouched(round);
      exchange->start();
    } else {
      exchange->start();
      for (int sweep = 0; sweep < 200; ++sweep) CHECK(!exchange->done());
      signal(slow);
    }
    exchange->wait();
    if (way.program.rank() == slow) usleep(1000);
    exchange->check(round);
  }
}

/// Who receives nothing may be ahead of the others by starts: what it sends is of one round each.
void sender_ahead(const Way& way) {
  constexpr int rounds = 4;
  for (const int bytes : {8, 3000, 200000}) {
    Shape shape = way.shape(Pattern::none, "bytes", rounds);
    for (std::size_t to = 1; to < shape.units.size(); ++to) shape.units[0][to] = bytes;
    const auto exchange = way.made(MPI_COMM_WORLD, shape);
    for (int round = 0; round < rounds; ++round) {
      exchange->load(round);
      if (way.program.rank() != 0) {
        usleep(300);
        exchange->check_untouched(round);
      }
      exchange->start();
      exchange->wait();
      exchange->check(round);
    }
  }
}

/// Who neither sends nor receives is through with all its rounds before the others begin.
void idle_rank_ahead(const Way& way) {
  constexpr int rounds = 3;
  if (way.program.size() == 1) return;
  Shape shape = way.shape(Pattern::all, "ints", rounds);
  for (std::size_t other = 0; other < shape.units.size(); ++other) {
    shape.units[0][other] = shape.units[other][0] = 0;
  }
  const auto exchange = way.made(MPI_COMM_WORLD, shape);
  const bool first = way.program.rank() == 0;
  if (!first) await_signal(0);
  for (int round = 0; round < rounds; ++round) exchange->run(round);
  for (int other = 1; first && other < way.program.size(); ++other) signal(other);
}

/// Beside the program's own epochs that have been opened or closed and not waited for.
void beside_epochs(const Way& way) {
  if (way.program.host_only()) return;
  const support::Nonblocking oriel;
  const bool even = way.program.rank() % 2 == 0;
  for (const support::Flavor flavor : {support::Flavor::create, support::Flavor::allocate}) {
    constexpr int rounds = 4;
    support::Window<int> window(flavor, 2);
    const auto exchange =
        way.made(MPI_COMM_WORLD, way.shape(Pattern::holes, "indexed to vectors", rounds));
    for (int round = 0; round < rounds; ++round) {
      const int value = 10 * round + way.program.rank();
      exchange->load(round);
      std::array<MPI_Request, 3> requests{};
      const auto put = [&] {
        MPI_Put(&value, 1, MPI_INT, way.program.right(), 1, 1, MPI_INT, window);
      };
      if (round % 2 == 0) {
        oriel.Win_ifence(MPI_MODE_NOPRECEDE, window, &requests[0]);
        if (even) exchange->start();
        put();
        if (!even) exchange->start();
        oriel.Win_ifence(MPI_MODE_NOSUCCEED, window, &requests[1]);
      } else {
        oriel.Win_ilock(MPI_LOCK_EXCLUSIVE, way.program.right(), 0, window, &requests[0]);
        if (even) exchange->start();
        put();
        oriel.Win_iunlock(way.program.right(), window, &requests[1]);
        if (!even) exchange->start();
      }
      requests[2] = exchange->handle();
      if (even) MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
      MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
      exchange->check(round);
      support::barrier();  // the puts are through everywhere
      CHECK_EQUAL(window[1], 10 * round + way.program.left());
      support::barrier();
    }
  }
}

/// The communicator and the datatypes are freed before the first start.
void freed_before(const Way& way) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  auto types = std::make_unique<AllTypes>();
  Exchanges exchanges;
  for (const char* name : {"vectors with gaps", "indexed to vectors", "structs"}) {
    const alltoallv::Types& of = types->named(name);
    Shape shape{of, way.units(Pattern::all, of, way.program.size())};
    shape.rounds = 2;
    exchanges.push_back(way.made(comm, shape));
  }
  types.reset();
  MPI_Comm_free(&comm);
  // Whoever gets their handles next is another one.
  MPI_Comm next;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -way.program.rank(), &next);
  const AllTypes others;
  for (int round = 0; round < 2; ++round) {
    for (auto& exchange : exchanges) exchange->load(round);
    for (auto& exchange : exchanges) exchange->start();
    for (auto& exchange : exchanges) exchange->wait();
    for (auto& exchange : exchanges) exchange->check(round);
  }
  exchanges.clear();
  MPI_Comm_free(&next);
}

/// Freed without a start; and by one rank while the others still wait.
void freed_early(const Way& way) {
  way.made(MPI_COMM_WORLD, way.shape(Pattern::all, "ints", 1)).reset();
  auto other = way.made(MPI_COMM_WORLD, way.shape(Pattern::edges, "bytes", 1));
  auto exchange = way.made(MPI_COMM_WORLD, way.shape(Pattern::edges, "bytes", 1));
  other.reset();
  exchange->load(0);
  if (way.program.rank() == 1) usleep(2000);
  exchange->start();
  exchange->wait();
  exchange->check(0);
  exchange.reset();  // its buffers as well
  support::barrier();
}

/// The same memory is received in by requests of several sizes, which are used in turn, and are
/// freed in another order; then it is given back, and its place goes to others.
void same_memory(const Way& way) {
  for (int turn = 0; turn < 2; ++turn) {
    const std::size_t size = std::size_t{1} << (turn == 1 ? 19 : 18);
    auto* memory = static_cast<char*>(std::malloc(size));
    Exchanges exchanges;
    const std::array<int, 4> lengths = {64, 4096, 500, 20000};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      Shape shape = way.shape(Pattern::all, "bytes", 3);
      for (std::vector<int>& row : shape.units) {
        for (int& units : row) units = lengths[i] + units;
      }
      shape.lent = memory + (i == 2 ? 4096 + 24 : 0);
      shape.seed = i + 1;
      exchanges.push_back(way.made(MPI_COMM_WORLD, shape));
    }
    for (auto& exchange : exchanges) exchange->run(0);
    exchanges.erase(exchanges.begin() + 1);
    for (auto& exchange : exchanges) exchange->run(1);
    exchanges.erase(exchanges.begin());
    for (auto& exchange : exchanges) exchange->run(2);
    exchanges.clear();
    std::free(memory);
  }
}

/// Requests that come and go leave nothing.
void flat(const Way& way) {
  Shape shape = way.shape(Pattern::edges, "bytes", 1);
  auto* memory = static_cast<char*>(std::malloc(1 << 20));
  const auto once = [&](int number) {
    shape.lent = number % 2 == 0 ? memory : nullptr;
    const auto exchange = way.made(MPI_COMM_WORLD, shape);
    if (number % 4 != 0) exchange->run(0);
  };
  // Each request receives in 20 pages or more: what was left of each would show in every round.
  constexpr int most_rounds = 30;
  constexpr int requests = 36;
  constexpr long few = 256;
  once(1);
  support::check_settles(most_rounds, few, [&] {
    for (int i = 0; i < requests; ++i) once(i);
  });
  std::free(memory);
}

/// Nor do more of them at once than the ranks agree about by the bits of a word.
void flat_in_crowds(const Way& way) {
  const Shape shape = way.shape(Pattern::all, "ints", 1);
  constexpr int most_rounds = 30;
  constexpr std::size_t requests = 132;
  constexpr long few = 64;
  support::check_settles(most_rounds, few, [&] {
    Exchanges exchanges;
    while (exchanges.size() < requests) exchanges.push_back(way.made(MPI_COMM_WORLD, shape));
    exchanges.back()->run(0);
  });
}

/// Whether MPI_Alltoallv_init with this info is Oriel's: then what is wrong on two ranks alone is
/// an error on all.
bool is_ours(const Program& program, MPI_Info info, alltoallv::Init by) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const auto ranks = std::size_t(program.size());
  std::vector<int> sent(ranks, 1);
  const std::vector<int> received(ranks, 1);
  std::vector<int> places(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) places[rank] = 2 * int(rank);
  std::vector<int> from(2 * ranks);
  std::vector<int> to(2 * ranks);
  if (program.rank() == 0) sent.back() = 2;
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = by(from.data(), sent.data(), places.data(), MPI_INT, to.data(), received.data(),
                      places.data(), MPI_INT, comm, info, &request);
  const bool refused = support::error_class(code) == MPI_ERR_TRUNCATE;
  CHECK(refused || code == MPI_SUCCESS);
  if (!refused) MPI_Request_free(&request);
  MPI_Comm_free(&comm);
  return refused;
}

/// MPI's own name, and its twin for tools: Oriel's with the key, and with ORIEL_COLLECTIVES=1;
/// else the host's.
void standard_name(const Program& program, const AllTypes& types) {
  const char* setting = std::getenv("ORIEL_COLLECTIVES");
  const bool always = setting != nullptr && *setting == '1' && !program.host_only();
  const support::Info unrelated({{"unrelated", "notified"}});
  for (const char* name : {"MPI_Alltoallv_init", "PMPI_Alltoallv_init"}) {
    const alltoallv::Init init = alltoallv::standard_init(name);
    if (init == nullptr) continue;
    if (program.size() > 1) {  // what is wrong on one rank alone the host may find, too
      CHECK_EQUAL(is_ours(program, MPI_INFO_NULL, init), always);
      CHECK_EQUAL(is_ours(program, unrelated, init), always);
      for (const char* algorithm : alltoallv::algorithms) {
        const support::Info info({{ORIEL_ALLTOALLV, algorithm}});
        CHECK_EQUAL(is_ours(program, info, init), !program.host_only());
      }
    }
    const alltoallv::Types& of = types.named("vectors to ints");
    const auto exchange_twice = [&](MPI_Info info) {
      for (const bool in_place : {false, true}) {
        Shape shape{of, alltoallv::units(Pattern::holes, program.size(), of.bytes()), in_place};
        shape.rounds = 2;
        Exchange exchange(MPI_COMM_WORLD, shape);
        exchange.init(info, init);
        exchange.run(0);
        exchange.run(1);
      }
    };
    exchange_twice(MPI_INFO_NULL);
    for (const char* algorithm : alltoallv::algorithms) {
      exchange_twice(support::Info({{ORIEL_ALLTOALLV, algorithm}}));
    }
  }
  if (const auto init = alltoallv::standard_init_c()) {
    const alltoallv::Types& of = types.named("ints to vectors");
    Exchange exchange(MPI_COMM_WORLD,
                      {of, alltoallv::units(Pattern::all, program.size(), of.bytes())});
    exchange.init_large("notified", init);
    exchange.run(0);
  }
}

/// The key that says how often a request will be started, with and without what the library makes
/// of it.
void starts(const Program& program, const AllTypes& types) {
  const alltoallv::Types& of = types.named("bytes");
  Shape shape{of, Units(std::size_t(program.size()),
                        std::vector<int>(std::size_t(program.size()), 64 / of.bytes()))};
  for (const char* number : {"1", "990", "1000", static_cast<const char*>(nullptr)}) {
    const support::Info info = number != nullptr ? support::Info({{ORIEL_ALLTOALLV_STARTS, number}})
                                                 : support::Info({{ORIEL_ALLTOALLV, "auto"}});
    Exchange exchange(MPI_COMM_WORLD, shape);
    exchange.init(info, alltoallv::calls().init);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Exchanges left;  // to MPI_Finalize: they are not freed
  {
    Program program(argc, argv);
    const AllTypes types;
    for (const char* algorithm : alltoallv::algorithms) {
      const Way way{program, types, algorithm};
      // A failure names the way, too; the time limit may ask for the name at any moment.
      static std::string full;
      const auto test = [&](const char* name, auto body) {
        full = std::string(name) + ", " + algorithm;
        program.test(full.c_str(), [&] { body(way); });
      };
      const auto test_unless_host = [&](const char* hosts, const char* why, const char* name,
                                        auto body) {
        full = std::string(name) + ", " + algorithm;
        program.test_unless_host(hosts, why, full.c_str(), [&] { body(way); });
      };
      constexpr const char* promise = "only Oriel promises it";
      test("contents", contents);
      test("lengths", lengths);
      test_unless_host("any", promise, "less than expected", less_than_expected);
      test("absolute addresses", absolute_addresses);
      if (way.notified()) test("many uses", many_uses);
      test("large counts", large_counts);
      test("several active", [](const Way& of) { several_active(of, false); });
      test_unless_host("any", promise, "own orders",
                       [](const Way& of) { several_active(of, true); });
      if (std::strcmp(algorithm, "auto") == 0) {
        test_unless_host("any", promise, "trial", trial);
        test_unless_host("any", promise, "trial and no more", whole_trial);
        test_unless_host("any", promise, "crowd", crowd);
        test_unless_host("any", promise, "part of an element", part_of_an_element);
      }
      test("communicators", communicators);
      test_unless_host("mpich intel", "MPI_Testall fails on inactive collectives", "company",
                       company);
      test("slow rank", slow_rank);
      test("sender ahead", sender_ahead);
      if (way.notified()) test_unless_host("any", promise, "idle rank ahead", idle_rank_ahead);
      test("beside epochs", beside_epochs);
      test_unless_host("openmpi", "it uses freed datatypes", "freed before", freed_before);
      test("freed early", freed_early);
      test("same memory", same_memory);
      test("flat", flat);
      if (std::strcmp(algorithm, "two_sided") == 0) test("flat in crowds", flat_in_crowds);
      test("left to finalize", [&](const Way& of) {
        left.push_back(of.made(MPI_COMM_WORLD, of.shape(Pattern::all, "ints", 1)));
        left.back()->run(0);
        left.push_back(of.made(MPI_COMM_WORLD, of.shape(Pattern::holes, "bytes", 1)));
      });
    }
    program.test_unless_host("any", "its keys are Oriel's", "starts",
                             [&] { starts(program, types); });
    program.test("standard name", [&] { standard_name(program, types); });
  }
  for (auto& exchange : left) static_cast<void>(exchange.release());  // MPI is gone
}
