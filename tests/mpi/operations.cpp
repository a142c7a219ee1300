// SPDX-License-Identifier: BSD-3-Clause
// G3: every operation, on every kind of window, to the right neighbour, to oneself and to
// MPI_PROC_NULL; the large-count forms where the host has them.
#include <array>
#include <cstdint>
#include <numeric>

#include "support/program.hpp"
#include "support/window.hpp"

namespace {

using support::barrier;
using support::Flavor;
using support::Program;
using support::Window;

constexpr int count = 8;
using Values = std::array<std::int64_t, count>;

Values ramp(std::int64_t first) {
  Values values;
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// The target's memory as the origin sees it, by a get of its own.
Values look(MPI_Win win, int target) {
  Values values{};
  MPI_Get(values.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, win);
  MPI_Win_flush(target, win);
  return values;
}

void check_values(const Values& actual, const Values& expected) {
  for (std::size_t i = 0; i < count; ++i) CHECK_EQUAL(actual[i], expected[i]);
}

/// Inside an exclusive lock: `target` belongs to the caller alone.
void every_operation(MPI_Win win, int target) {
  const Values first = ramp(100);
  MPI_Put(first.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, win);
  MPI_Win_flush(target, win);
  check_values(look(win, target), first);

  const Values ones = {1, 1, 1, 1, 1, 1, 1, 1};
  MPI_Accumulate(ones.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_flush(target, win);
  check_values(look(win, target), ramp(101));
  MPI_Accumulate(first.data(), 3, MPI_INT64_T, target, 5, 3, MPI_INT64_T, MPI_REPLACE, win);
  MPI_Win_flush(target, win);
  check_values(look(win, target), Values{101, 102, 103, 104, 105, 100, 101, 102});

  // Ordered accumulates to one place: the second gets what the first left.
  Values before{}, after{};
  MPI_Get_accumulate(ones.data(), count, MPI_INT64_T, before.data(), count, MPI_INT64_T, target, 0,
                     count, MPI_INT64_T, MPI_SUM, win);
  MPI_Get_accumulate(nullptr, 0, MPI_INT64_T, after.data(), count, MPI_INT64_T, target, 0, count,
                     MPI_INT64_T, MPI_NO_OP, win);
  MPI_Win_flush(target, win);
  check_values(before, Values{101, 102, 103, 104, 105, 100, 101, 102});
  check_values(after, Values{102, 103, 104, 105, 106, 101, 102, 103});

  std::int64_t result = -1;
  const std::int64_t ten = 10;
  MPI_Fetch_and_op(&ten, &result, MPI_INT64_T, target, 2, MPI_SUM, win);
  MPI_Win_flush(target, win);
  CHECK_EQUAL(result, 104);
  MPI_Fetch_and_op(nullptr, &result, MPI_INT64_T, target, 2, MPI_NO_OP, win);
  MPI_Win_flush(target, win);
  CHECK_EQUAL(result, 114);
  MPI_Fetch_and_op(&ten, &result, MPI_INT64_T, target, 2, MPI_REPLACE, win);
  MPI_Win_flush(target, win);
  CHECK_EQUAL(result, 114);

  std::int64_t compare = 11;
  const std::int64_t swap = 12;
  MPI_Compare_and_swap(&swap, &compare, &result, MPI_INT64_T, target, 2, win);
  MPI_Win_flush(target, win);
  CHECK_EQUAL(result, 10);
  compare = 10;
  MPI_Compare_and_swap(&swap, &compare, &result, MPI_INT64_T, target, 2, win);
  MPI_Win_flush(target, win);
  CHECK_EQUAL(result, 10);
  CHECK_EQUAL(look(win, target)[2], 12);
}

void request_operations(MPI_Win win, int target) {
  const auto wait = [](MPI_Request& request) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
  };
  MPI_Request request;
  const Values first = ramp(200);
  MPI_Rput(first.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, win, &request);
  wait(request);
  MPI_Win_flush(target, win);
  Values got{};
  MPI_Rget(got.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, win, &request);
  wait(request);
  check_values(got, first);
  const Values ones = {1, 1, 1, 1, 1, 1, 1, 1};
  MPI_Raccumulate(ones.data(), count, MPI_INT64_T, target, 0, count, MPI_INT64_T, MPI_SUM, win,
                  &request);
  wait(request);
  MPI_Rget_accumulate(ones.data(), count, MPI_INT64_T, got.data(), count, MPI_INT64_T, target, 0,
                      count, MPI_INT64_T, MPI_SUM, win, &request);
  wait(request);
  check_values(got, ramp(201));
  MPI_Rget_accumulate(nullptr, 0, MPI_INT64_T, got.data(), count, MPI_INT64_T, target, 0, count,
                      MPI_INT64_T, MPI_NO_OP, win, &request);
  wait(request);
  check_values(got, ramp(202));
}

#if MPI_VERSION >= 4
void large_count_operations(MPI_Win win, int target) {
  const MPI_Count many = count;
  const Values first = ramp(300);
  const Values ones = {1, 1, 1, 1, 1, 1, 1, 1};
  Values got{};
  MPI_Put_c(first.data(), many, MPI_INT64_T, target, 0, many, MPI_INT64_T, win);
  MPI_Win_flush(target, win);
  MPI_Get_c(got.data(), many, MPI_INT64_T, target, 0, many, MPI_INT64_T, win);
  MPI_Win_flush(target, win);
  check_values(got, first);
  MPI_Accumulate_c(ones.data(), many, MPI_INT64_T, target, 0, many, MPI_INT64_T, MPI_SUM, win);
  MPI_Get_accumulate_c(ones.data(), many, MPI_INT64_T, got.data(), many, MPI_INT64_T, target, 0,
                       many, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_flush(target, win);
  check_values(got, ramp(301));
  MPI_Request requests[2];
  MPI_Rput_c(first.data(), many, MPI_INT64_T, target, 0, many, MPI_INT64_T, win, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Win_flush(target, win);
  MPI_Raccumulate_c(ones.data(), many, MPI_INT64_T, target, 0, many, MPI_INT64_T, MPI_SUM, win,
                    &requests[0]);
  MPI_Rget_accumulate_c(ones.data(), many, MPI_INT64_T, got.data(), many, MPI_INT64_T, target, 0,
                        many, MPI_INT64_T, MPI_SUM, win, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check_values(got, ramp(301));
  MPI_Win_flush(target, win);
  MPI_Rget_c(got.data(), many, MPI_INT64_T, target, 0, many, MPI_INT64_T, win, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  check_values(got, ramp(302));
}
#endif

void proc_null(MPI_Win win) {
  Values values = ramp(1);
  Values result = ramp(2);
  std::int64_t one = 1;
  MPI_Win_lock_all(0, win);
  MPI_Put(values.data(), count, MPI_INT64_T, MPI_PROC_NULL, 0, count, MPI_INT64_T, win);
  MPI_Get(result.data(), count, MPI_INT64_T, MPI_PROC_NULL, 0, count, MPI_INT64_T, win);
  MPI_Accumulate(values.data(), count, MPI_INT64_T, MPI_PROC_NULL, 0, count, MPI_INT64_T, MPI_SUM,
                 win);
  MPI_Get_accumulate(values.data(), count, MPI_INT64_T, result.data(), count, MPI_INT64_T,
                     MPI_PROC_NULL, 0, count, MPI_INT64_T, MPI_SUM, win);
  MPI_Fetch_and_op(&one, result.data(), MPI_INT64_T, MPI_PROC_NULL, 0, MPI_SUM, win);
  MPI_Compare_and_swap(&one, &one, result.data(), MPI_INT64_T, MPI_PROC_NULL, 0, win);
  MPI_Request requests[4];
  MPI_Rput(values.data(), count, MPI_INT64_T, MPI_PROC_NULL, 0, count, MPI_INT64_T, win,
           &requests[0]);
  MPI_Rget(result.data(), count, MPI_INT64_T, MPI_PROC_NULL, 0, count, MPI_INT64_T, win,
           &requests[1]);
  MPI_Raccumulate(values.data(), count, MPI_INT64_T, MPI_PROC_NULL, 0, count, MPI_INT64_T, MPI_SUM,
                  win, &requests[2]);
  MPI_Rget_accumulate(values.data(), count, MPI_INT64_T, result.data(), count, MPI_INT64_T,
                      MPI_PROC_NULL, 0, count, MPI_INT64_T, MPI_SUM, win, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  // The other side's type says nothing when there is no other side.
  MPI_Get_accumulate(values.data(), count, MPI_INT64_T, result.data(), count, MPI_INT64_T,
                     MPI_PROC_NULL, 0, 0, MPI_BYTE, MPI_SUM, win);
  MPI_Win_unlock_all(win);
  check_values(result, ramp(2));
}

/// Nothing to do is never an error: whatever the type, the op and the addresses.
void no_elements(MPI_Win win, int target) {
  MPI_Put(nullptr, 0, MPI_INT64_T, target, 0, 0, MPI_INT64_T, win);
  MPI_Get(nullptr, 0, MPI_BYTE, target, 0, 0, MPI_BYTE, win);
  MPI_Accumulate(nullptr, 0, MPI_BYTE, target, 0, 0, MPI_BYTE, MPI_SUM, win);
  MPI_Get_accumulate(nullptr, 0, MPI_BYTE, nullptr, 0, MPI_BYTE, target, 0, 0, MPI_BYTE, MPI_SUM,
                     win);
  // Right behind the last byte is still inside.
  MPI_Put(nullptr, 0, MPI_INT64_T, target, count, 0, MPI_INT64_T, win);
  MPI_Win_flush(target, win);
}

/// Sizes around every threshold one might think of, so that short and long paths both run.
void many_sizes(Flavor flavor, const Program& program) {
  constexpr std::size_t largest = 1 << 20;
  Window<char> window(flavor, largest);
  std::vector<char> out(largest), in(largest);
  for (std::size_t i = 0; i < largest; ++i) out[i] = static_cast<char>(i * 7 + i / 251);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
  for (int size : {1, 3, 8, 64, 65, 4095, 4096, 65537, 1 << 20}) {
    const int at = static_cast<int>(largest) - size;
    std::fill(in.begin(), in.end(), 0);
    MPI_Put(out.data(), size, MPI_CHAR, program.right(), at, size, MPI_CHAR, window);
    MPI_Win_flush(program.right(), window);
    MPI_Get(in.data(), size, MPI_CHAR, program.right(), at, size, MPI_CHAR, window);
    MPI_Win_flush(program.right(), window);
    CHECK(std::memcmp(in.data(), out.data(), static_cast<std::size_t>(size)) == 0);
  }
  MPI_Win_unlock(program.right(), window);
}

/// Datatypes of long blocks, at either side and at both, and of different lengths.
void long_blocks(Flavor flavor, const Program& program) {
  constexpr int blocks = 12;
  constexpr int ints = 6000;  // of a block
  constexpr int stride = 7001;
  constexpr int halves = 2 * blocks;
  constexpr std::size_t extent = static_cast<std::size_t>(blocks) * stride;
  MPI_Datatype vector, fine;
  MPI_Type_vector(blocks, ints, stride, MPI_INT, &vector);
  MPI_Type_vector(halves, ints / 2, ints / 2 + 13, MPI_INT, &fine);
  MPI_Type_commit(&vector);
  MPI_Type_commit(&fine);
  constexpr int total = blocks * ints;
  const int target = program.right();
  Window<int> window(flavor, extent);
  std::vector<int> out(extent), in(extent);
  for (std::size_t i = 0; i < extent; ++i) out[i] = static_cast<int>(i) + 1;
  const auto spread = [](int i) { return i / ints * stride + i % ints; };
  const auto finely = [](int i) { return i / (ints / 2) * (ints / 2 + 13) + i % (ints / 2); };

  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  MPI_Put(out.data(), total, MPI_INT, target, 0, 1, vector, window);
  MPI_Get(in.data(), 1, fine, target, 0, 1, vector, window);
  MPI_Win_flush(target, window);
  MPI_Get(in.data(), 1, fine, target, 0, 1, vector, window);
  MPI_Win_unlock(target, window);
  for (int i = 0; i < total; ++i) {
    CHECK_EQUAL(in[static_cast<std::size_t>(finely(i))], out[static_cast<std::size_t>(i)]);
  }

  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  MPI_Put(out.data(), 1, fine, target, 0, 1, vector, window);
  MPI_Win_flush(target, window);
  MPI_Get(in.data(), static_cast<int>(extent), MPI_INT, target, 0, static_cast<int>(extent),
          MPI_INT, window);
  MPI_Win_unlock(target, window);
  for (int i = 0; i < total; ++i) {
    CHECK_EQUAL(in[static_cast<std::size_t>(spread(i))], out[static_cast<std::size_t>(finely(i))]);
  }
  for (int block = 0; block + 1 < blocks; ++block) {
    CHECK_EQUAL(in[static_cast<std::size_t>(block * stride + ints)], 0);
  }
  MPI_Type_free(&vector);
  MPI_Type_free(&fine);
}

/// Large accumulates: what goes in pieces must still be whole (mpich#7886 and its like).
void large_accumulate(Flavor flavor, const Program& program) {
  constexpr int elements = 100000;
  Window<double> window(flavor, elements);
  std::vector<double> ones(elements, 1.0), result(elements);
  for (int target = 0; target < std::min(program.size(), 2); ++target) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Accumulate(ones.data(), elements, MPI_DOUBLE, target, 0, elements, MPI_DOUBLE, MPI_SUM,
                   window);
    MPI_Get_accumulate(ones.data(), elements, MPI_DOUBLE, result.data(), elements, MPI_DOUBLE,
                       target, 0, elements, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_unlock(target, window);
    for (double value : result) CHECK(value >= 1 && value <= 2 * program.size() - 1);
  }
  barrier();
  if (program.rank() < 2) {
    MPI_Win_lock(MPI_LOCK_SHARED, program.rank(), 0, window);
    for (int i = 0; i < elements; ++i) {
      CHECK_EQUAL(window[static_cast<std::size_t>(i)], 2.0 * program.size());
    }
    MPI_Win_unlock(program.rank(), window);
  }
}

/// A compare-and-swap of every integer size; one byte must not touch its neighbours.
void compare_and_swap_sizes(Flavor flavor, const Program& program) {
  Window<std::uint64_t> window(flavor, 1);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, program.right(), 0, window);
  const auto swap = [&](auto type, MPI_Datatype datatype) {
    using T = decltype(type);
    const std::uint64_t background = 0xA5A5A5A5A5A5A5A5u;
    MPI_Put(&background, 1, MPI_UINT64_T, program.right(), 0, 1, MPI_UINT64_T, window);
    MPI_Win_flush(program.right(), window);
    const T compare = static_cast<T>(background);
    const T replacement = 0x11;
    T result = 0;
    MPI_Compare_and_swap(&replacement, &compare, &result, datatype, program.right(), 0, window);
    MPI_Win_flush(program.right(), window);
    CHECK_EQUAL(result, compare);
    std::uint64_t now = 0, expected = background;
    std::memcpy(&expected, &replacement, sizeof replacement);
    MPI_Get(&now, 1, MPI_UINT64_T, program.right(), 0, 1, MPI_UINT64_T, window);
    MPI_Win_flush(program.right(), window);
    CHECK_EQUAL(now, expected);
  };
  swap(std::int8_t{}, MPI_INT8_T);
  swap(std::uint16_t{}, MPI_UINT16_T);
  swap(std::int32_t{}, MPI_INT32_T);
  swap(std::uint64_t{}, MPI_UINT64_T);
  swap(std::uint8_t{}, MPI_BYTE);
  swap(MPI_Aint{}, MPI_AINT);
  MPI_Win_unlock(program.right(), window);
}

/// A fetch by another name for the same numbers, which all hosts take.
void fetch_by_another_name(MPI_Win win, int target) {
  const long one = 1;
  std::int64_t before = -1;
  const std::int64_t hundred = 100;
  MPI_Put(&hundred, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win);
  MPI_Win_flush(target, win);
  MPI_Get_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_INT64_T, target, 0, 1, MPI_LONG, MPI_SUM,
                     win);
  MPI_Win_flush(target, win);
  CHECK_EQUAL(before, hundred);
}

}  // namespace

int main(int argc, char** argv) {
  Program program(argc, argv);
  for (Flavor flavor : support::flavors()) {
    Window<std::int64_t> window(flavor, count);
    const auto locked = [&](auto body) {
      for (int target : {program.right(), program.rank()}) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        body(window, target);
        MPI_Win_unlock(target, window);
      }
    };
    program.test("every operation", [&] { locked(every_operation); });
    program.test("fetch by another name", [&] { locked(fetch_by_another_name); });
    program.test("request operations", [&] { locked(request_operations); });
#if MPI_VERSION >= 4
    program.test("large-count operations", [&] { locked(large_count_operations); });
#endif
    program.test("no elements", [&] { locked(no_elements); });
    program.test("MPI_PROC_NULL", [&] { proc_null(window); });
    program.test("many sizes", [&] { many_sizes(flavor, program); });
    program.test("long blocks", [&] { long_blocks(flavor, program); });
    program.test("large accumulate", [&] { large_accumulate(flavor, program); });
    program.test("compare and swap of all sizes", [&] { compare_and_swap_sizes(flavor, program); });
  }
}
