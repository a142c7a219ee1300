// SPDX-License-Identifier: BSD-3-Clause
// G10: faults that users of MPI libraries have reported of their one-sided communication. The name
// of a test begins with the number of the report in open-mpi/ompi or pmodels/mpich. The comment of
// each test ends with the fault as it was reported of the other library. Reports about device
// memory are tested on host memory.
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/footprint.hpp"
#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::Flavor;
using support::Program;
using support::Window;
using Word = std::int64_t;

/// A committed datatype, freed at the end of its scope.
class Type {
 public:
  explicit Type(MPI_Datatype made) : type_(made) { MPI_Type_commit(&type_); }
  ~Type() { MPI_Type_free(&type_); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_;
};

MPI_Datatype indexed(const std::vector<int>& lengths, const std::vector<int>& displacements) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), displacements.data(),
                   MPI_INT64_T, &made);
  return made;
}

/// A patch of rows x columns words at (row, column) of a square of `side` words.
MPI_Datatype patch(int side, int rows, int columns, int row, int column) {
  const std::array<int, 2> sizes{side, side};
  const std::array<int, 2> subsizes{rows, columns};
  const std::array<int, 2> starts{row, column};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_C,
                           MPI_INT64_T, &made);
  return made;
}

/// All epochs of all ranks have ended; afterwards this rank's loads see what they wrote.
void end_epochs(MPI_Win win, const Program& program) {
  support::barrier();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.rank(), 0, win);
  MPI_Win_unlock(program.rank(), win);
}

/// Updates were lost.
void indexed_of_one_element(Flavor flavor, const Program& program) {
  constexpr int rounds = 500;
  Window<Word> window(flavor, 4);
  const Type type(indexed({1}, {2}));
  const Word one = 1;
  MPI_Win_lock_all(0, window);
  for (int round = 0; round < rounds; ++round) {
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, type, MPI_SUM, window);
  }
  MPI_Win_unlock_all(window);
  end_epochs(window, program);
  for (std::size_t i = 0; i < window.size(); ++i) {
    CHECK_EQUAL(window[i], program.rank() == 0 && i == 2 ? rounds * program.size() : 0);
  }
}

/// The origin's address is in the datatype. The library crashed.
void bottom(Flavor flavor, const Program& program) {
  Window<Word> window(flavor, 4);
  std::array<Word, 5> values{1, 0, 2, 3, 0};
  const std::array<int, 2> lengths{1, 2};
  std::array<MPI_Aint, 2> addresses{};
  MPI_Get_address(&values[0], &addresses[0]);
  MPI_Get_address(&values[2], &addresses[1]);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(2, lengths.data(), addresses.data(), MPI_INT64_T, &made);
  const Type type(made);
  MPI_Win_lock_all(0, window);
  for (int target = 0; target < program.size(); ++target) {
    MPI_Accumulate(MPI_BOTTOM, 1, type, target, 1, 3, MPI_INT64_T, MPI_SUM, window);
  }
  MPI_Win_unlock_all(window);
  end_epochs(window, program);
  for (std::size_t i = 0; i < window.size(); ++i) {
    CHECK_EQUAL(window[i], static_cast<Word>(i) * program.size());
  }
}

/// All ranks exchange a word of rank 0; each value is fetched once. The library hung.
void contended_exchange(Flavor flavor, const Program& program) {
  constexpr int rounds = 300;
  Window<Word> window(flavor, 1);
  Word fetched_sum = 0;
  Word stored_sum = 0;
  MPI_Win_lock_all(0, window);
  for (int round = 0; round < rounds; ++round) {
    const Word value = 1 + round * program.size() + program.rank();
    Word fetched = -1;
    if (round % 2 == 0) {
      MPI_Get_accumulate(&value, 1, MPI_INT64_T, &fetched, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T,
                         MPI_REPLACE, window);
      MPI_Win_flush(0, window);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Rget_accumulate(&value, 1, MPI_INT64_T, &fetched, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T,
                          MPI_REPLACE, window, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    fetched_sum += fetched;
    stored_sum += value;
  }
  MPI_Win_unlock_all(window);
  end_epochs(window, program);
  if (program.rank() == 0) fetched_sum += window[0];
  Word difference = stored_sum - fetched_sum;
  MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(difference, 0);
}

/// The 255th request of a put to one target aborted the program.
void outstanding_requests(Flavor flavor, const Program& program) {
  constexpr int count = 1000;
  Window<Word> window(flavor, count);
  std::vector<Word> values(count);
  std::iota(values.begin(), values.end(), program.rank());
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    MPI_Rput(&values[index], 1, MPI_INT64_T, program.right(), i, 1, MPI_INT64_T, window,
             &requests[index]);
  }
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  MPI_Win_unlock(program.right(), window);
  end_epochs(window, program);
  for (int i = 0; i < count; ++i) {
    CHECK_EQUAL(window[static_cast<std::size_t>(i)], i + program.left());
  }
}

/// A plain fence and accumulate, on every kind of window. Allocated windows crashed.
void plain_accumulate(Flavor flavor, const Program& program) {
  Window<double> window(flavor, 8);
  const std::vector<double> values(8, 1.5);
  MPI_Win_fence(0, window);
  for (int target = 0; target < program.size(); ++target) {
    MPI_Accumulate(values.data(), 8, MPI_DOUBLE, target, 0, 8, MPI_DOUBLE, MPI_SUM, window);
  }
  MPI_Win_fence(0, window);
  for (std::size_t i = 0; i < 8; ++i) CHECK_EQUAL(window[i], 1.5 * program.size());
  MPI_Win_fence(0, window);
}

/// The request of a put from a sparse buffer was null. Once it is complete, the buffer is free.
void request_of_a_sparse_put(Flavor flavor, const Program& program) {
  constexpr int count = 2000;
  Window<Word> window(flavor, count);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 1, 3, MPI_INT64_T, &made);
  const Type sparse(made);
  std::vector<Word> values(std::size_t{3} * count);
  std::iota(values.begin(), values.end(), program.rank());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
  MPI_Rput(values.data(), 1, sparse, program.right(), 0, count, MPI_INT64_T, window, &request);
  CHECK(request != MPI_REQUEST_NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL);
  values.assign(values.size(), -1);
  MPI_Win_unlock(program.right(), window);
  end_epochs(window, program);
  for (int i = 0; i < count; ++i) {
    CHECK_EQUAL(window[static_cast<std::size_t>(i)], 3 * i + program.left());
  }
}

/// The request of a get with gaps, on either side, was complete before its data were there.
void request_of_a_sparse_get(Flavor flavor, const Program& program) {
  constexpr int count = 2000;
  Window<Word> window(flavor, std::size_t{2} * count);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 1, 2, MPI_INT64_T, &made);
  const Type sparse(made);
  std::iota(window.data(), window.data() + window.size(), program.rank());
  end_epochs(window, program);
  support::barrier();
  for (const bool target_is_sparse : {true, false}) {
    std::vector<Word> values(std::size_t{2} * count, -1);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
    if (target_is_sparse) {
      MPI_Rget(values.data(), count, MPI_INT64_T, program.right(), 0, 1, sparse, window, &request);
    } else {
      MPI_Rget(values.data(), 1, sparse, program.right(), 0, count, MPI_INT64_T, window, &request);
    }
    CHECK(request != MPI_REQUEST_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(target_is_sparse ? i : 2 * i);
      CHECK_EQUAL(values[at], (target_is_sparse ? 2 * i : i) + program.right());
    }
    MPI_Win_unlock(program.right(), window);
  }
  support::barrier();
}

/// The description of the target's datatype is longer than a packet. The library overran a header.
void irregular_accumulate(Flavor flavor, const Program& program) {
  constexpr int blocks = 5000;
  std::vector<int> lengths;
  std::vector<int> displacements;
  int end = 0;
  int count = 0;
  for (int block = 0; block < blocks; ++block) {
    lengths.push_back(1 + block % 3);
    displacements.push_back(end + block % 5);
    end = displacements.back() + lengths.back() + 1;
    count += lengths.back();
  }
  const Type type(indexed(lengths, displacements));
  Window<Word> window(flavor, static_cast<std::size_t>(end));
  std::vector<Word> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  MPI_Win_lock_all(0, window);
  MPI_Accumulate(values.data(), count, MPI_INT64_T, 0, 0, 1, type, MPI_SUM, window);
  MPI_Win_unlock_all(window);
  end_epochs(window, program);
  if (program.rank() != 0) return;
  std::vector<Word> expected(static_cast<std::size_t>(end));
  Word next = 1;
  for (std::size_t block = 0; block < lengths.size(); ++block) {
    for (int i = 0; i < lengths[block]; ++i) {
      expected[static_cast<std::size_t>(displacements[block] + i)] = next++ * program.size();
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK_EQUAL(window[i], expected[i]);
}

/// Many short gets in one fence epoch. The fence hung.
void many_gets(Flavor flavor, const Program& program) {
  constexpr std::size_t count = 20'000;
  Window<Word> window(flavor, count);
  std::iota(window.data(), window.data() + count, program.rank());
  std::vector<Word> values(count, -1);
  MPI_Win_fence(0, window);
  for (std::size_t i = 0; i < count; ++i) {
    MPI_Get(&values[i], 1, MPI_INT64_T, program.right(), static_cast<MPI_Aint>(i), 1, MPI_INT64_T,
            window);
  }
  MPI_Win_fence(0, window);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK_EQUAL(values[i], static_cast<Word>(i) + program.right());
  }
}

/// A get of a whole window crashed for some sizes.
void whole_windows(Flavor flavor, const Program& program) {
  for (const std::size_t bytes : {1024 * 63, 1024 * 64, 1024 * 64 + 1, 1024 * 65, 1024 * 129 - 1}) {
    Window<std::uint8_t> window(flavor, bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      window[i] = static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(program.rank()));
    }
    std::vector<std::uint8_t> values(bytes);
    MPI_Win_fence(0, window);
    MPI_Get(values.data(), static_cast<int>(bytes), MPI_UINT8_T, program.right(), 0,
            static_cast<int>(bytes), MPI_UINT8_T, window);
    MPI_Win_fence(0, window);
    for (std::size_t i = 0; i < bytes; ++i) {
      CHECK_EQUAL(values[i],
                  static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(program.right())));
    }
  }
}

/// Flushes to a target that computes for a while. They hung between ranks of a node.
void flushes_to_a_busy_target(Flavor flavor, const Program& program) {
  constexpr int rounds = 1000;
  Window<Word> window(flavor, static_cast<std::size_t>(program.size()));
  MPI_Win_lock_all(0, window);
  if (program.rank() == 0) {
    support::compute(0.02);
  } else {
    for (Word round = 1; round <= rounds; ++round) {
      MPI_Put(&round, 1, MPI_INT64_T, 0, program.rank(), 1, MPI_INT64_T, window);
      MPI_Win_flush(0, window);
    }
  }
  MPI_Win_unlock_all(window);
  end_epochs(window, program);
  if (program.rank() != 0) return;
  for (std::size_t i = 1; i < window.size(); ++i) CHECK_EQUAL(window[i], rounds);
}

/// Exclusive and shared locks of the same target in turn. The ranks waited for one another.
void mixed_locks(Flavor flavor, const Program& program) {
  constexpr int rounds = 100;
  Window<Word> window(flavor, 2);
  for (int round = 0; round < rounds; ++round) {
    const int target = (program.rank() + round) % program.size();
    std::array<Word, 2> pair{-1, -2};
    const bool writes = (round + program.rank()) % 3 == 0;
    MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, window);
    MPI_Get(pair.data(), 2, MPI_INT64_T, target, 0, 2, MPI_INT64_T, window);
    MPI_Win_flush(target, window);
    CHECK_EQUAL(pair[0], pair[1]);
    if (writes) {
      pair = {pair[0] + 1, pair[1] + 1};
      MPI_Put(pair.data(), 2, MPI_INT64_T, target, 0, 2, MPI_INT64_T, window);
    }
    MPI_Win_unlock(target, window);
  }
  end_epochs(window, program);
  Word sum = window[0];
  Word expected = 0;
  for (int round = 0; round < rounds; ++round) expected += (round + program.rank()) % 3 == 0;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &expected, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, expected);
}

/// Ranks wait in a barrier while another one reads from them. The barrier advanced nothing.
void gets_from_ranks_in_a_barrier(Flavor flavor, const Program& program) {
  Window<Word> window(flavor, 1);
  window[0] = 10 + program.rank();
  MPI_Win_lock_all(0, window);
  MPI_Win_sync(window);
  support::barrier();
  if (program.rank() == 0) {
    for (int target = 0; target < program.size(); ++target) {
      Word value = -1;
      MPI_Get(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window);
      MPI_Win_flush(target, window);
      CHECK_EQUAL(value, 10 + target);
    }
  }
  support::barrier();
  MPI_Win_unlock_all(window);
  support::barrier();
}

/// One word that all ranks change by MPI_Accumulate, MPI_Fetch_and_op and MPI_Compare_and_swap, and
/// read by MPI_NO_OP. These were not atomic to one another.
void one_word_by_all_calls(Flavor flavor, const Program& program) {
  constexpr int rounds = 200;
  Window<Word> window(flavor, 1);
  const Word one = 1;
  const auto read = [&] {
    Word value = -1;
    MPI_Fetch_and_op(nullptr, &value, MPI_INT64_T, 0, 0, MPI_NO_OP, window);
    MPI_Win_flush(0, window);
    return value;
  };
  MPI_Win_lock_all(0, window);
  Word last = 0;
  for (int round = 0; round < rounds; ++round) {
    switch ((round + program.rank()) % 3) {
      case 0:
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, window);
        break;
      case 1: {
        Word before = 0;
        MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window);
        break;
      }
      default: {
        Word expected = read();
        while (true) {
          const Word next = expected + 1;
          Word found = -1;
          MPI_Compare_and_swap(&next, &expected, &found, MPI_INT64_T, 0, 0, window);
          MPI_Win_flush(0, window);
          if (found == expected) break;
          expected = found;
        }
      }
    }
    MPI_Win_flush(0, window);
    const Word now = read();
    CHECK(now > last);
    last = now;
  }
  MPI_Win_unlock_all(window);
  end_epochs(window, program);
  if (program.rank() == 0) CHECK_EQUAL(window[0], rounds * program.size());
}

/// Datatypes whose data begin behind or before their displacement, resized. The target used the
/// wrong bytes.
void bounds(Flavor flavor, const Program& program) {
  constexpr Word word = sizeof(Word);
  for (const int first : {2, -1}) {
    Window<Word> window(flavor, 12);
    const Type at(indexed({2}, {first}));
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(at, -word, 4 * word, &made);
    const Type type(made);
    const std::array<Word, 4> values{1, 2, 3, 4};
    MPI_Win_lock_all(0, window);
    MPI_Accumulate(values.data(), 4, MPI_INT64_T, program.right(), 2, 2, type, MPI_SUM, window);
    MPI_Win_unlock_all(window);
    end_epochs(window, program);
    std::array<Word, 12> expected{};
    for (const int element : {0, 1}) {
      for (const int i : {0, 1}) {
        expected[static_cast<std::size_t>(2 + first + 4 * element + i)] = 2 * element + i + 1;
      }
    }
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK_EQUAL(window[i], expected[i]);
    support::barrier();
  }
}

/// As quantum chemistry does it: a shared counter deals out tasks, each task reads a patch of one
/// matrix and adds to patches of another one. Energies were wrong.
void dealt_tasks(Flavor flavor, const Program& program) {
  constexpr int side = 24;
  constexpr int part = 8;
  constexpr int tasks = 120;
  Window<Word> counter(flavor, 1);
  Window<Word> source(flavor, std::size_t{side} * side);
  Window<Word> result(flavor, std::size_t{side} * side);
  std::iota(source.data(), source.data() + source.size(), 0);
  end_epochs(source, program);
  support::barrier();
  const Word one = 1;
  const auto next_task = [&] {
    Word task = -1;
    MPI_Fetch_and_op(&one, &task, MPI_INT64_T, 0, 0, MPI_SUM, counter);
    MPI_Win_flush(0, counter);
    return task;
  };
  const auto row_of = [](Word task) { return static_cast<int>(task * 5 % (side - part + 1)); };
  const auto column_of = [](Word task) { return static_cast<int>(task * 7 % (side - part + 1)); };
  for (const MPI_Win win : {counter.win(), source.win(), result.win()}) MPI_Win_lock_all(0, win);
  for (Word task = next_task(); task < tasks; task = next_task()) {
    const Type here(patch(side, part, part, row_of(task), column_of(task)));
    std::array<Word, std::size_t{part} * part> values{};
    const int size = part * part;
    const int owner = static_cast<int>(task) % program.size();
    MPI_Get(values.data(), size, MPI_INT64_T, owner, 0, 1, here, source);
    MPI_Win_flush(owner, source);
    for (int target = 0; target < program.size(); ++target) {
      MPI_Accumulate(values.data(), size, MPI_INT64_T, target, 0, 1, here, MPI_SUM, result);
    }
    MPI_Win_flush_local_all(result);
  }
  for (const MPI_Win win : {counter.win(), source.win(), result.win()}) MPI_Win_unlock_all(win);
  end_epochs(result, program);
  std::vector<Word> expected(result.size());
  for (Word task = 0; task < tasks; ++task) {
    for (int row = row_of(task); row < row_of(task) + part; ++row) {
      for (int column = column_of(task); column < column_of(task) + part; ++column) {
        const auto at = static_cast<std::size_t>(row * side + column);
        expected[at] += static_cast<Word>(at);
      }
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK_EQUAL(result[i], expected[i]);
}

/// Patches of arrays on both sides, put, read back and added to, as ARMCI and Global Arrays do.
/// Most of their tests failed.
void patches(Flavor flavor, const Program& program) {
  constexpr int side = 20;
  constexpr std::size_t size = std::size_t{side} * side;
  Window<Word> window(flavor, size);
  std::vector<Word> own(size);
  std::vector<Word> back(size, -1);
  std::iota(own.begin(), own.end(), Word{1000} * program.rank());
  const Type from(patch(side, 7, 5, 3, 2));
  const Type to(patch(side, 5, 7, 11, 12));
  const int target = program.right();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  MPI_Put(own.data(), 1, from, target, 0, 1, to, window);
  MPI_Win_unlock(target, window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  MPI_Get(back.data(), 1, from, target, 0, 1, to, window);
  MPI_Win_unlock(target, window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  MPI_Accumulate(own.data(), 1, from, target, 0, 1, to, MPI_SUM, window);
  MPI_Win_unlock(target, window);
  end_epochs(window, program);
  int moved = 0;
  std::vector<Word> expected(size);
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      const int at = row * side + column;
      const bool inside = row >= 3 && row < 10 && column >= 2 && column < 7;
      CHECK_EQUAL(back[static_cast<std::size_t>(at)],
                  inside ? own[static_cast<std::size_t>(at)] : -1);
      if (!inside) continue;
      const int there = (11 + moved / 7) * side + 12 + moved % 7;
      expected[static_cast<std::size_t>(there)] = 2 * (Word{1000} * program.left() + at);
      ++moved;
    }
  }
  for (std::size_t i = 0; i < size; ++i) CHECK_EQUAL(window[i], expected[i]);
}

/// Windows made, used and freed in turn. Memory leaked with each.
void windows_in_turn(Flavor flavor, const Program& program) {
  support::check_settles(6, 50, [&] {
    for (int i = 0; i < 30; ++i) {
      Window<Word> window(flavor, 100);
      const Word value = i;
      MPI_Win_fence(0, window);
      MPI_Put(&value, 1, MPI_INT64_T, program.right(), 3, 1, MPI_INT64_T, window);
      MPI_Win_fence(0, window);
      CHECK_EQUAL(window[3], i);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  using Test = void (*)(Flavor, const Program&);
  const std::pair<const char*, Test> tests[] = {
      {"ompi#14181 accumulate to an indexed type of one element", indexed_of_one_element},
      {"ompi#14175 accumulate from MPI_BOTTOM", bottom},
      {"ompi#14173 contended exchange of one word", contended_exchange},
      {"armci-mpi#60 a thousand outstanding requests", outstanding_requests},
      {"ompi#14203 accumulate to an allocated window", plain_accumulate},
      {"mpich#7890 request of a put from a sparse buffer", request_of_a_sparse_put},
      {"mpich#7896 request of a sparse get", request_of_a_sparse_get},
      {"mpich#7886 accumulate to 5000 irregular blocks", irregular_accumulate},
      {"mpich#6888 20000 gets in a fence epoch", many_gets},
      {"mpich#7619 gets of whole windows", whole_windows},
      {"ompi#10559 flushes to a busy target", flushes_to_a_busy_target},
      {"ompi#6549 exclusive and shared locks", mixed_locks},
      {"ompi#7631 gets from ranks in a barrier", gets_from_ranks_in_a_barrier},
      {"ompi#4688 one word by all atomic calls", one_word_by_all_calls},
      {"ompi#6275 bounds of datatypes", bounds},
      {"mpich#6110 tasks dealt out by a counter", dealt_tasks},
      {"ompi#10026 patches of arrays", patches},
      {"ompi#13298 accumulates over libfabric's messages", plain_accumulate},
      {"ompi#13070 windows made and freed", windows_in_turn},
  };
  for (const Flavor flavor : support::flavors()) {
    for (const auto& [name, test] : tests) program.test(name, [&] { test(flavor, program); });
  }
}
