// SPDX-License-Identifier: BSD-3-Clause
// E10: a rank that waits in a blocking call of the host serves other ranks, without an agent. Rank
// 0 writes to the memory of all other ranks while these wait for rank 0 in the call. The results
// and errors of each call are those of the host alone. MPI_Send, MPI_Rsend and MPI_Mrecv may
// complete before rank 0 makes its call: only their results are sure to be checked.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;
using Values = std::vector<int>;

// Whether a call takes int or MPI_Count.
struct Small {
  using Count = int;
  using Displacement = int;
};
struct Large {
  using Count = MPI_Count;
  using Displacement = MPI_Aint;
};

#define CALL_OF_SMALL_COUNTS(name)          \
  template <typename... Arguments>          \
  int name(Small, Arguments... arguments) { \
    return MPI_##name(arguments...);        \
  }
#if MPI_VERSION >= 4
#define CALL(name)                          \
  CALL_OF_SMALL_COUNTS(name)                \
  template <typename... Arguments>          \
  int name(Large, Arguments... arguments) { \
    return MPI_##name##_c(arguments...);    \
  }
#else
#define CALL(name) CALL_OF_SMALL_COUNTS(name)
#endif
CALL(Send)
CALL(Ssend)
CALL(Rsend)
CALL(Recv)
CALL(Mrecv)
CALL(Sendrecv)
CALL(Sendrecv_replace)
CALL(Bcast)
CALL(Gather)
CALL(Gatherv)
CALL(Scatter)
CALL(Scatterv)
CALL(Allgather)
CALL(Allgatherv)
CALL(Alltoall)
CALL(Alltoallv)
CALL(Alltoallw)
CALL(Reduce)
CALL(Allreduce)
CALL(Reduce_scatter)
CALL(Reduce_scatter_block)
CALL(Scan)
CALL(Exscan)
CALL(Neighbor_allgather)
CALL(Neighbor_allgatherv)
CALL(Neighbor_alltoall)
CALL(Neighbor_alltoallv)
CALL(Neighbor_alltoallw)

/// A communicator of all ranks in which each one sends to the next.
MPI_Comm make_ring(const Program& program) {
  const int left = program.left();
  const int right = program.right();
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  return ring;
}

/// Private memory, to which others write by messages; of all ranks of a ring.
class Ring {
 public:
  explicit Ring(const Program& program)
      : program_(program),
        comm_(make_ring(program)),
        window_(std::make_unique<Window<int>>(Flavor::create, 2, comm_)) {}
  ~Ring() {
    window_.reset();
    MPI_Comm_free(&comm_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  const Program& program() const { return program_; }
  int rank() const { return program_.rank(); }
  int size() const { return program_.size(); }
  int last() const { return size() - 1; }
  MPI_Comm comm() const { return comm_; }

  /// call() on all ranks; rank 0 comes to it when the others have served its operations.
  template <typename Call>
  void wait_in(Call&& call) {
    MPI_Barrier(comm_);
    if (rank() != 0) CHECK_EQUAL(int{window()[place(round_)]}, round_);  // of the last call
    ++round_;
    // After this message the others make no call that sweeps but the one that is tested.
    MPI_Request ready = MPI_REQUEST_NULL;
    if (rank() != 0) MPI_Isend(nullptr, 0, MPI_INT, 0, ready_tag, comm_, &ready);
    for (int other = 1; rank() == 0 && other < size(); ++other) {
      MPI_Recv(nullptr, 0, MPI_INT, other, ready_tag, comm_, MPI_STATUS_IGNORE);
    }
    for (int other = 1; rank() == 0 && other < size(); ++other) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, window());
      MPI_Put(&round_, 1, MPI_INT, other, round_ % 2, 1, MPI_INT, window());
      MPI_Win_unlock(other, window());
    }
    call();
    MPI_Wait(&ready, MPI_STATUS_IGNORE);
  }
  /// The same where each of the others has to do with rank 0 alone.
  template <typename Call, typename Answer>
  void wait_for_rank_0(Call&& call, Answer&& answer) {
    wait_in([&] {
      if (rank() != 0) return call();
      for (int other = 1; other < size(); ++other) answer(other);
    });
  }

 private:
  static constexpr int ready_tag = 100;
  // Two elements in turns: rank 0 may write again while others look.
  static std::size_t place(int round) { return static_cast<std::size_t>(round) % 2; }
  Window<int>& window() { return *window_; }

  const Program& program_;
  MPI_Comm comm_;
  std::unique_ptr<Window<int>> window_;
  int round_ = 0;
};

/// A value of its own for each pair of sender and receiver.
int value(int from, int to, int place) {
  return 10000 * from + 100 * to + place;
}

/// So many values from one rank to another, behind what is there.
void append(Values& values, int from, int to, int count) {
  for (int place = 0; place < count; ++place) values.push_back(value(from, to, place));
}

Values values_of(int from, int to, int count) {
  Values values;
  append(values, from, to, count);
  return values;
}

/// Blocks of varying lengths in one buffer, without gaps.
template <typename Size>
struct Blocks {
  std::vector<typename Size::Count> counts;
  std::vector<typename Size::Displacement> displacements;
  int total = 0;

  void add(int count) {
    counts.push_back(count);
    displacements.push_back(total);
    total += count;
  }
  /// In bytes, for the calls that have a datatype for each block.
  template <typename Displacement>
  std::vector<Displacement> bytes() const {
    std::vector<Displacement> found;
    for (const auto displacement : displacements) {
      found.push_back(static_cast<Displacement>(displacement * sizeof(int)));
    }
    return found;
  }
  std::vector<MPI_Datatype> types() const {
    return std::vector<MPI_Datatype>(counts.size(), MPI_INT);
  }
};

void check_status(const MPI_Status& status, int source, int tag, int count) {
  CHECK_EQUAL(status.MPI_SOURCE, source);
  CHECK_EQUAL(status.MPI_TAG, tag);
  int found = -1;
  MPI_Get_count(&status, MPI_INT, &found);
  CHECK_EQUAL(found, count);
}

constexpr int eager = 3;
constexpr int long_message = 1 << 20;

template <typename Size>
void sends(Ring& ring, Size size) {
  const int rank = ring.rank();
  const MPI_Comm comm = ring.comm();
  const auto receive = [&](int other, int count) {
    Values received(static_cast<std::size_t>(count));
    Recv(size, received.data(), count, MPI_INT, other, 5, comm, MPI_STATUS_IGNORE);
    CHECK(received == values_of(other, 0, count));
  };
  const Values short_one = values_of(rank, 0, eager);
  const Values long_one = values_of(rank, 0, long_message);
  ring.wait_for_rank_0([&] { Send(size, long_one.data(), long_message, MPI_INT, 0, 5, comm); },
                       [&](int other) { receive(other, long_message); });
  ring.wait_for_rank_0([&] { Ssend(size, short_one.data(), eager, MPI_INT, 0, 5, comm); },
                       [&](int other) { receive(other, eager); });
  Values received(static_cast<std::size_t>(long_message));
  for (int other = 1; other < ring.size(); ++other) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
      MPI_Irecv(received.data(), long_message, MPI_INT, other, 5, comm, &request);
    }
    MPI_Barrier(comm);
    if (rank == other) Rsend(size, long_one.data(), long_message, MPI_INT, 0, 5, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) CHECK(received == values_of(other, 0, long_message));
  }
}

template <typename Size>
void receives(Ring& ring, Size size) {
  const int rank = ring.rank();
  const MPI_Comm comm = ring.comm();
  MPI_Status status;
  Values received(eager + 1);
  const auto answer = [&](int other) {
    Send(size, values_of(0, other, eager).data(), eager, MPI_INT, other, 6, comm);
  };
  const auto check = [&] {
    check_status(status, 0, 6, eager);
    received.resize(eager);
    CHECK(received == values_of(0, rank, eager));
    received.assign(eager + 1, -1);
  };
  ring.wait_for_rank_0(
      [&] {
        Recv(size, received.data(), eager + 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        check();
      },
      answer);
  const auto take = [&](MPI_Message message) {
    check_status(status, 0, 6, eager);
    Mrecv(size, received.data(), eager, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    check();
  };
  MPI_Message message = MPI_MESSAGE_NULL;
  ring.wait_for_rank_0(
      [&] {
        MPI_Mprobe(0, MPI_ANY_TAG, comm, &message, &status);
        take(message);
      },
      answer);
  ring.wait_for_rank_0(
      [&] {
        int flag = 0;
        while (flag == 0) MPI_Improbe(0, 6, comm, &flag, &message, &status);
        take(message);
      },
      answer);
  const auto take_probed = [&] {
    check_status(status, 0, 6, eager);
    Recv(size, received.data(), eager, MPI_INT, 0, 6, comm, &status);
    check();
  };
  ring.wait_for_rank_0(
      [&] {
        MPI_Probe(0, 6, comm, &status);
        take_probed();
      },
      answer);
  ring.wait_for_rank_0(
      [&] {
        int flag = 0;
        while (flag == 0) MPI_Iprobe(0, 6, comm, &flag, &status);
        take_probed();
      },
      answer);
  // A message that is longer than a packet.
  if (rank == 0) {
    for (int other = 1; other < ring.size(); ++other) {
      Send(size, values_of(0, other, long_message).data(), long_message, MPI_INT, other, 6, comm);
    }
  } else {
    received.resize(long_message);
    MPI_Mprobe(0, 6, comm, &message, MPI_STATUS_IGNORE);
    Mrecv(size, received.data(), long_message, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(received == values_of(0, rank, long_message));
  }
  MPI_Mprobe(MPI_PROC_NULL, 6, comm, &message, &status);
  check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  Mrecv(size, received.data(), 1, MPI_INT, &message, &status);
  check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

template <typename Size>
void exchanges(Ring& ring, Size size) {
  const int rank = ring.rank();
  const MPI_Comm comm = ring.comm();
  const auto exchange = [&](int other) {
    Values received(eager + 2, -1);
    MPI_Status status;
    const Values sent = values_of(rank, other, eager + (rank == 0 ? 0 : 1));
    Sendrecv(size, sent.data(), static_cast<int>(sent.size()), MPI_INT, other, rank,
             received.data(), eager + 2, MPI_INT, other, other, comm, &status);
    const int count = eager + (other == 0 ? 0 : 1);
    check_status(status, other, other, count);
    received.resize(static_cast<std::size_t>(count));
    CHECK(received == values_of(other, rank, count));
  };
  ring.wait_for_rank_0([&] { exchange(0); }, exchange);
  const auto replace = [&](int other, int count) {
    Values values = values_of(rank, other, count);
    MPI_Status status;
    Sendrecv_replace(size, values.data(), count, MPI_INT, other, rank, other, MPI_ANY_TAG, comm,
                     &status);
    check_status(status, other, other, count);
    CHECK(values == values_of(other, rank, count));
  };
  for (const int count : {eager, long_message}) {
    ring.wait_for_rank_0([&] { replace(0, count); }, [&](int other) { replace(other, count); });
  }
  // Around the ring, also of one rank; elements with gaps between them.
  MPI_Datatype every_other;
  MPI_Type_vector(eager, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  Values values = values_of(rank, rank, 2 * eager);
  ring.wait_in([&] {
    Sendrecv_replace(size, values.data(), 1, every_other, ring.program().right(), 8,
                     ring.program().left(), 8, comm, MPI_STATUS_IGNORE);
  });
  MPI_Type_free(&every_other);
  for (int place = 0; place < 2 * eager; ++place) {
    const int whose = place % 2 == 0 ? ring.program().left() : rank;
    CHECK_EQUAL(values[static_cast<std::size_t>(place)], value(whose, whose, place));
  }
  MPI_Status status;
  values = values_of(rank, 0, eager);
  Sendrecv_replace(size, values.data(), eager, MPI_INT, MPI_PROC_NULL, 8, MPI_PROC_NULL, 8, comm,
                   &status);
  check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  CHECK(values == values_of(rank, 0, eager));
  Sendrecv(size, values.data(), eager, MPI_INT, MPI_PROC_NULL, 8, values.data(), 0, MPI_INT,
           MPI_PROC_NULL, 8, comm, &status);
  check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

template <typename Size>
void rooted(Ring& ring, Size size) {
  const int rank = ring.rank();
  const int last = ring.last();
  const MPI_Comm comm = ring.comm();
  Values sent = values_of(0, 0, eager);
  Values received(eager, -1);
  ring.wait_in(
      [&] { Bcast(size, rank == 0 ? sent.data() : received.data(), eager, MPI_INT, 0, comm); });
  if (rank != 0) CHECK(received == sent);

  Blocks<Size> even;
  Blocks<Size> varying;  // rank + 1 elements of each
  Values of_all;         // from or to all ranks
  Values of_all_varying;
  for (int other = 0; other < ring.size(); ++other) {
    even.add(eager);
    varying.add(other + 1);
    append(of_all, other, last, eager);
    append(of_all_varying, other, last, other + 1);
  }
  for (const bool in_place : {false, true}) {
    const bool own_there = in_place && rank == last;
    const auto gather = [&](const Blocks<Size>& blocks, const Values& expected, int count,
                            auto&& call) {
      Values all(expected.size(), -1);
      Values own = values_of(rank, last, count);
      if (own_there) {
        std::copy(own.begin(), own.end(), all.begin() + blocks.displacements.back());
      }
      ring.wait_in([&] { call(own_there ? MPI_IN_PLACE : own.data(), all.data()); });
      if (rank == last) CHECK(all == expected);
    };
    gather(even, of_all, eager, [&](const void* own, int* all) {
      Gather(size, own, eager, MPI_INT, all, eager, MPI_INT, last, comm);
    });
    gather(varying, of_all_varying, rank + 1, [&](const void* own, int* all) {
      Gatherv(size, own, rank + 1, MPI_INT, all, varying.counts.data(),
              varying.displacements.data(), MPI_INT, last, comm);
    });
    // The root is rank 0, because the others are to wait.
    const auto scatter = [&](const Blocks<Size>& blocks, const Values& all, int count,
                             auto&& call) {
      Values own(static_cast<std::size_t>(count), -1);
      void* const into = in_place && rank == 0 ? MPI_IN_PLACE : own.data();
      ring.wait_in([&] { call(all.data(), into); });
      if (into == MPI_IN_PLACE) return;
      const auto begin = all.begin() + blocks.displacements[static_cast<std::size_t>(rank)];
      CHECK(std::equal(own.begin(), own.end(), begin));
    };
    scatter(even, of_all, eager, [&](const int* all, void* own) {
      Scatter(size, all, eager, MPI_INT, own, eager, MPI_INT, 0, comm);
    });
    scatter(varying, of_all_varying, rank + 1, [&](const int* all, void* own) {
      Scatterv(size, all, varying.counts.data(), varying.displacements.data(), MPI_INT, own,
               rank + 1, MPI_INT, 0, comm);
    });
    std::array<int, 2> mine{rank, 1};
    std::array<int, 2> sum = own_there ? mine : std::array<int, 2>{-1, -1};
    ring.wait_in([&] {
      Reduce(size, own_there ? MPI_IN_PLACE : mine.data(), sum.data(), 2, MPI_INT, MPI_SUM, last,
             comm);
    });
    if (rank == last) CHECK_EQUAL(sum[0], last * ring.size() / 2);
    if (rank == last) CHECK_EQUAL(sum[1], ring.size());
  }
}

template <typename Size>
void among_all(Ring& ring, Size size) {
  const int rank = ring.rank();
  const MPI_Comm comm = ring.comm();
  ring.wait_in([&] { MPI_Barrier(comm); });
  Blocks<Size> even;
  Blocks<Size> varying;
  Blocks<Size> pairs;  // whose length both of a pair name alike
  Values gathered;
  Values gathered_varying;
  Values sent_even;
  Values received_even;
  Values sent_pairs;
  Values received_pairs;
  for (int other = 0; other < ring.size(); ++other) {
    even.add(eager);
    varying.add(other + 1);
    pairs.add(rank + other + 1);
    append(gathered, other, 0, eager);
    append(gathered_varying, other, 0, other + 1);
    append(sent_even, rank, other, eager);
    append(received_even, other, rank, eager);
    append(sent_pairs, rank, other, rank + other + 1);
    append(received_pairs, other, rank, rank + other + 1);
  }
  for (const bool in_place : {false, true}) {
    const auto gather = [&](const Blocks<Size>& blocks, const Values& expected, int count,
                            auto&& call) {
      Values all(expected.size(), -1);
      Values own = values_of(rank, 0, count);
      if (in_place) {
        std::copy(own.begin(), own.end(),
                  all.begin() + blocks.displacements[static_cast<std::size_t>(rank)]);
      }
      ring.wait_in([&] { call(in_place ? MPI_IN_PLACE : own.data(), all.data()); });
      CHECK(all == expected);
    };
    gather(even, gathered, eager, [&](const void* own, int* all) {
      Allgather(size, own, eager, MPI_INT, all, eager, MPI_INT, comm);
    });
    gather(varying, gathered_varying, rank + 1, [&](const void* own, int* all) {
      Allgatherv(size, own, rank + 1, MPI_INT, all, varying.counts.data(),
                 varying.displacements.data(), MPI_INT, comm);
    });
    const auto exchange = [&](const Values& sent, const Values& expected, auto&& call) {
      Values received = in_place ? sent : Values(expected.size(), -1);
      ring.wait_in([&] { call(in_place ? MPI_IN_PLACE : sent.data(), received.data()); });
      CHECK(received == expected);
    };
    exchange(sent_even, received_even, [&](const void* sent, int* received) {
      Alltoall(size, sent, eager, MPI_INT, received, eager, MPI_INT, comm);
    });
    exchange(sent_pairs, received_pairs, [&](const void* sent, int* received) {
      Alltoallv(size, sent, pairs.counts.data(), pairs.displacements.data(), MPI_INT, received,
                pairs.counts.data(), pairs.displacements.data(), MPI_INT, comm);
    });
    const auto bytes = pairs.template bytes<typename Size::Displacement>();
    const auto types = pairs.types();
    const auto call = [&](const void* sent, int* received) {
      Alltoallw(size, sent, pairs.counts.data(), bytes.data(), types.data(), received,
                pairs.counts.data(), bytes.data(), types.data(), comm);
    };
    // In place it does not sweep: see calls.ini.
    if (in_place) {
      Values received = sent_pairs;
      call(MPI_IN_PLACE, received.data());
      CHECK(received == received_pairs);
    } else {
      exchange(sent_pairs, received_pairs, call);
    }
  }
}

template <typename Size>
void reductions(Ring& ring, Size size) {
  const int rank = ring.rank();
  const MPI_Comm comm = ring.comm();
  const int ranks = ring.size();
  Blocks<Size> varying;
  for (int other = 0; other < ranks; ++other) varying.add(other + 1);
  // Element number i is rank + i on each rank.
  const auto element = [](int whose, int place) { return whose + place; };
  const auto sum_below = [&](int end, int place) {
    return end * (end - 1) / 2 + end * element(0, place);
  };
  for (const bool in_place : {false, true}) {
    const auto reduce = [&](int total, int results, int first, int end, auto&& call) {
      Values sent;
      for (int place = 0; place < total; ++place) sent.push_back(element(rank, place));
      Values received = in_place ? sent : Values(static_cast<std::size_t>(total), -1);
      ring.wait_in([&] { call(in_place ? MPI_IN_PLACE : sent.data(), received.data()); });
      for (int place = 0; place < results; ++place) {
        CHECK_EQUAL(received[static_cast<std::size_t>(place)], sum_below(end, first + place));
      }
    };
    reduce(eager, eager, 0, ranks, [&](const void* sent, int* received) {
      Allreduce(size, sent, received, eager, MPI_INT, MPI_SUM, comm);
    });
    const auto first = static_cast<int>(varying.displacements[static_cast<std::size_t>(rank)]);
    reduce(varying.total, rank + 1, first, ranks, [&](const void* sent, int* received) {
      Reduce_scatter(size, sent, received, varying.counts.data(), MPI_INT, MPI_SUM, comm);
    });
    reduce(eager * ranks, eager, eager * rank, ranks, [&](const void* sent, int* received) {
      Reduce_scatter_block(size, sent, received, eager, MPI_INT, MPI_SUM, comm);
    });
    reduce(eager, eager, 0, rank + 1, [&](const void* sent, int* received) {
      Scan(size, sent, received, eager, MPI_INT, MPI_SUM, comm);
    });
    reduce(eager, rank == 0 ? 0 : eager, 0, rank, [&](const void* sent, int* received) {
      Exscan(size, sent, received, eager, MPI_INT, MPI_SUM, comm);
    });
  }
}

template <typename Size>
void neighbours(Ring& ring, Size size) {
  const int rank = ring.rank();
  const int left = ring.program().left();
  const MPI_Comm comm = ring.comm();
  Blocks<Size> to;
  Blocks<Size> from;
  to.add(rank + 1);
  from.add(left + 1);
  const auto exchange = [&](int sends, int receives, auto&& call) {
    const Values sent = values_of(rank, 0, sends);
    Values received(static_cast<std::size_t>(receives), -1);
    ring.wait_in([&] { call(sent.data(), received.data()); });
    CHECK(received == values_of(left, 0, receives));
  };
  exchange(eager, eager, [&](const int* sent, int* received) {
    Neighbor_allgather(size, sent, eager, MPI_INT, received, eager, MPI_INT, comm);
  });
  exchange(rank + 1, left + 1, [&](const int* sent, int* received) {
    Neighbor_allgatherv(size, sent, rank + 1, MPI_INT, received, from.counts.data(),
                        from.displacements.data(), MPI_INT, comm);
  });
  exchange(eager, eager, [&](const int* sent, int* received) {
    Neighbor_alltoall(size, sent, eager, MPI_INT, received, eager, MPI_INT, comm);
  });
  exchange(rank + 1, left + 1, [&](const int* sent, int* received) {
    Neighbor_alltoallv(size, sent, to.counts.data(), to.displacements.data(), MPI_INT, received,
                       from.counts.data(), from.displacements.data(), MPI_INT, comm);
  });
  exchange(rank + 1, left + 1, [&](const int* sent, int* received) {
    Neighbor_alltoallw(size, sent, to.counts.data(), to.template bytes<MPI_Aint>().data(),
                       to.types().data(), received, from.counts.data(),
                       from.template bytes<MPI_Aint>().data(), from.types().data(), comm);
  });
}

int copies = 0;

int count_copy(MPI_Comm, int, void*, void* from, void* to, int* flag) {
  ++copies;
  *static_cast<void**>(to) = from;
  *flag = 1;
  return MPI_SUCCESS;
}

void duplicates(Ring& ring) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Comm_set_attr(ring.comm(), keyval, &keyval);
  for (const bool with_info : {false, true}) {
    copies = 0;
    MPI_Comm made = MPI_COMM_NULL;
    ring.wait_in([&] {
      with_info ? MPI_Comm_dup_with_info(ring.comm(), MPI_INFO_NULL, &made)
                : MPI_Comm_dup(ring.comm(), &made);
    });
    CHECK_EQUAL(copies, 1);
    int same = MPI_UNEQUAL;
    MPI_Comm_compare(ring.comm(), made, &same);
    CHECK_EQUAL(same, int{MPI_CONGRUENT});
    void* found = nullptr;
    int flag = 0;
    MPI_Comm_get_attr(made, keyval, &found, &flag);
    CHECK(flag != 0 && found == &keyval);
    int topology = MPI_UNDEFINED;
    MPI_Topo_test(made, &topology);
    CHECK_EQUAL(topology, int{MPI_DIST_GRAPH});
    // Collectives on a duplicate sweep, too.
    ring.wait_in([&] { MPI_Barrier(made); });
    MPI_Comm_free(&made);
  }
  MPI_Comm_delete_attr(ring.comm(), keyval);
  MPI_Comm_free_keyval(&keyval);
}

/// No window can be made on an intercommunicator: its collectives are the host's own.
void intercommunicators(const Ring& ring) {
  if (ring.size() == 1) return;
  const int half = ring.rank() % 2;
  MPI_Comm own;
  MPI_Comm both;
  MPI_Comm_split(ring.comm(), half, 0, &own);
  MPI_Intercomm_create(own, 0, ring.comm(), 1 - half, 4, &both);
  int others = 0;
  MPI_Comm_remote_size(both, &others);
  Values received(static_cast<std::size_t>(others), -1);
  const int mine = ring.rank();
  Values counts(received.size(), 1);
  Values places;
  Values expected;
  for (int other = 0; other < others; ++other) {
    places.push_back(other);
    expected.push_back(2 * other + 1 - half);
  }
  MPI_Allgatherv(&mine, 1, MPI_INT, received.data(), counts.data(), places.data(), MPI_INT, both);
  CHECK(received == expected);
  MPI_Comm made;
  MPI_Comm_dup(both, &made);
  Values sent(received.size(), mine);
  received.assign(received.size(), -1);
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, made);
  CHECK(received == expected);
  MPI_Comm_free(&made);
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
}

int handled = MPI_SUCCESS;

void keep_error(MPI_Comm*, int* code, ...) {
  CHECK_EQUAL(handled, MPI_SUCCESS);
  handled = *code;
}

/// A wrong argument is an error of the communicator, as on the host alone.
void errors(Ring& ring) {
  const MPI_Comm comm = ring.comm();
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(keep_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  const auto ranks = static_cast<std::size_t>(ring.size());
  Values values(2 * ranks);
  const Values zeros(ranks);
  const Values bad(ranks, -1);
  int* const data = values.data();
  // The value that the call returns is no matter: MPI_SUCCESS on MPICH, if the handler is the
  // program's.
  const auto expect = [&](const char* call, int, int expected) {
    support::check_class(__FILE__, __LINE__, call, handled, expected);
    handled = MPI_SUCCESS;
  };
  const int none = ring.size();
  expect("MPI_Scatter", MPI_Scatter(data, 1, MPI_INT, data + 1, 1, MPI_INT, none, comm),
         MPI_ERR_ROOT);
  expect("MPI_Alltoallv",
         MPI_Alltoallv(data, bad.data(), zeros.data(), MPI_INT, data + none, zeros.data(),
                       zeros.data(), MPI_INT, comm),
         MPI_ERR_COUNT);
  expect("MPI_Allgatherv",
         MPI_Allgatherv(data, 1, MPI_DATATYPE_NULL, data + 1, zeros.data(), zeros.data(), MPI_INT,
                        comm),
         MPI_ERR_TYPE);
  expect("MPI_Exscan", MPI_Exscan(MPI_IN_PLACE, data, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
  expect("MPI_Reduce_scatter",
         MPI_Reduce_scatter(MPI_IN_PLACE, data, zeros.data(), MPI_INT, MPI_OP_NULL, comm),
         MPI_ERR_OP);
  expect("MPI_Rsend", MPI_Rsend(data, 1, MPI_INT, none, 0, comm), MPI_ERR_RANK);
  const auto replace = [&](int count, MPI_Datatype type, int to, int tag) {
    return MPI_Sendrecv_replace(data, count, type, to, tag, 0, 0, comm, MPI_STATUS_IGNORE);
  };
  expect("MPI_Sendrecv_replace", replace(1, MPI_INT, none, 0), MPI_ERR_RANK);
  expect("MPI_Sendrecv_replace", replace(-1, MPI_INT, 0, 0), MPI_ERR_COUNT);
  expect("MPI_Sendrecv_replace", replace(1, MPI_DATATYPE_NULL, 0, 0), MPI_ERR_TYPE);
  expect("MPI_Sendrecv_replace", replace(1, MPI_INT, 0, -5), MPI_ERR_TAG);
  expect("MPI_Sendrecv",
         MPI_Sendrecv(data, 1, MPI_INT, 0, -5, data + 1, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE),
         MPI_ERR_TAG);
  MPI_Message message;
  expect("MPI_Mprobe", MPI_Mprobe(none, 0, comm, &message, MPI_STATUS_IGNORE), MPI_ERR_RANK);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  MPI_Barrier(comm);
}

}  // namespace

int main(int argc, char** argv) {
  // No thread serves the others, and private memory is reached by messages.
  setenv("ORIEL_AGENT_INTERVAL", "0", 1);
  setenv("ORIEL_VM", "0", 1);
  // Short waits also where tests run side by side.
  setenv("ORIEL_CROWDED", "1", 1);
  Program program(argc, argv);
  Ring ring(program);
  const auto test = [&](const char* name, auto&& body) {
    program.test(name, [&] {
      body(Small());
#if MPI_VERSION >= 4
      body(Large());
#endif
    });
  };
  test("sends", [&](auto size) { sends(ring, size); });
  test("receives", [&](auto size) { receives(ring, size); });
  test("exchanges", [&](auto size) { exchanges(ring, size); });
  test("rooted", [&](auto size) { rooted(ring, size); });
  test("among all", [&](auto size) { among_all(ring, size); });
  test("reductions", [&](auto size) { reductions(ring, size); });
  test("neighbours", [&](auto size) { neighbours(ring, size); });
  program.test("duplicates", [&] { duplicates(ring); });
  program.test("intercommunicators", [&] { intercommunicators(ring); });
  program.test("errors", [&] { errors(ring); });
}
