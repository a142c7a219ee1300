// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives besides alltoallv: what each brings is what the host's own collective
// brings, and what is wrong on one rank is an error on all.
#include "oriel/collectives.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "support/exported.hpp"
#include "support/host_calls.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Program;

struct Calls {
#define ORIEL_TEST_CALL(name) \
  decltype(&ORIEL_##name) name = support::exported<decltype(&ORIEL_##name)>("ORIEL_" #name)
  ORIEL_TEST_CALL(Alltoall_init);
  ORIEL_TEST_CALL(Alltoall_init_c);
  ORIEL_TEST_CALL(Alltoallw_init);
  ORIEL_TEST_CALL(Alltoallw_init_c);
  ORIEL_TEST_CALL(Allgatherv_init);
  ORIEL_TEST_CALL(Allgatherv_init_c);
  ORIEL_TEST_CALL(Neighbor_alltoallv_init);
  ORIEL_TEST_CALL(Neighbor_alltoallv_init_c);
  ORIEL_TEST_CALL(Reduce_init);
  ORIEL_TEST_CALL(Reduce_init_c);
  ORIEL_TEST_CALL(Bcast_init);
  ORIEL_TEST_CALL(Bcast_init_c);
#undef ORIEL_TEST_CALL
};

const Calls& calls() {
  static const Calls found;
  return found;
}

using Memory = std::vector<char>;

/// A datatype; vectors have gaps.
struct Type {
  MPI_Datatype handle;
  int extent;
};

class Types {
 public:
  Types() : all{{{MPI_INT, 4}, {MPI_DOUBLE, 8}, {MPI_DATATYPE_NULL, 24}}} {
    MPI_Datatype vector;
    MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 24, &all[2].handle);
    MPI_Type_commit(&all[2].handle);
    MPI_Type_free(&vector);
  }
  ~Types() { MPI_Type_free(&all[2].handle); }
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;

  std::array<Type, 3> all;
};

/// Zero, short, and 100 KB.
constexpr std::array lengths = {0, 3, 12800};

/// Whole numbers of any width, different for each rank and round.
void fill(Memory& memory, int rank, int round) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i] = char((std::size_t(rank) * 31 + std::size_t(round) * 7 + i * 13 + i / 256) % 251);
  }
}

/// Ours and the host's, on memory of each: the same, byte by byte, in several rounds. Two requests
/// on memory of their own are active at once.
struct Body {
  std::size_t sent;
  std::size_t received;
  std::function<int(char* from, char* into, MPI_Request* request)> init;
  std::function<void(char* from, char* into)> host;
};

using Fill = std::function<void(Memory&, int, int)>;

void compare(const Program& program, const Body& body, const Fill& fill_with = fill) {
  constexpr int rounds = 3;
  // Never null.
  std::array<Memory, 2> from;
  std::array<Memory, 2> into;
  std::array<MPI_Request, 2> requests{};
  for (std::size_t i = 0; i < 2; ++i) {
    from[i].resize(body.sent + 16);
    into[i].resize(body.received + 16);
    CHECK_EQUAL(body.init(from[i].data(), into[i].data(), &requests[i]), MPI_SUCCESS);
  }
  for (int round = 0; round < rounds; ++round) {
    std::array<Memory, 2> expected;
    std::array<Memory, 2> sent;
    for (std::size_t i = 0; i < 2; ++i) {
      fill_with(from[i], program.rank(), round + 10 * int(i));
      fill_with(into[i], program.rank() + 50, round + 10 * int(i));
      expected[i] = into[i];
      body.host(from[i].data(), expected[i].data());
      sent[i] = from[i];
    }
    const auto first = std::size_t(program.rank() + round) % 2;
    MPI_Start(&requests[first]);
    MPI_Start(&requests[1 - first]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < 2; ++i) CHECK(into[i] == expected[i] && from[i] == sent[i]);
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void alltoall(const Program& program) {
  const Types types;
  const auto ranks = std::size_t(program.size());
  for (const Type& type : types.all) {
    for (const int count : lengths) {
      for (const bool in_place : {false, true}) {
        const std::size_t bytes = ranks * std::size_t(count * type.extent);
        const auto source = [=](char* from) -> void* { return in_place ? MPI_IN_PLACE : from; };
        compare(program, {bytes, bytes,
                          [&](char* from, char* into, MPI_Request* request) {
                            if (count == 3) {
                              return calls().Alltoall_init_c(source(from), count, type.handle, into,
                                                             count, type.handle, MPI_COMM_WORLD,
                                                             MPI_INFO_NULL, request);
                            }
                            return calls().Alltoall_init(source(from), count, type.handle, into,
                                                         count, type.handle, MPI_COMM_WORLD,
                                                         MPI_INFO_NULL, request);
                          },
                          [&](char* from, char* into) {
                            MPI_Alltoall(source(from), count, type.handle, into, count, type.handle,
                                         MPI_COMM_WORLD);
                          }});
      }
    }
  }
}

/// To each rank another type, which both sides choose by their sum.
void alltoallw(const Program& program) {
  const Types types;
  const int ranks = program.size();
  for (const int length : lengths) {
    for (const bool in_place : {false, true}) {
      std::vector<int> counts;
      std::vector<int> places;
      std::vector<MPI_Datatype> handles;
      int bytes = 0;
      for (int other = 0; other < ranks; ++other) {
        const Type& type = types.all[std::size_t(program.rank() + other) % types.all.size()];
        counts.push_back(length / (1 + (program.rank() + other) % 2));
        places.push_back(bytes);
        handles.push_back(type.handle);
        bytes += counts.back() * type.extent + 8;
      }
      const std::vector<MPI_Count> large_counts(counts.begin(), counts.end());
      const std::vector<MPI_Aint> large_places(places.begin(), places.end());
      const auto source = [=](char* from) -> void* { return in_place ? MPI_IN_PLACE : from; };
      compare(program, {std::size_t(bytes), std::size_t(bytes),
                        [&](char* from, char* into, MPI_Request* request) {
                          if (length == 3) {
                            return calls().Alltoallw_init_c(
                                source(from), large_counts.data(), large_places.data(),
                                handles.data(), into, large_counts.data(), large_places.data(),
                                handles.data(), MPI_COMM_WORLD, MPI_INFO_NULL, request);
                          }
                          return calls().Alltoallw_init(source(from), counts.data(), places.data(),
                                                        handles.data(), into, counts.data(),
                                                        places.data(), handles.data(),
                                                        MPI_COMM_WORLD, MPI_INFO_NULL, request);
                        },
                        [&](char* from, char* into) {
                          MPI_Alltoallw(source(from), counts.data(), places.data(), handles.data(),
                                        into, counts.data(), places.data(), handles.data(),
                                        MPI_COMM_WORLD);
                        }});
    }
  }
}

void allgatherv(const Program& program) {
  const Types types;
  const auto self = std::size_t(program.rank());
  for (const Type& type : types.all) {
    for (const int length : lengths) {
      for (const bool in_place : {false, true}) {
        std::vector<int> counts;
        std::vector<int> places;
        int elements = 0;
        for (int other = 0; other < program.size(); ++other) {
          counts.push_back(other == 1 ? length / 3 : length);
          places.push_back(elements);
          elements += counts.back() + 1;
        }
        const std::vector<MPI_Count> large_counts(counts.begin(), counts.end());
        const std::vector<MPI_Aint> large_places(places.begin(), places.end());
        const auto source = [=](char* from) -> void* { return in_place ? MPI_IN_PLACE : from; };
        const auto extent = std::size_t(type.extent);
        compare(program,
                {std::size_t(counts[self]) * extent, std::size_t(elements) * extent,
                 [&](char* from, char* into, MPI_Request* request) {
                   if (length == 3) {
                     return calls().Allgatherv_init_c(
                         source(from), counts[self], type.handle, into, large_counts.data(),
                         large_places.data(), type.handle, MPI_COMM_WORLD, MPI_INFO_NULL, request);
                   }
                   return calls().Allgatherv_init(source(from), counts[self], type.handle, into,
                                                  counts.data(), places.data(), type.handle,
                                                  MPI_COMM_WORLD, MPI_INFO_NULL, request);
                 },
                 [&](char* from, char* into) {
                   MPI_Allgatherv(source(from), counts[self], type.handle, into, counts.data(),
                                  places.data(), type.handle, MPI_COMM_WORLD);
                 }});
      }
    }
  }
}

void bcast(const Program& program) {
  const Types types;
  for (const Type& type : types.all) {
    for (const int count : lengths) {
      for (const int root : {0, program.size() - 1}) {
        compare(program, {0, std::size_t(count * type.extent),
                          [&](char*, char* buffer, MPI_Request* request) {
                            if (count == 3) {
                              return calls().Bcast_init_c(buffer, count, type.handle, root,
                                                          MPI_COMM_WORLD, MPI_INFO_NULL, request);
                            }
                            return calls().Bcast_init(buffer, count, type.handle, root,
                                                      MPI_COMM_WORLD, MPI_INFO_NULL, request);
                          },
                          [&](char*, char* buffer) {
                            MPI_Bcast(buffer, count, type.handle, root, MPI_COMM_WORLD);
                          }});
      }
    }
  }
}

struct DoubleInt {
  double value;
  int index;
};

/// Values whose sums are exact, in whatever order; gaps of pairs stay as they are.
template <class Element>
void fill_numbers(Memory& memory, int rank, int round) {
  const std::size_t count = memory.size() / sizeof(Element);
  auto* elements = reinterpret_cast<Element*>(memory.data());
  for (std::size_t i = 0; i < count; ++i) {
    const int value = int(i % 97) * (rank % 5 + 1) + round;
    if constexpr (std::is_same_v<Element, DoubleInt>) {
      elements[i].value = value % 7;
      elements[i].index = rank;
    } else {
      elements[i] = Element(value);
    }
  }
}

/// An op, as who makes a reduce has it.
struct OpOf {
  std::function<MPI_Op()> make;
  bool own = true;

  /// The program's own is gone before the request is used.
  void free(MPI_Op op) const {
    if (own) MPI_Op_free(&op);
  }
};

OpOf predefined(MPI_Op op) {
  return {[op] { return op; }, false};
}

void reduce_with(const Program& program, const OpOf& op, const Type& type, const Fill& fill_with) {
  MPI_Op hosts = op.make();
  for (const int count : lengths) {
    for (const int root : {0, program.size() - 1}) {
      for (const bool in_place : {false, true}) {
        const std::size_t bytes = std::size_t(count) * std::size_t(type.extent);
        const bool at_root = program.rank() == root;
        const auto source = [=](char* from) -> void* {
          return in_place && at_root ? MPI_IN_PLACE : from;
        };
        const auto target = [=](char* into) -> void* { return at_root ? into : nullptr; };
        compare(program,
                {bytes, bytes,
                 [&](char* from, char* into, MPI_Request* request) {
                   MPI_Op ours = op.make();
                   const auto init = [&](auto call) {
                     return call(source(from), target(into), count, type.handle, ours, root,
                                 MPI_COMM_WORLD, MPI_INFO_NULL, request);
                   };
                   const int code =
                       count == 3 ? init(calls().Reduce_init_c) : init(calls().Reduce_init);
                   op.free(ours);
                   return code;
                 },
                 [&](char* from, char* into) {
                   MPI_Reduce(source(from), target(into), count, type.handle, hosts, root,
                              MPI_COMM_WORLD);
                 }},
                fill_with);
      }
    }
  }
  op.free(hosts);
}

void reduce(const Program& program) {
  reduce_with(program, predefined(MPI_SUM), {MPI_INT, sizeof(int)}, fill_numbers<int>);
  reduce_with(program, predefined(MPI_BXOR), {MPI_INT, sizeof(int)}, fill_numbers<int>);
  reduce_with(program, predefined(MPI_SUM), {MPI_DOUBLE, sizeof(double)}, fill_numbers<double>);
  reduce_with(program, predefined(MPI_MAX), {MPI_DOUBLE, sizeof(double)}, fill_numbers<double>);
  reduce_with(program, predefined(MPI_MAXLOC), {MPI_DOUBLE_INT, sizeof(DoubleInt)},
              fill_numbers<DoubleInt>);
}

/// The one that the program has.
const std::thread::id program_thread = std::this_thread::get_id();

/// A number's halves are an affine map modulo 2^16: one behind the other, in whose order there is
/// no freedom.
std::uint32_t chain(std::uint32_t low, std::uint32_t high) {
  const std::uint32_t factor = (low & 0xffff) * (high & 0xffff);
  const std::uint32_t summand = (low & 0xffff) * (high >> 16) + (low >> 16);
  return summand << 16 | (factor & 0xffff);
}
std::uint32_t add(std::uint32_t low, std::uint32_t high) {
  return low + high;
}

/// Of datatypes whose numbers lie at equal distances.
template <std::uint32_t (*combine)(std::uint32_t, std::uint32_t), class Count>
void combine_all(void* in, void* inout, Count* count, MPI_Datatype* type) {
  CHECK(std::this_thread::get_id() == program_thread);
  int size = 0;
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  MPI_Type_size(*type, &size);
  MPI_Type_get_extent(*type, &low, &extent);
  const int numbers = size / 4;
  for (Count i = 0; i < *count * numbers; ++i) {
    const auto place = std::ptrdiff_t(i) * (extent / numbers);
    std::array<std::uint32_t, 2> both{};
    std::memcpy(&both[0], static_cast<char*>(in) + place, 4);
    std::memcpy(&both[1], static_cast<char*>(inout) + place, 4);
    const std::uint32_t result = combine(both[0], both[1]);
    std::memcpy(static_cast<char*>(inout) + place, &result, 4);
  }
}

/// Of a predefined datatype with gaps.
void add_pairs(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    static_cast<DoubleInt*>(inout)[i].value += static_cast<DoubleInt*>(in)[i].value;
    static_cast<DoubleInt*>(inout)[i].index += static_cast<DoubleInt*>(in)[i].index;
  }
}

OpOf own_op(MPI_User_function* function, int commutes) {
  return {[=] {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(function, commutes, &op);
    return op;
  }};
}
#if MPI_VERSION >= 4
OpOf own_op_c(MPI_User_function_c* function, int commutes) {
  return {[=] {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create_c(function, commutes, &op);
    return op;
  }};
}
#endif

void own_ops(const Program& program) {
  const Types types;
  Type pair{MPI_DATATYPE_NULL, 8};
  MPI_Type_contiguous(2, MPI_INT, &pair.handle);
  MPI_Type_commit(&pair.handle);
  for (const Type& type : {types.all[0], types.all[2], pair}) {
    reduce_with(program, own_op(combine_all<chain, int>, 0), type, fill);
  }
  reduce_with(program, own_op(combine_all<add, int>, 1), types.all[0], fill);
  reduce_with(program, own_op(combine_all<add, int>, 1), types.all[2], fill);
#if MPI_VERSION >= 4
  // An MPI of version 3.1, which may run this program, has no such call.
  int version = 0;
  int subversion = 0;
  MPI_Get_version(&version, &subversion);
  if (version >= 4)
    reduce_with(program, own_op_c(combine_all<chain, MPI_Count>, 0), types.all[2], fill);
#endif
  reduce_with(program, own_op(add_pairs, 1), {MPI_DOUBLE_INT, sizeof(DoubleInt)},
              fill_numbers<DoubleInt>);
  MPI_Type_free(&pair.handle);
}

/// All compute first, and leave their part to whoever serves them meanwhile; then all but the root
/// sit in a call of the host's.
void own_op_meanwhile(const Program& program) {
  MPI_Op op = own_op(combine_all<chain, int>, 0).make();
  for (int root = 0; root < program.size(); ++root) {
    std::array<int, 100> own{};
    std::array<int, 100> expected{};
    std::array<int, 100> result{};
    own.fill(0x30003 + 2 * program.rank());
    MPI_Reduce(own.data(), expected.data(), 100, MPI_INT, op, root, MPI_COMM_WORLD);
    MPI_Request request;
    CHECK_EQUAL(calls().Reduce_init(own.data(), result.data(), 100, MPI_INT, op, root,
                                    MPI_COMM_WORLD, MPI_INFO_NULL, &request),
                MPI_SUCCESS);
    for (int round = 0; round < 3; ++round) {
      result.fill(0);
      MPI_Start(&request);
      usleep(20'000);
      if (program.rank() == root) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(result == expected);
        for (int other = 0; other < program.size(); ++other) {
          if (other != root) MPI_Send(nullptr, 0, MPI_INT, other, 1, MPI_COMM_WORLD);
        }
      } else {
        MPI_Recv(nullptr, 0, MPI_INT, root, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
    }
    MPI_Request_free(&request);
  }
  MPI_Op_free(&op);
}

void own_op_errors(const Program& program) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const bool last = program.rank() == program.size() - 1;
  std::array<int, 64> from{};
  std::array<int, 64> into{};
  const auto make = [&](MPI_Datatype type, MPI_Op op) {
    MPI_Request request;
    return calls().Reduce_init(from.data(), into.data(), 2, type, op, 0, comm, MPI_INFO_NULL,
                               &request);
  };
  MPI_Op op = own_op(combine_all<add, int>, 1).make();
  MPI_Op other = own_op(combine_all<add, int>, 0).make();
  MPI_Datatype beyond;
  MPI_Type_create_resized(MPI_INT, 0, 2, &beyond);
  MPI_Type_commit(&beyond);
  CHECK_CLASS(make(last ? beyond : MPI_INT, op), MPI_ERR_TYPE);
  MPI_Datatype before;
  const int one = 1;
  const MPI_Aint place = -4;
  MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &before);
  MPI_Type_commit(&before);
  CHECK_CLASS(make(before, op), MPI_ERR_TYPE);
  MPI_Datatype wide;
  MPI_Type_create_resized(MPI_INT, 0, 8, &wide);
  MPI_Type_commit(&wide);
  CHECK_CLASS(make(wide, MPI_SUM), MPI_ERR_OP);
  CHECK_CLASS(make(MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
  CHECK_CLASS(make(MPI_INT, MPI_REPLACE), MPI_ERR_OP);
  if (program.size() > 1) {
    CHECK_CLASS(make(MPI_INT, last ? other : op), MPI_ERR_ARG);
    CHECK_CLASS(make(MPI_INT, last ? MPI_SUM : op), MPI_ERR_ARG);
    CHECK_CLASS(make(last ? wide : MPI_INT, op), MPI_ERR_ARG);
  }
  // Past us, and perhaps with the handle that one of ours has had.
  MPI_Op_free(&op);
  MPI_Op_free(&other);
  const auto create =
      reinterpret_cast<decltype(&MPI_Op_create)>(dlsym(support::host_library(), "MPI_Op_create"));
  create(combine_all<add, int>, 1, &op);
  create(combine_all<add, int>, 0, &other);
  CHECK_CLASS(make(MPI_INT, op), MPI_ERR_OP);
  CHECK_CLASS(make(MPI_INT, other), MPI_ERR_OP);
  MPI_Op_free(&op);
  MPI_Op_free(&other);
  MPI_Type_free(&beyond);
  MPI_Type_free(&before);
  MPI_Type_free(&wide);
  MPI_Comm_free(&comm);
}

/// Along each edge as many elements as the numbers of its two ranks say, together.
void on_topology(const Program& program, MPI_Comm comm, const std::vector<int>& to,
                 const std::vector<int>& from) {
  const Types types;
  for (const Type& type : types.all) {
    for (const int length : lengths) {
      std::array<std::vector<int>, 2> counts;
      std::array<std::vector<int>, 2> places;
      std::array<std::size_t, 2> bytes{};
      for (std::size_t side = 0; side < 2; ++side) {
        int elements = 0;
        for (const int other : side == 0 ? to : from) {
          const int both = program.rank() + std::max(other, 0);
          counts[side].push_back(length == 0 ? 0 : length + both % 2);
          places[side].push_back(elements);
          elements += counts[side].back() + 1;
        }
        counts[side].push_back(0);  // an array has an address
        places[side].push_back(0);
        bytes[side] = std::size_t(elements * type.extent);
      }
      std::array<std::vector<MPI_Count>, 2> large_counts;
      std::array<std::vector<MPI_Aint>, 2> large_places;
      for (std::size_t side = 0; side < 2; ++side) {
        large_counts[side].assign(counts[side].begin(), counts[side].end());
        large_places[side].assign(places[side].begin(), places[side].end());
      }
      compare(program,
              {bytes[0], bytes[1],
               [&](char* out, char* into, MPI_Request* request) {
                 if (length == 3) {
                   return calls().Neighbor_alltoallv_init_c(
                       out, large_counts[0].data(), large_places[0].data(), type.handle, into,
                       large_counts[1].data(), large_places[1].data(), type.handle, comm,
                       MPI_INFO_NULL, request);
                 }
                 return calls().Neighbor_alltoallv_init(
                     out, counts[0].data(), places[0].data(), type.handle, into, counts[1].data(),
                     places[1].data(), type.handle, comm, MPI_INFO_NULL, request);
               },
               [&](char* out, char* into) {
                 MPI_Neighbor_alltoallv(out, counts[0].data(), places[0].data(), type.handle, into,
                                        counts[1].data(), places[1].data(), type.handle, comm);
               }});
    }
  }
}

void neighbors(const Program& program) {
  const int right = program.right();
  const int left = program.left();
  MPI_Comm comm;
  // A ring one way.
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  on_topology(program, comm, {right}, {left});
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int value = 0;
  const int one = 1;
  const int wrong = program.rank() == 0 ? -1 : 1;
  MPI_Request request;
  const int refused =
      calls().Neighbor_alltoallv_init(&value, &one, &value, MPI_INT, &value, &wrong, &value,
                                      MPI_INT, comm, MPI_INFO_NULL, &request);
  CHECK_CLASS(refused, MPI_ERR_COUNT);
  CHECK(support::class_name(refused).find("recvcounts[0] is -1") != std::string::npos);
  MPI_Comm_free(&comm);
  // A ring both ways, of at least three ranks; each is a neighbour of itself, too.
  if (program.size() > 2) {
    std::vector<int> index;
    std::vector<int> edges;
    for (int rank = 0; rank < program.size(); ++rank) {
      edges.insert(edges.end(), {(rank + program.size() - 1) % program.size(), rank,
                                 (rank + 1) % program.size()});
      index.push_back(int(edges.size()));
    }
    MPI_Graph_create(MPI_COMM_WORLD, program.size(), index.data(), edges.data(), 0, &comm);
    on_topology(program, comm, {left, program.rank(), right}, {left, program.rank(), right});
    MPI_Comm_free(&comm);
  }
  // Grids, with edges and without.
  for (const int periodic : {0, 1}) {
    // Where both neighbours are one rank Intel MPI's own call takes what goes down from below.
    if (periodic == 1 && program.size() < 3 && program.host() == "intel") continue;
    const std::array<int, 2> sizes = {program.size(), 1};
    const std::array<int, 2> periods = {periodic, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes.data(), periods.data(), 0, &comm);
    std::vector<int> around(4);
    MPI_Cart_shift(comm, 0, 1, &around[0], &around[1]);
    MPI_Cart_shift(comm, 1, 1, &around[2], &around[3]);
    on_topology(program, comm, around, around);
    MPI_Comm_free(&comm);
  }
}

/// Of one rank, or of ranks that do not agree: on all ranks, and the communicator stays usable.
void errors(const Program& program) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const bool last = program.rank() == program.size() - 1;
  std::vector<int> memory(std::size_t(8 * program.size()));
  std::vector<int> into(memory.size());
  MPI_Request request;
  const Calls& oriel = calls();
  const int wrong = last ? -1 : 2;
  CHECK_CLASS(oriel.Alltoall_init(memory.data(), wrong, MPI_INT, into.data(), 2, MPI_INT, comm,
                                  MPI_INFO_NULL, &request),
              MPI_ERR_COUNT);
  const int refused =
      oriel.Bcast_init(memory.data(), wrong, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
  CHECK_CLASS(refused, MPI_ERR_COUNT);
  CHECK(support::class_name(refused).find("count is -1") != std::string::npos);
  CHECK_CLASS(oriel.Reduce_init(memory.data(), into.data(), wrong, MPI_INT, MPI_SUM, 0, comm,
                                MPI_INFO_NULL, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(oriel.Bcast_init(memory.data(), 2, MPI_INT, last ? program.size() : 0, comm,
                               MPI_INFO_NULL, &request),
              MPI_ERR_ROOT);
  CHECK_CLASS(oriel.Reduce_init(memory.data(), into.data(), 2, MPI_FLOAT, MPI_BAND, 0, comm,
                                MPI_INFO_NULL, &request),
              MPI_ERR_OP);
  // Some hosts' windows take MPI_BYTE as a number, no host's MPI_Reduce does.
  for (const MPI_Op op : {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR}) {
    CHECK_CLASS(oriel.Reduce_init(memory.data(), into.data(), 2, MPI_BYTE, op, 0, comm,
                                  MPI_INFO_NULL, &request),
                MPI_ERR_OP);
  }
  CHECK_CLASS(oriel.Reduce_init(last ? nullptr : memory.data(), into.data(), 2, MPI_INT, MPI_SUM, 0,
                                comm, MPI_INFO_NULL, &request),
              MPI_ERR_BUFFER);
  CHECK_CLASS(oriel.Reduce_init(memory.data(), nullptr, 2, MPI_INT, MPI_SUM, 0, comm, MPI_INFO_NULL,
                                &request),
              MPI_ERR_BUFFER);
  CHECK_CLASS(oriel.Bcast_init(last ? nullptr : memory.data(), 2, MPI_INT, 0, comm, MPI_INFO_NULL,
                               &request),
              MPI_ERR_BUFFER);
  CHECK_CLASS(oriel.Bcast_init(memory.data(), 2, MPI_INT, 0, comm, MPI_INFO_NULL,
                               last ? nullptr : &request),
              MPI_ERR_ARG);
  const int zero = 0;
  CHECK_CLASS(oriel.Neighbor_alltoallv_init(memory.data(), &zero, &zero, MPI_INT, into.data(),
                                            &zero, &zero, MPI_INT, comm, MPI_INFO_NULL, &request),
              MPI_ERR_TOPOLOGY);
  const support::Info fence({{ORIEL_ALLTOALLV, "fence"}});
  CHECK_CLASS(oriel.Bcast_init(memory.data(), 2, MPI_INT, 0, comm, fence, &request),
              MPI_ERR_INFO_VALUE);
  std::vector<int> counts(std::size_t(program.size()), 2);
  std::vector<int> places(counts.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = 2 * int(i);
  CHECK_CLASS(
      oriel.Allgatherv_init(memory.data(), last ? 3 : 2, MPI_INT, into.data(), counts.data(),
                            places.data(), MPI_INT, comm, MPI_INFO_NULL, &request),
      MPI_ERR_TRUNCATE);
  if (program.size() > 1) {
    CHECK_CLASS(oriel.Bcast_init(memory.data(), 2, MPI_INT, last ? program.rank() : 0, comm,
                                 MPI_INFO_NULL, &request),
                MPI_ERR_ROOT);
    CHECK_CLASS(oriel.Reduce_init(memory.data(), into.data(), 2, MPI_INT, MPI_SUM,
                                  last ? program.rank() : 0, comm, MPI_INFO_NULL, &request),
                MPI_ERR_ROOT);
    CHECK_CLASS(
        oriel.Bcast_init(memory.data(), last ? 1 : 2, MPI_INT, 0, comm, MPI_INFO_NULL, &request),
        MPI_ERR_TRUNCATE);
    CHECK_CLASS(oriel.Reduce_init(memory.data(), into.data(), 2, MPI_INT, last ? MPI_SUM : MPI_MAX,
                                  0, comm, MPI_INFO_NULL, &request),
                MPI_ERR_ARG);
    if (!last) counts.back() = 1;
    CHECK_CLASS(oriel.Allgatherv_init(memory.data(), 2, MPI_INT, into.data(), counts.data(),
                                      places.data(), MPI_INT, comm, MPI_INFO_NULL, &request),
                MPI_ERR_TRUNCATE);
    // More than any machine has is kept on the way.
    CHECK_CLASS(oriel.Reduce_init_c(memory.data(), into.data(), MPI_Count{1} << 58, MPI_INT,
                                    MPI_SUM, 0, comm, MPI_INFO_NULL, &request),
                MPI_ERR_NO_MEM);
    // Different collectives.
    CHECK_CLASS(last ? oriel.Bcast_init(memory.data(), 2, MPI_INT, 0, comm, MPI_INFO_NULL, &request)
                     : oriel.Reduce_init(memory.data(), into.data(), 2, MPI_INT, MPI_SUM, 0, comm,
                                         MPI_INFO_NULL, &request),
                MPI_ERR_INFO_VALUE);
  }
  int value = program.rank() == 0 ? 5 : 0;
  CHECK_EQUAL(oriel.Bcast_init(&value, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request), MPI_SUCCESS);
  // An active one stays as it is.
  MPI_Start(&request);
  CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQUAL(value, 5);
  MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  program.test("alltoall", [&] { alltoall(program); });
  program.test("alltoallw", [&] { alltoallw(program); });
  program.test("allgatherv", [&] { allgatherv(program); });
  program.test("bcast", [&] { bcast(program); });
  program.test("reduce", [&] { reduce(program); });
  program.test("own ops", [&] { own_ops(program); });
  program.test("own op meanwhile", [&] { own_op_meanwhile(program); });
  program.test("own op errors", [&] { own_op_errors(program); });
  program.test("neighbors", [&] { neighbors(program); });
  program.test("errors", [&] { errors(program); });
}
