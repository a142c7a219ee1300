// SPDX-License-Identifier: BSD-3-Clause
// Q5: memory handles. Memory is exposed without a collective call, used through windows of its own,
// and no longer once it is released.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "support/counters.hpp"
#include "support/footprint.hpp"
#include "support/nonblocking.hpp"
#include "support/notified.hpp"
#include "support/program.hpp"
#include "support/window.hpp"
#include "support/windows.hpp"

namespace {

using support::Program;
using Handle = std::vector<unsigned char>;

const support::Windows& oriel() {
  static const support::Windows calls;
  return calls;
}

/// A dynamic window that returns errors, locked for all ranks as long as it lives.
class Parent {
 public:
  Parent() {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, window_);
  }
  ~Parent() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
  operator MPI_Win() const { return window_; }  // NOLINT(google-explicit-constructor)

 private:
  MPI_Win window_ = MPI_WIN_NULL;
};

Handle make(void* base, MPI_Aint size, MPI_Win parent) {
  Handle handle(ORIEL_MAX_MEMHANDLE_SIZE);
  int bytes = 0;
  CHECK_EQUAL(oriel().Memhandle_create(base, size, MPI_INFO_NULL, parent, handle.data(), &bytes),
              MPI_SUCCESS);
  CHECK(bytes > 0 && bytes <= ORIEL_MAX_MEMHANDLE_SIZE);
  handle.resize(static_cast<std::size_t>(bytes));
  return handle;
}

/// That of the right neighbour.
Handle neighbours(Handle own, const Program& program) {
  Handle other(own.size());
  MPI_Sendrecv(own.data(), static_cast<int>(own.size()), MPI_BYTE, program.left(), 0, other.data(),
               static_cast<int>(other.size()), MPI_BYTE, program.right(), 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  return other;
}

MPI_Win open(const Handle& handle, MPI_Aint size, int disp_unit, int target, MPI_Win parent) {
  MPI_Win window = MPI_WIN_NULL;
  CHECK_EQUAL(oriel().Win_from_memhandle(handle.data(), size, disp_unit, MPI_INFO_NULL, target,
                                         parent, &window),
              MPI_SUCCESS);
  return window;
}

/// Memory of the process's own, or of what node peers map.
std::int64_t* take(bool shared, std::size_t count) {
  std::int64_t* memory = nullptr;
  if (shared) {
    MPI_Alloc_mem(static_cast<MPI_Aint>(8 * count), MPI_INFO_NULL, &memory);
  } else {
    memory = static_cast<std::int64_t*>(std::malloc(8 * count));
  }
  std::fill_n(memory, count, std::int64_t{0});
  return memory;
}

void give(bool shared, std::int64_t* memory) {
  shared ? static_cast<void>(MPI_Free_mem(memory)) : std::free(memory);
}

/// Figure 6, with every kind of operation.
void operations(const Program& program, bool shared) {
  constexpr std::size_t count = 100'000;  // halves are longer than any message
  const Parent parent;
  std::int64_t* memory = take(shared, count);
  Handle own = make(memory, 8 * count, parent);
  const Handle other = neighbours(own, program);
  const int target = program.right();
  MPI_Win window = open(other, 8 * count, 8, target, parent);
  std::vector<std::int64_t> values(count / 2);
  std::iota(values.begin(), values.end(), 1000 * program.rank());
  const int half = static_cast<int>(count / 2);
  MPI_Put(values.data(), half, MPI_INT64_T, target, half, half, MPI_INT64_T, window);
  MPI_Win_flush(target, window);
  for (int i = 0; i < 100; ++i) {
    MPI_Put(&values[static_cast<std::size_t>(i)], 1, MPI_INT64_T, target, i, 1, MPI_INT64_T,
            window);
  }
  // A flush of the parent covers them as well.
  MPI_Win_flush_all(parent);
  std::vector<std::int64_t> back(count / 2);
  MPI_Get(back.data(), half, MPI_INT64_T, target, half, half, MPI_INT64_T, window);
  MPI_Win_flush_local(target, window);
  CHECK(back == values);
  const std::int64_t five = 5;
  std::int64_t fetched[3] = {};
  MPI_Accumulate(&five, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, window);
  MPI_Fetch_and_op(&five, &fetched[0], MPI_INT64_T, target, 1, MPI_SUM, window);
  MPI_Get_accumulate(&five, 1, MPI_INT64_T, &fetched[1], 1, MPI_INT64_T, target, 2, 1, MPI_INT64_T,
                     MPI_SUM, window);
  MPI_Compare_and_swap(&five, &values[3], &fetched[2], MPI_INT64_T, target, 3, window);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Rput(&five, 1, MPI_INT64_T, target, 4, 1, MPI_INT64_T, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Datatype strided;
  MPI_Type_vector(3, 1, 2, MPI_INT64_T, &strided);
  MPI_Type_commit(&strided);
  MPI_Put(values.data(), 3, MPI_INT64_T, target, 10, 1, strided, window);
  MPI_Type_free(&strided);
  MPI_Win_flush(target, window);
  for (std::size_t i = 0; i < 3; ++i) CHECK_EQUAL(fetched[i], values[i + 1]);
  support::barrier();
  const std::int64_t first = 1000 * program.left();
  const std::int64_t expected[] = {first + 5, first + 6,  first + 7, 5,          5,
                                   first + 5, first + 6,  first + 7, first + 8,  first + 9,
                                   first,     first + 11, first + 1, first + 13, first + 2};
  for (std::size_t i = 0; i < std::size(expected); ++i) CHECK_EQUAL(memory[i], expected[i]);
  for (std::size_t i = 0; i < count / 2; ++i) {
    CHECK_EQUAL(memory[count / 2 + i], first + static_cast<std::int64_t>(i));
  }
  CHECK_EQUAL(MPI_Win_free(&window), MPI_SUCCESS);
  support::barrier();
  CHECK_EQUAL(oriel().Memhandle_release(own.data(), parent), MPI_SUCCESS);
  give(shared, memory);
}

/// The class of what a put of so many words, or the flush behind it, reports.
int put_and_flush(MPI_Win window, int target, MPI_Aint displacement, int count = 1) {
  const std::vector<std::int64_t> values(static_cast<std::size_t>(count), 77);
  const int put =
      MPI_Put(values.data(), count, MPI_INT64_T, target, displacement, count, MPI_INT64_T, window);
  const int flushed = MPI_Win_flush(target, window);
  CHECK(put == MPI_SUCCESS || flushed == MPI_SUCCESS);
  return support::error_class(put != MPI_SUCCESS ? put : flushed);
}

/// Whether a window is made from the handle of a rank that has released it: never where this rank
/// maps the owner's words, as it does its own. Elsewhere each operation on the window is refused.
void open_released(const Handle& handle, MPI_Aint size, int target, MPI_Win parent, bool mapped) {
  MPI_Win window = MPI_WIN_NULL;
  const int code =
      oriel().Win_from_memhandle(handle.data(), size, 8, MPI_INFO_NULL, target, parent, &window);
  if (mapped || code != MPI_SUCCESS) {
    CHECK_CLASS(code, MPI_ERR_ARG);
    CHECK(window == MPI_WIN_NULL);
    return;
  }
  CHECK_EQUAL(put_and_flush(window, target, size / 16), MPI_ERR_RMA_RANGE);
  CHECK_EQUAL(MPI_Win_free(&window), MPI_SUCCESS);
}

/// Whether this rank maps the words of all others, and nothing goes by messages.
bool all_mapped() {
  const char* vm = std::getenv("ORIEL_VM");
  return support::one_node() && (vm == nullptr || std::strcmp(vm, "0") != 0);
}

/// The memory is given back, out again, and exposed again: the old handle stays what it is. Puts of
/// a word, or longer than any message.
void released(const Program& program, bool shared, int count) {
  const Parent parent;
  const int target = program.right();
  const int words = 8 * count;
  const MPI_Aint size = MPI_Aint{8} * words;
  const auto put = [&](MPI_Win window, MPI_Aint place) {
    return put_and_flush(window, target, place * count, count);
  };
  std::int64_t* memory = take(shared, static_cast<std::size_t>(words));
  Handle own = make(memory, size, parent);
  MPI_Win window = open(neighbours(own, program), size, 8, target, parent);
  CHECK_EQUAL(put(window, 0), MPI_SUCCESS);
  CHECK_EQUAL(put(window, 7), MPI_SUCCESS);
  support::barrier();
  CHECK_EQUAL(memory[0], std::int64_t{77});
  const Handle theirs = neighbours(own, program);
  CHECK_EQUAL(oriel().Memhandle_release(own.data(), parent), MPI_SUCCESS);
  CHECK_CLASS(oriel().Memhandle_release(own.data(), parent), MPI_ERR_ARG);
  open_released(own, size, program.rank(), parent, true);
  support::barrier();
  open_released(theirs, size, target, parent, all_mapped());
  support::barrier();
  CHECK_EQUAL(memory[words / 2], std::int64_t{0});
  give(shared, memory);
  support::barrier();
  CHECK_EQUAL(put(window, 1), MPI_ERR_RMA_RANGE);
  support::barrier();
  memory = take(shared, static_cast<std::size_t>(words));
  Handle next = make(memory, size, parent);
  support::barrier();
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(put(window, 0), MPI_ERR_RMA_RANGE);
  const std::int64_t one = 1;
  const int code = MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, window);
  const int flushed = MPI_Win_flush(target, window);
  CHECK_CLASS(code != MPI_SUCCESS ? code : flushed, MPI_ERR_RMA_RANGE);
  MPI_Win again = open(neighbours(next, program), size, 8, target, parent);
  CHECK_EQUAL(put(again, 1), MPI_SUCCESS);
  support::barrier();
  CHECK_EQUAL(memory[0], std::int64_t{0});
  CHECK_EQUAL(memory[count - 1], std::int64_t{0});
  CHECK_EQUAL(memory[count], std::int64_t{77});
  MPI_Win_free(&window);
  MPI_Win_free(&again);
  support::barrier();
  CHECK_EQUAL(oriel().Memhandle_release(next.data(), parent), MPI_SUCCESS);
  give(shared, memory);
}

void bounds(const Program& program) {
  const Parent parent;
  const int target = program.right();
  std::vector<std::int64_t> memory(8);
  Handle own = make(memory.data(), 64, parent);
  const Handle other = neighbours(own, program);
  MPI_Win window = open(other, 24, 4, target, parent);
  MPI_Aint* size = nullptr;
  int* unit = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window, MPI_WIN_SIZE, &size, &flag);
  CHECK(flag && *size == 24);
  MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &unit, &flag);
  CHECK(flag && *unit == 4);
  CHECK_EQUAL(put_and_flush(window, target, 4), MPI_SUCCESS);
  CHECK_EQUAL(put_and_flush(window, target, 5), MPI_ERR_RMA_RANGE);
  CHECK_EQUAL(put_and_flush(window, target, -1), MPI_ERR_DISP);
  CHECK_EQUAL(put_and_flush(window, target, MPI_Aint{1} << 62), MPI_ERR_RMA_RANGE);
  support::barrier();
  CHECK_EQUAL(memory[2], std::int64_t{77});
  CHECK_EQUAL(memory[3], std::int64_t{0});
  const std::int64_t value = 1;
  if (program.size() > 1) {
    const int nobody = program.rank();
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT64_T, nobody, 0, 1, MPI_INT64_T, window), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_flush(nobody, window), MPI_ERR_RANK);
  }
  CHECK_EQUAL(MPI_Put(&value, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, window),
              MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_flush(MPI_PROC_NULL, window), MPI_SUCCESS);
  CHECK_CLASS(
      oriel().Win_from_memhandle(other.data(), 65, 1, MPI_INFO_NULL, target, parent, &window),
      MPI_ERR_SIZE);
  CHECK_CLASS(
      oriel().Win_from_memhandle(other.data(), -1, 1, MPI_INFO_NULL, target, parent, &window),
      MPI_ERR_SIZE);
  CHECK_CLASS(
      oriel().Win_from_memhandle(other.data(), 8, 0, MPI_INFO_NULL, target, parent, &window),
      MPI_ERR_DISP);
  CHECK_CLASS(oriel().Win_from_memhandle(other.data(), 8, 1, MPI_INFO_NULL, program.size(), parent,
                                         &window),
              MPI_ERR_RANK);
  MPI_Win_free(&window);
  support::barrier();
  oriel().Memhandle_release(own.data(), parent);
}

/// What is no handle, or not of that rank on this window.
void forged(const Program& program) {
  const Parent parent;
  const Parent stranger;
  std::vector<std::int64_t> memory(8);
  Handle own = make(memory.data(), 64, parent);
  const Handle other = neighbours(own, program);
  const int target = program.right();
  MPI_Win window = MPI_WIN_NULL;
  const auto refused = [&](const Handle& handle, int rank, MPI_Win of) {
    CHECK_CLASS(oriel().Win_from_memhandle(handle.data(), 8, 1, MPI_INFO_NULL, rank, of, &window),
                MPI_ERR_ARG);
  };
  for (std::size_t i = 0; i < other.size(); ++i) {
    Handle changed = other;
    changed[i] ^= 0x10;
    refused(changed, target, parent);
  }
  Handle truncated = other;
  std::fill(truncated.begin() + 20, truncated.end(), static_cast<unsigned char>(0));
  refused(truncated, target, parent);
  refused(Handle(ORIEL_MAX_MEMHANDLE_SIZE), target, parent);
  refused(other, target, stranger);
  if (program.size() > 1)
    refused(other, program.left() == target ? program.rank() : program.left(), parent);
  CHECK_CLASS(oriel().Memhandle_release(truncated.data(), parent), MPI_ERR_ARG);
  CHECK_CLASS(oriel().Memhandle_release(nullptr, parent), MPI_ERR_ARG);
  CHECK_CLASS(oriel().Win_from_memhandle(nullptr, 8, 1, MPI_INFO_NULL, target, parent, &window),
              MPI_ERR_ARG);
  CHECK_CLASS(
      oriel().Win_from_memhandle(other.data(), 8, 1, MPI_INFO_NULL, target, parent, nullptr),
      MPI_ERR_ARG);
  int bytes = 0;
  CHECK_CLASS(oriel().Memhandle_create(memory.data(), 64, MPI_INFO_NULL, parent, nullptr, &bytes),
              MPI_ERR_ARG);
  if (program.size() > 1) {
    Handle theirs = other;
    CHECK_CLASS(oriel().Memhandle_release(theirs.data(), parent), MPI_ERR_ARG);
  }
  CHECK_CLASS(oriel().Memhandle_release(own.data(), stranger), MPI_ERR_ARG);
  support::barrier();
  CHECK_EQUAL(oriel().Memhandle_release(own.data(), parent), MPI_SUCCESS);
}

void refused_calls(const Program& program) {
  const support::Nonblocking nonblocking;
  const support::Notified notified;
  MPI_Win allocated = MPI_WIN_NULL;
  std::int64_t* memory = nullptr;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &allocated);
  MPI_Win_set_errhandler(allocated, MPI_ERRORS_RETURN);
  Handle handle(ORIEL_MAX_MEMHANDLE_SIZE);
  int bytes = 0;
  CHECK_CLASS(oriel().Memhandle_create(memory, 64, MPI_INFO_NULL, allocated, handle.data(), &bytes),
              MPI_ERR_RMA_FLAVOR);
  MPI_Win_free(&allocated);

  MPI_Win parent = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parent);
  MPI_Win_set_errhandler(parent, MPI_ERRORS_RETURN);
  std::vector<std::int64_t> words(8);
  CHECK_CLASS(
      oriel().Memhandle_create(words.data(), -1, MPI_INFO_NULL, parent, handle.data(), &bytes),
      MPI_ERR_SIZE);
  CHECK_CLASS(oriel().Memhandle_create(nullptr, 8, MPI_INFO_NULL, parent, handle.data(), &bytes),
              MPI_ERR_ARG);
  Handle own = make(words.data(), 64, parent);
  const int target = program.rank();
  MPI_Win window = open(own, 64, 8, target, parent);
  const std::int64_t value = 1;
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window), MPI_ERR_RMA_SYNC);
  MPI_Win_fence(0, parent);
  CHECK_CLASS(MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window), MPI_ERR_RMA_SYNC);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, parent);
  CHECK_CLASS(MPI_Win_fence(0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_lock_all(0, window), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(nonblocking.Win_ilock_all(0, window, &request), MPI_ERR_RMA_SYNC);
  CHECK_CLASS(nonblocking.Win_iunlock(target, window, &request), MPI_ERR_RMA_SYNC);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, parent);
  CHECK_CLASS(notified.Put_notify(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window, 3),
              MPI_ERR_RMA_FLAVOR);
  CHECK_CLASS(MPI_Win_attach(window, words.data(), 8), MPI_ERR_RMA_FLAVOR);
  const support::Counters counters;
  CHECK_CLASS(counters.Win_set_num_notify(window, MPI_INFO_NULL, 1), MPI_ERR_RMA_FLAVOR);
  CHECK_EQUAL(MPI_Put(&value, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, window), MPI_SUCCESS);
  CHECK_EQUAL(nonblocking.Win_iflush(target, window, &request), MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQUAL(MPI_Win_sync(window), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_unlock(target, parent), MPI_SUCCESS);
  CHECK_EQUAL(words[0], std::int64_t{1});
  CHECK_CLASS(MPI_Win_free(&parent), MPI_ERR_OTHER);
  MPI_Win_free(&window);
  MPI_Win_free(&parent);
}

/// A million handles, and windows from them, leave nothing behind; a thousand live together.
void many(const Program& program) {
  // A rank alone shows it for all.
  const int often = program.size() == 1 ? 1'000'000 : 100'000;
  const int windows = program.size() == 1 ? 20'000 : 50;
  const Parent parent;
  std::vector<std::int64_t> memory(1000);
  support::Footprint before;
  for (int i = 0; i < often; ++i) {
    if (i == often / 10) before = support::Footprint();
    Handle handle = make(&memory[static_cast<std::size_t>(i) % 1000], 8, parent);
    if (i % (often / windows) == 0) {
      MPI_Win window = open(handle, 8, 8, program.rank(), parent);
      MPI_Win_free(&window);
    }
    CHECK_EQUAL(oriel().Memhandle_release(handle.data(), parent), MPI_SUCCESS);
  }
  constexpr long few = 512;  // two megabytes
  before.check_flat(few);
  std::vector<Handle> handles;
  for (std::int64_t& word : memory) handles.push_back(make(&word, 8, parent));
  std::vector<MPI_Win> opened;
  for (std::size_t i = 0; i < 1000; i += 20) {
    opened.push_back(open(neighbours(handles[i], program), 8, 8, program.right(), parent));
    CHECK_EQUAL(put_and_flush(opened.back(), program.right(), 0), MPI_SUCCESS);
  }
  support::barrier();
  for (std::size_t i = 0; i < 1000; ++i) CHECK_EQUAL(memory[i], i % 20 == 0 ? 77 : 0);
  for (MPI_Win& window : opened) MPI_Win_free(&window);
  support::barrier();
  for (Handle& handle : handles) oriel().Memhandle_release(handle.data(), parent);
}

/// Handles whose memory long operations have used leave nothing behind either.
void many_long(const Program& program) {
  const int often = 200;
  constexpr int count = 50'000;
  const Parent parent;
  const int target = program.right();
  std::vector<std::int64_t> memory(count);
  std::vector<std::int64_t> back(count);
  support::Footprint before;
  for (int i = 0; i < often; ++i) {
    if (i == often / 10) before = support::Footprint();
    Handle own = make(memory.data(), MPI_Aint{8} * count, parent);
    MPI_Win window = open(neighbours(own, program), MPI_Aint{8} * count, 8, target, parent);
    CHECK_EQUAL(put_and_flush(window, target, 0, count), MPI_SUCCESS);
    MPI_Get(back.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, window);
    CHECK_EQUAL(MPI_Win_flush(target, window), MPI_SUCCESS);
    CHECK_EQUAL(back[count - 1], std::int64_t{77});
    MPI_Win_free(&window);
    support::barrier();
    CHECK_EQUAL(oriel().Memhandle_release(own.data(), parent), MPI_SUCCESS);
  }
  constexpr long few = 1024;  // four megabytes
  before.check_flat(few);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  if (program.host_only()) return 0;  // no host has them
  for (const bool shared : {false, true}) {
    program.test("operations", [&] { operations(program, shared); });
    for (const int count : {1, 50'000}) {
      program.test("released", [&] { released(program, shared, count); });
    }
  }
  program.test("bounds", [&] { bounds(program); });
  program.test("forged", [&] { forged(program); });
  program.test("refused calls", [&] { refused_calls(program); });
  program.test("many", [&] { many(program); });
  program.test("many long", [&] { many_long(program); });
}
