// SPDX-License-Identifier: BSD-3-Clause
// Windows on the program's own memory, which peers reach by asking its owner or the system: short
// operations one by one and in rows, to ranks that wait in MPI and ranks that compute (G3, E9).
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "support/program.hpp"

namespace {

using support::barrier;
using support::Program;
using Word = std::uint64_t;

constexpr int words = 1024;

/// A window on memory of the program, of so many words of each origin at every rank.
class Created {
 public:
  explicit Created(const Program& program)
      : memory_(std::size_t(program.size() * words)), own_(program.rank() * words) {
    MPI_Win_create(memory_.data(), MPI_Aint(memory_.size() * sizeof(Word)), sizeof(Word),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &handle_);
  }
  ~Created() { MPI_Win_free(&handle_); }
  Created(const Created&) = delete;
  Created& operator=(const Created&) = delete;

  operator MPI_Win() const { return handle_; }
  /// The words of an origin in this rank's memory.
  const Word* of(int origin) const { return memory_.data() + std::ptrdiff_t(origin) * words; }
  /// The displacement of this rank's own words at any target.
  MPI_Aint at(int place) const { return own_ + place; }

 private:
  std::vector<Word> memory_;
  int own_;
  MPI_Win handle_ = MPI_WIN_NULL;
};

bool on_one_node(const Program& program) {
  MPI_Comm node;
  int ranks = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  return ranks == program.size();
}

void put(const Word* from, int count, int target, const Created& window, int place) {
  MPI_Put(from, count, MPI_UINT64_T, target, window.at(place), count, MPI_UINT64_T, window);
}
void get(Word* to, int count, int target, const Created& window, int place) {
  MPI_Get(to, count, MPI_UINT64_T, target, window.at(place), count, MPI_UINT64_T, window);
}

/// Random operations on this rank's words at the target, with what they ought to fetch.
class RandomRow {
 public:
  RandomRow(const Program& program, const Created& window, int target)
      : window_(window), target_(target), random_(unsigned(1 + program.rank())) {}

  void run(int operations) {
    for (int i = 0; i < operations; ++i) operate();
    complete();
  }
  const std::vector<Word>& expected() const { return expected_; }

 private:
  int below(int end) { return int(random_() % unsigned(end)); }

  void operate() {
    // Rows of one kind, of a few words or of more than a kilobyte.
    if (below(8) == 0) kind_ = below(6);
    const int count = below(10) == 0 ? 1 + below(200) : 1 + below(4);
    const int place = below(words - count);
    std::vector<Word>& origin = buffers_.emplace_back(std::size_t(count));
    for (Word& word : origin) word = random_();
    Word* const cells = expected_.data() + place;
    switch (kind_) {
      case 0:
      case 1:
        put(origin.data(), count, target_, window_, place);
        std::copy(origin.begin(), origin.end(), cells);
        break;
      case 2:
        get(fetched(cells, count), count, target_, window_, place);
        break;
      case 3:
        MPI_Accumulate(origin.data(), count, MPI_UINT64_T, target_, window_.at(place), count,
                       MPI_UINT64_T, MPI_SUM, window_);
        for (int i = 0; i < count; ++i) cells[i] += origin[std::size_t(i)];
        break;
      case 4:
        MPI_Get_accumulate(origin.data(), count, MPI_UINT64_T, fetched(cells, count), count,
                           MPI_UINT64_T, target_, window_.at(place), count, MPI_UINT64_T, MPI_BXOR,
                           window_);
        for (int i = 0; i < count; ++i) cells[i] ^= origin[std::size_t(i)];
        break;
      default: {
        std::vector<Word>& compare = buffers_.emplace_back(1, below(2) == 0 ? *cells : *cells + 1);
        MPI_Compare_and_swap(origin.data(), compare.data(), fetched(cells, 1), MPI_UINT64_T,
                             target_, window_.at(place), window_);
        if (compare[0] == *cells) *cells = origin[0];
        break;
      }
    }
    if (below(20) == 0) complete();
  }
  Word* fetched(const Word* cells, int count) {
    wanted_.emplace_back(cells, cells + count);
    return results_.emplace_back(std::size_t(count)).data();
  }
  void complete() {
    MPI_Win_flush(target_, window_);
    CHECK(results_ == wanted_);
    results_.clear();
    wanted_.clear();
    buffers_.clear();
  }

  const Created& window_;
  int target_;
  std::mt19937_64 random_;
  int kind_ = 0;
  std::vector<Word> expected_ = std::vector<Word>(words);
  std::vector<std::vector<Word>> buffers_, results_, wanted_;
};

/// Operations to one target take place in the order of their calls, so random rows need no flush
/// between.
void random_rows(const Program& program) {
  Created window(program);
  for (int distance : {1, program.size() - 1}) {
    const int target = (program.rank() + distance) % program.size();
    const int origin = (program.rank() + program.size() - distance) % program.size();
    MPI_Win_fence(0, window);
    std::fill(const_cast<Word*>(window.of(origin)), const_cast<Word*>(window.of(origin)) + words,
              0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_lock_all(0, window);
    RandomRow row(program, window, target);
    row.run(1500);
    MPI_Win_unlock_all(window);
    // The target compares its memory with the words that its origin expects there.
    std::vector<Word> expected(words);
    MPI_Sendrecv(row.expected().data(), words, MPI_UINT64_T, target, 0, expected.data(), words,
                 MPI_UINT64_T, origin, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(std::equal(expected.begin(), expected.end(), window.of(origin)));
    barrier();
  }
}

/// A row of puts, and one of gets, is complete when the call returns that ends its epoch.
void rows_in_epochs(const Program& program) {
  constexpr int row = 100;
  Created window(program);
  const int target = program.right();
  std::vector<Word> values(row);
  std::vector<Word> got(row);
  Word round = 0;
  const auto fill = [&](int rank) {
    for (int i = 0; i < row; ++i)
      values[std::size_t(i)] = (Word(rank) << 32) + 1000 * round + Word(i);
  };
  const auto put_row = [&] {
    ++round;
    fill(program.rank());
    for (int i = 0; i < row; ++i) put(&values[std::size_t(i)], 1, target, window, 7 * i);
  };
  const auto get_row = [&] {
    std::fill(got.begin(), got.end(), 0);
    for (int i = 0; i < row; ++i) get(&got[std::size_t(i)], 1, target, window, 7 * i);
  };
  const auto check_there = [&] {
    fill(program.left());
    for (int i = 0; i < row; ++i)
      CHECK_EQUAL(window.of(program.left())[7 * i], values[std::size_t(i)]);
    fill(program.rank());
  };
  for (int i = 0; i < 3; ++i) {
    MPI_Win_fence(0, window);
    put_row();
    MPI_Win_fence(0, window);
    check_there();
    MPI_Win_fence(0, window);
    get_row();
    MPI_Win_fence(0, window);
    CHECK(got == values);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);

  MPI_Group all;
  MPI_Group right;
  MPI_Group left;
  const int neighbours[] = {program.right(), program.left()};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &neighbours[0], &right);
  MPI_Group_incl(all, 1, &neighbours[1], &left);
  for (const bool writes : {true, false}) {
    MPI_Win_post(left, 0, window);
    MPI_Win_start(right, 0, window);
    writes ? put_row() : get_row();
    MPI_Win_complete(window);
    if (!writes) CHECK(got == values);
    MPI_Win_wait(window);
    if (writes) check_there();
    barrier();
  }
  MPI_Group_free(&all);
  MPI_Group_free(&right);
  MPI_Group_free(&left);

  for (const int type : {MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED}) {
    MPI_Win_lock(type, target, 0, window);
    put_row();
    MPI_Win_unlock(target, window);
    MPI_Win_lock(type, target, 0, window);
    get_row();
    MPI_Win_flush_local(target, window);
    CHECK(got == values);
    MPI_Win_unlock(target, window);
  }
  MPI_Win_lock_all(0, window);
  put_row();
  MPI_Win_flush_local_all(window);
  const std::vector<Word> sent = values;
  std::fill(values.begin(), values.end(), 0);  // the buffers are the program's again
  get_row();
  MPI_Win_flush_all(window);
  CHECK(got == sent);
  MPI_Win_unlock_all(window);
}

/// Sums into one word, of a rank that waits or computes.
void sums(const Program& program) {
  constexpr int turns = 2000;
  Created window(program);
  MPI_Win_lock_all(0, window);
  for (const bool computes : {false, true}) {
    const int place = computes ? 1 : 0;
    if (computes && program.rank() == 0) support::compute(0.05);
    for (int i = 0; i < turns && program.rank() != 0; ++i) {
      const Word one = 1;
      Word before = 0;
      MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, 0, place, MPI_SUM, window);
      MPI_Win_flush(0, window);
      CHECK(before < Word(turns * program.size()));
    }
    barrier();
    Word all = 0;
    MPI_Fetch_and_op(nullptr, &all, MPI_UINT64_T, 0, place, MPI_NO_OP, window);
    MPI_Win_flush(0, window);
    CHECK_EQUAL(all, Word(turns * (program.size() - 1)));
    barrier();
  }
  MPI_Win_unlock_all(window);
}

/// Operations of up to half a megabyte, which origin and target carry out together: to ranks that
/// wait, that do the same to others, and that compute.
void long_operations(const Program& program) {
  constexpr int most = 65'536;
  std::vector<Word> memory(most + 2);
  MPI_Win window;
  MPI_Win_create(memory.data(), MPI_Aint(memory.size() * sizeof(Word)), sizeof(Word), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &window);
  std::vector<Word> values(most);
  std::vector<Word> got(most);
  MPI_Win_lock_all(0, window);
  for (const bool all_at_once : {false, true}) {
    for (int round = 0; round < 24; ++round) {
      const int target = program.right();
      const int count =
          std::vector{2'047, 2'049, 8'191, 8'193, 50'001, most}[std::size_t(round % 6)];
      if (all_at_once || round % program.size() == program.rank()) {
        for (int i = 0; i < count; ++i) values[std::size_t(i)] = Word(i) * Word(round + 3);
        MPI_Put(values.data(), count, MPI_UINT64_T, target, 1, count, MPI_UINT64_T, window);
        MPI_Win_flush(target, window);
        MPI_Accumulate(values.data(), count, MPI_UINT64_T, target, 1, count, MPI_UINT64_T, MPI_SUM,
                       window);
        MPI_Win_flush(target, window);
        MPI_Get(got.data(), count, MPI_UINT64_T, target, 1, count, MPI_UINT64_T, window);
        MPI_Win_flush(target, window);
        MPI_Accumulate(values.data(), count, MPI_UINT64_T, target, 1, count, MPI_UINT64_T,
                       MPI_REPLACE, window);
        MPI_Win_flush(target, window);
        for (int i = 0; i < count; ++i) {
          CHECK_EQUAL(got[std::size_t(i)], 2 * values[std::size_t(i)]);
        }
      } else if (round >= 12) {
        support::compute(0.002);
      }
      barrier();
      if (all_at_once || (round + 1) % program.size() == program.rank()) {
        MPI_Win_sync(window);
        for (int i = 0; i < count; ++i) {
          CHECK_EQUAL(memory[std::size_t(i + 1)], Word(i) * Word(round + 3));
        }
        CHECK_EQUAL(memory.front() + memory.back(), Word(0));
      }
      barrier();
    }
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

/// MPI promises nothing without a flush. On one node a message comes behind the puts before it all
/// the same.
void told_by_a_message(const Program& program) {
  if (!on_one_node(program)) return;
  Created window(program);
  MPI_Win_lock_all(0, window);
  for (Word round = 1; round <= 100; ++round) {
    const std::vector<Word> values(10, round);
    for (int i = 0; i < 10; ++i) put(&values[std::size_t(i)], 1, program.right(), window, i);
    int token = 0;
    MPI_Sendrecv_replace(&token, 1, MPI_INT, program.right(), 0, program.left(), 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Win_sync(window);
    for (int i = 0; i < 10; ++i) CHECK_EQUAL(window.of(program.left())[i], round);
    MPI_Win_flush(program.right(), window);
    barrier();
  }
  MPI_Win_unlock_all(window);
}

/// Windows one after the other on memory at one address, which is freed and allocated again between
/// them.
void reused_memory(const Program& program) {
  constexpr std::size_t several = 5'000;
  for (Word round = 1; round <= 20; ++round) {
    std::vector<Word> memory(several, round);
    MPI_Win window;
    MPI_Win_create(memory.data(), MPI_Aint(several * sizeof(Word)), sizeof(Word), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    Word got = 0;
    const Word value = 100 * round + Word(program.rank());
    MPI_Win_fence(0, window);
    MPI_Get(&got, 1, MPI_UINT64_T, program.right(), several - 1, 1, MPI_UINT64_T, window);
    MPI_Put(&value, 1, MPI_UINT64_T, program.right(), 1, 1, MPI_UINT64_T, window);
    MPI_Win_fence(0, window);
    CHECK_EQUAL(got, round);
    CHECK_EQUAL(memory[1], 100 * round + Word(program.left()));
    MPI_Win_free(&window);
  }
}

/// Another rank's memory is not shown, by whatever way this rank reaches it: the MPI library might
/// not be able to send from it.
void not_shown(const Program& program) {
  Created window(program);
  for (int rank = 0; rank < program.size(); ++rank) {
    MPI_Aint size = -1;
    int unit = 0;
    Word* base = nullptr;
    MPI_Win_shared_query(window, rank, &size, &unit, &base);
    CHECK_EQUAL(size == 0, rank != program.rank());
    CHECK_EQUAL(base == nullptr, rank != program.rank());
  }
}

/// Memory that nobody can load any more is an error of who accesses it, and on one node kills
/// nobody.
void protected_memory(const Program& program) {
  if (!on_one_node(program)) return;
  constexpr std::size_t page = 4096;
  auto* const memory = static_cast<Word*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  MPI_Win window;
  MPI_Win_create(memory, 2 * page, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  if (program.rank() == 0) mprotect(memory, page, PROT_NONE);
  barrier();
  MPI_Win_lock_all(0, window);
  if (program.rank() == 1) {
    for (int i = 0; i < 200; ++i) {
      Word word = 1;
      int code = i % 2 == 0 ? MPI_Get(&word, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, window)
                            : MPI_Accumulate(&word, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, MPI_SUM,
                                             window);
      const int flushed = MPI_Win_flush(0, window);
      CHECK(code != MPI_SUCCESS || flushed != MPI_SUCCESS);
      code = MPI_Put(&word, 1, MPI_UINT64_T, 0, page, 1, MPI_UINT64_T, window);
      CHECK_EQUAL(code, MPI_SUCCESS);
      CHECK_EQUAL(MPI_Win_flush(0, window), MPI_SUCCESS);
    }
    // A row fails as a whole, and is told once.
    Word values[20] = {};
    for (int i = 0; i < 20; ++i) {
      MPI_Put(&values[i], 1, MPI_UINT64_T, 0, 8 * i, 1, MPI_UINT64_T, window);
    }
    CHECK(MPI_Win_flush(0, window) != MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_flush(0, window), MPI_SUCCESS);
  }
  MPI_Win_unlock_all(window);
  barrier();
  MPI_Win_free(&window);
  munmap(memory, 2 * page);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  program.test_unless_host("any", "MPI orders accumulates alone", "random rows",
                           [&] { random_rows(program); });
  program.test("rows in epochs", [&] { rows_in_epochs(program); });
  program.test("sums", [&] { sums(program); });
  program.test("long operations", [&] { long_operations(program); });
  program.test("told by a message", [&] { told_by_a_message(program); });
  program.test("reused memory", [&] { reused_memory(program); });
  program.test_unless_host("any", "hosts may show it", "not shown", [&] { not_shown(program); });
  if (program.size() > 1) {
    program.test_unless_host("any", "hosts crash", "protected memory",
                             [&] { protected_memory(program); });
  }
}
