// SPDX-License-Identifier: BSD-3-Clause
// Created windows whose memory is moved into shared memory (ORIEL_ADOPT=always). Nothing of what a
// program may do with its memory changes. Runs on hosts alone, too. Not among the usual programs:
// it needs that setting.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "support/footprint.hpp"
#include "support/program.hpp"

namespace {

using support::Program;
using Word = std::uint64_t;

constexpr std::size_t page = 4096;
constexpr std::size_t words_of_page = page / sizeof(Word);

/// A window on memory of the program.
class Created {
 public:
  Created(Word* memory, std::size_t words) {
    MPI_Win_create(memory, MPI_Aint(words * sizeof(Word)), sizeof(Word), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &handle_);
  }
  ~Created() { free(); }
  Created(const Created&) = delete;
  Created& operator=(const Created&) = delete;

  void free() {
    if (handle_ != MPI_WIN_NULL) MPI_Win_free(&handle_);
  }
  operator MPI_Win() const { return handle_; }

 private:
  MPI_Win handle_ = MPI_WIN_NULL;
};

Word* map_pages(std::size_t count) {
  void* pages =
      mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  return static_cast<Word*>(pages);
}

Word value(int rank, std::size_t place, Word round = 0) {
  return (Word(rank) << 48) + (round << 32) + place;
}

/// Stores, sums and swaps into every word of the right neighbour: the ends of its window lie in
/// pages of other things, or in none.
void every_word(const Program& program) {
  for (const std::size_t head : {0UL, 2UL, 511UL}) {
    const std::size_t words = 3 * words_of_page + head;
    std::vector<Word> other(words);
    Word* const memory = map_pages(6) + (2 * words_of_page - head) % words_of_page;
    for (std::size_t i = 0; i < words; ++i) memory[i] = value(program.rank(), i);
    Created window(memory, words);
    MPI_Win_lock(MPI_LOCK_SHARED, program.right(), 0, window);
    for (std::size_t i = 0; i < words; ++i) {
      MPI_Get(&other[i], 1, MPI_UINT64_T, program.right(), MPI_Aint(i), 1, MPI_UINT64_T, window);
    }
    MPI_Win_flush(program.right(), window);
    for (std::size_t i = 0; i < words; ++i) CHECK_EQUAL(other[i], value(program.right(), i));
    for (std::size_t i = 0; i < words; ++i) {
      other[i] = value(program.rank(), i, 1);
      const Word one = 1;
      MPI_Put(&other[i], 1, MPI_UINT64_T, program.right(), MPI_Aint(i), 1, MPI_UINT64_T, window);
      MPI_Win_flush(program.right(), window);
      MPI_Accumulate(&one, 1, MPI_UINT64_T, program.right(), MPI_Aint(i), 1, MPI_UINT64_T, MPI_SUM,
                     window);
    }
    MPI_Win_unlock(program.right(), window);
    // In one call, beyond the ends of whole pages.
    std::vector<Word> ones(words, 1);
    MPI_Win_fence(0, window);
    MPI_Accumulate(ones.data(), int(words), MPI_UINT64_T, program.right(), 0, int(words),
                   MPI_UINT64_T, MPI_SUM, window);
    MPI_Win_fence(0, window);
    for (std::size_t i = 0; i < words; ++i) {
      CHECK_EQUAL(memory[i], value(program.left(), i, 1) + 2);
    }
    window.free();
    for (std::size_t i = 0; i < words; ++i) {
      CHECK_EQUAL(memory[i], value(program.left(), i, 1) + 2);
    }
  }
}

/// Sums of all ranks to words on both sides of the border between private and shared memory, some
/// by one element and some by all of them: none is lost.
void sums_at_the_border(const Program& program) {
  constexpr int rounds = 400;
  constexpr int words = 8;
  Word* const memory = map_pages(3) + words_of_page - words / 2;
  Created window(memory, 2 * words_of_page);
  const std::vector<Word> ones(words, 1);
  MPI_Win_lock_all(0, window);
  for (int round = 0; round < rounds; ++round) {
    for (int target = 0; target < program.size(); ++target) {
      if (round % 2 == 0) {
        MPI_Accumulate(ones.data(), words, MPI_UINT64_T, target, 0, words, MPI_UINT64_T, MPI_SUM,
                       window);
        continue;
      }
      for (int i = 0; i < words; ++i) {
        Word before = 0;
        MPI_Fetch_and_op(&ones[0], &before, MPI_UINT64_T, target, i, MPI_SUM, window);
      }
      MPI_Win_flush_all(window);
    }
  }
  MPI_Win_unlock_all(window);
  window.free();
  for (int i = 0; i < words; ++i) CHECK_EQUAL(memory[i], Word(rounds) * Word(program.size()));
}

/// The child of a fork has the memory as it was at the fork, and its parent does not see what the
/// child stores.
void fork_as_before(const Program& program) {
  constexpr std::size_t pages = 4;
  Word* const memory = map_pages(pages);
  for (std::size_t i = 0; i < pages; ++i) memory[i * words_of_page] = value(program.rank(), i);
  Created window(memory, pages * words_of_page);
  int to_child[2];
  CHECK_EQUAL(pipe(to_child), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) {
    char token = 0;
    bool right = read(to_child[0], &token, 1) == 1;
    for (std::size_t i = 0; i < pages; ++i) {
      right = right && memory[i * words_of_page] == value(program.rank(), i);
      memory[i * words_of_page] = 0;
    }
    _exit(right ? 0 : 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_fence(0, window);
  for (std::size_t i = 0; i < pages; ++i) {
    const Word next = value(program.rank(), i, 1);
    MPI_Put(&next, 1, MPI_UINT64_T, program.right(), MPI_Aint(i * words_of_page), 1, MPI_UINT64_T,
            window);
    MPI_Win_fence(0, window);
  }
  CHECK_EQUAL(write(to_child[1], "", 1), 1);
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 0);
  for (std::size_t i = 0; i < pages; ++i) {
    CHECK_EQUAL(memory[i * words_of_page], value(program.left(), i, 1));
  }
  close(to_child[0]);
  close(to_child[1]);
}

/// Memory that is given back to the system before its window is freed, and taken again.
void freed_before_the_window(const Program& program) {
  constexpr std::size_t pages = 4;
  Word* memory = map_pages(pages);
  for (int round = 0; round < 3; ++round) {
    memory[words_of_page] = value(program.rank(), 1, Word(round));
    Created window(memory, pages * words_of_page);
    Word seen = 0;
    MPI_Win_fence(0, window);
    MPI_Get(&seen, 1, MPI_UINT64_T, program.right(), words_of_page, 1, MPI_UINT64_T, window);
    MPI_Win_fence(0, window);
    CHECK_EQUAL(seen, value(program.right(), 1, Word(round)));
    MPI_Barrier(MPI_COMM_WORLD);
    void* const again = mmap(memory, pages * page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    CHECK(again == memory);
    memory[0] = 7;
    window.free();
    CHECK_EQUAL(memory[0], Word(7));
    CHECK_EQUAL(memory[words_of_page], Word(0));
  }
}

/// Windows that share memory with others, freed in another order.
void overlapping(const Program& program) {
  constexpr std::size_t pages = 6;
  Word* const memory = map_pages(pages);
  const auto put = [&](MPI_Win window, std::size_t place, Word what) {
    MPI_Win_fence(0, window);
    MPI_Put(&what, 1, MPI_UINT64_T, program.right(), MPI_Aint(place), 1, MPI_UINT64_T, window);
    MPI_Win_fence(0, window);
  };
  Created inner(memory + words_of_page + 8, 3 * words_of_page);
  Created outer(memory, pages * words_of_page);
  Created same(memory + words_of_page + 8, 3 * words_of_page);
  put(outer, 0, 1);
  put(outer, 3 * words_of_page, 2);
  put(outer, 5 * words_of_page + 511, 3);
  put(inner, 0, 4);
  put(same, words_of_page, 5);
  inner.free();
  put(same, 2 * words_of_page, 6);
  put(outer, 2 * words_of_page, 7);
  same.free();
  put(outer, 4 * words_of_page, 8);
  outer.free();
  const auto at = [&](std::size_t place) { return memory[place]; };
  CHECK_EQUAL(at(0), Word(1));
  CHECK_EQUAL(at(3 * words_of_page), Word(2));
  CHECK_EQUAL(at(5 * words_of_page + 511), Word(3));
  CHECK_EQUAL(at(words_of_page + 8), Word(4));
  CHECK_EQUAL(at(2 * words_of_page + 8), Word(5));
  CHECK_EQUAL(at(3 * words_of_page + 8), Word(6));
  CHECK_EQUAL(at(2 * words_of_page), Word(7));
  CHECK_EQUAL(at(4 * words_of_page), Word(8));
}

/// A thread of the program stores while windows on its memory come and go: no store is lost.
void a_thread_stores(const Program&) {
  constexpr std::size_t pages = 8;
  Word* const memory = map_pages(pages);
  std::atomic<bool> stop = false;
  Word stored = 0;
  std::thread thread([&] {
    while (!stop.load()) {
      ++stored;
      for (std::size_t i = 0; i < pages; ++i) {
        auto* word = static_cast<volatile Word*>(memory + i * words_of_page + 1);
        *word = *word + 1;
      }
    }
  });
  for (int round = 0; round < 50; ++round) Created(memory, pages * words_of_page).free();
  stop = true;
  thread.join();
  for (std::size_t i = 0; i < pages; ++i) CHECK_EQUAL(memory[i * words_of_page + 1], stored);
}

/// Whole pages are there for loads and stores (MPI-4.1 section 12.2.3). A host has its own answer.
void shared_query(const Program& program) {
  Word* const memory = map_pages(2);
  memory[5] = value(program.rank(), 5);
  Created window(memory, 2 * words_of_page);
  MPI_Aint size = 0;
  int unit = 0;
  Word* theirs = nullptr;
  MPI_Win_shared_query(window, program.right(), &size, &unit, &theirs);
  CHECK_EQUAL(size, MPI_Aint(2 * page));
  CHECK_EQUAL(unit, int(sizeof(Word)));
  MPI_Win_fence(0, window);
  CHECK_EQUAL(theirs[5], value(program.right(), 5));
  MPI_Win_fence(0, window);
  theirs[6] = value(program.rank(), 6);
  MPI_Win_fence(0, window);
  CHECK_EQUAL(memory[6], value(program.left(), 6));
}

/// Windows on the same memory again and again.
void flat(const Program& program) {
  constexpr std::size_t pages = 16;
  Word* const memory = map_pages(pages);
  for (std::size_t i = 0; i < pages * words_of_page; ++i) memory[i] = value(program.rank(), i);
  constexpr int most_rounds = 20;
  constexpr int windows = 20;
  // Were the memory of one window in four kept, more would pile up. Intel MPI touches a few pages
  // of a pool of its own for as long as there are messages.
  constexpr long few = pages * windows / 4;
  support::check_settles(most_rounds, few, [&] {
    for (int i = 0; i < windows; ++i) {
      Created window(memory, pages * words_of_page);
      Word seen = 0;
      MPI_Win_fence(0, window);
      MPI_Get(&seen, 1, MPI_UINT64_T, program.right(), i, 1, MPI_UINT64_T, window);
      MPI_Win_fence(0, window);
      CHECK_EQUAL(seen, value(program.right(), std::size_t(i)));
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv, MPI_THREAD_FUNNELED);
  program.test("every word", [&] { every_word(program); });
  program.test("sums at the border", [&] { sums_at_the_border(program); });
  program.test("fork as before", [&] { fork_as_before(program); });
  program.test("freed before the window", [&] { freed_before_the_window(program); });
  program.test("overlapping", [&] { overlapping(program); });
  program.test("a thread stores", [&] { a_thread_stores(program); });
  program.test("flat", [&] { flat(program); });
  // Where the system lets nothing be moved it has no answer: test_adopted.py asks for it by name.
  if (argc > 1) {
    program.test_unless_host("any", "hosts have no answer", "shared query",
                             [&] { shared_query(program); });
  }
}
