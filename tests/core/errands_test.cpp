// SPDX-License-Identifier: BSD-3-Clause
// A few bytes of private memory are moved or updated by their owner, if it is there, and chunks of
// many; all else by system calls, with the same result.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/calls.hpp"
#include "transport/sim/sim_job.hpp"

namespace oriel::test {
namespace {

constexpr std::uint64_t element = sizeof(std::uint64_t);

class Errands : public ::testing::TestWithParam<unsigned> {
 protected:
  Errands() {
    SimWindowSpec spec;
    spec.bytes = 4096;
    spec.memory = {Path::system_call, Path::system_call};
    job_.create_window(spec);
    job_.network().set_serving(GetParam());
    for (std::size_t i = 0; i < words; ++i) set(i, 1000 + i);
    EXPECT_EQ(window().lock(true, 1, {}), Error::none);
  }
  ~Errands() override { EXPECT_TRUE(window().unlock(1, nullptr).done); }

  Window& window() { return job_.window(0); }
  void set(std::size_t place, std::uint64_t value) {
    std::memcpy(job_.memory(1) + place * element, &value, element);
  }
  std::uint64_t at(std::size_t place) {
    std::uint64_t value = 0;
    std::memcpy(&value, job_.memory(1) + place * element, element);
    return value;
  }
  /// So many words in a row from `place` on; `result`: where they are fetched to.
  Operation on_words(OperationKind kind, std::uint64_t count, std::int64_t place,
                     const std::uint64_t* origin, std::uint64_t* result = nullptr) {
    Operation made = on_word(kind, origin, 1, place * static_cast<std::int64_t>(element));
    made.target_count = made.origin.count = count;
    made.reduction = {Op::sum, Basic::u64, element};
    if (fetches(kind)) {
      made.result = made.origin;
      made.result.address = result;
    }
    return made;
  }
  /// As it was carried out: `calls` are the system calls that it takes where nobody is there.
  void expect_way(std::uint64_t errands, std::uint64_t calls) {
    const bool served = GetParam() != 0;
    EXPECT_EQ(job_.transport(0).errands() - errands_, served ? errands : 0);
    EXPECT_EQ(job_.transport(0).copies() - copies_, served && errands != 0 ? 0 : calls);
    errands_ = job_.transport(0).errands();
    copies_ = job_.transport(0).copies();
  }

  static constexpr std::size_t words = 512;
  static constexpr std::uint64_t most = Errand::most_bytes / element;
  static constexpr std::uint64_t most_moved = 5;

  SimJob job_{{0, 0}};
  std::uint64_t errands_ = 0;
  std::uint64_t copies_ = 0;
};

std::vector<std::uint64_t> counted(std::uint64_t count) {
  std::vector<std::uint64_t> made(count);
  for (std::uint64_t i = 0; i < count; ++i) made[i] = i + 1;
  return made;
}

// By the general path first, which opens the other one, and then by that.
TEST_P(Errands, MoveAFewBytes) {
  for (const std::uint64_t count : {std::uint64_t{1}, most_moved, most_moved + 1, most}) {
    const std::uint64_t errands = count <= most_moved ? 1 : 0;
    const std::vector<std::uint64_t> put = counted(count);
    issue(window(), on_words(OperationKind::put, count, 3, put.data()));
    expect_way(errands, 1);
    ASSERT_TRUE(window().try_copy(true, 1, 300 * 8, const_cast<std::uint64_t*>(put.data()),
                                  count * element));
    expect_way(errands, 1);
    EXPECT_EQ(at(2), 1002u);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(at(3 + i), put[i]);
      ASSERT_EQ(at(300 + i), put[i]);
    }
    EXPECT_EQ(at(300 + count), 1300 + count);
    std::vector<std::uint64_t> got(count + 1, 7);
    issue(window(), on_words(OperationKind::get, count, 3, nullptr, got.data()));
    expect_way(errands, 1);
    EXPECT_EQ(std::vector<std::uint64_t>(got.begin(), got.end() - 1), put);
    ASSERT_TRUE(window().try_copy(false, 1, 301 * 8, got.data(), count * element));
    expect_way(errands, 1);
    EXPECT_EQ(got[0], count > 1 ? 2 : 1301u);
    EXPECT_EQ(got[count], 7u);
    for (std::size_t i = 0; i < words; ++i) set(i, 1000 + i);
  }
}

TEST_P(Errands, UpdateAFewElements) {
  for (const std::uint64_t count : {std::uint64_t{1}, most, most + 1}) {
    const std::uint64_t errands = count <= most ? 1 : 0;
    const std::vector<std::uint64_t> sum = counted(count);
    std::vector<std::uint64_t> got(count + 1, 7);
    issue(window(), on_words(OperationKind::accumulate, count, 3, sum.data()));
    expect_way(errands, 2);
    issue(window(), on_words(OperationKind::get_accumulate, count, 3, sum.data(), got.data()));
    expect_way(errands, 2);
    const Reduction reduction{Op::sum, Basic::u64, element};
    ASSERT_TRUE(window().try_reduce(nullptr, 1, 3 * 8, reduction, sum.data(), nullptr, count));
    expect_way(errands, 2);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(got[i], 1003 + i + sum[i]);
      ASSERT_EQ(at(3 + i), 1003 + i + 3 * sum[i]);
    }
    // The program may give any pointer for the operand that MPI_NO_OP does not read.
    const auto* const invalid = reinterpret_cast<const void*>(element);
    for (const void* const ignored : {static_cast<const void*>(nullptr), invalid}) {
      std::ranges::fill(got, 7);
      ASSERT_TRUE(window().try_reduce(nullptr, 1, 3 * 8, {Op::no_op, Basic::u64, element}, ignored,
                                      got.data(), count));
      expect_way(errands, 1);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i], at(3 + i));
    }
    EXPECT_EQ(got[count], 7u);
    EXPECT_EQ(at(3 + count), 1003 + count);
    for (std::size_t i = 0; i < words; ++i) set(i, 1000 + i);
  }
}

TEST_P(Errands, CompareAndSwap) {
  const std::uint64_t swapped = 5;
  for (const std::uint64_t compare : {1003, 1004}) {
    std::uint64_t old = 0;
    Operation operation = on_words(OperationKind::compare_and_swap, 1, 3, &swapped, &old);
    operation.compare = &compare;
    issue(window(), operation);
    expect_way(1, 2);
    EXPECT_EQ(old, 1003u);
    EXPECT_EQ(at(3), compare == 1003 ? 5u : 1003u);
    set(3, 1003);
    old = 0;
    const Reduction reduction{Op::replace, Basic::u64, element};
    ASSERT_TRUE(window().try_compare_swap(nullptr, 1, 3 * 8, reduction, &swapped, &compare, &old));
    expect_way(1, 2);
    EXPECT_EQ(old, 1003u);
    EXPECT_EQ(at(3), compare == 1003 ? 5u : 1003u);
    set(3, 1003);
  }
}

// Elements that no processor has an instruction for, off their boundary, and with gaps between.
TEST_P(Errands, ElementsOfAnyKind) {
  const long double one = 1;
  long double sum = 0;
  std::memset(job_.memory(1), 0, 64);
  const Reduction reduction{Op::sum, Basic::long_double, sizeof one};
  for (int i = 1; i <= 3; ++i) {
    const bool first = i == 1;
    Operation operation = on_words(OperationKind::accumulate, 1, 0, nullptr);
    operation.displacement = 4;
    operation.target_layout = operation.origin.layout =
        LayoutRef(new Layout({{0, sizeof one}}, sizeof one, Basic::long_double));
    operation.reduction = reduction;
    operation.origin.address = const_cast<long double*>(&one);
    if (first) {
      issue(window(), operation);
    } else {
      ASSERT_TRUE(window().try_reduce(nullptr, 1, 4, reduction, &one, nullptr, 1));
    }
    expect_way(1, 2);
    std::memcpy(&sum, job_.memory(1) + 4, sizeof sum);
    EXPECT_EQ(sum, i);
  }
  const std::vector<std::uint64_t> origin = counted(2);
  Operation gaps = on_words(OperationKind::accumulate, 1, 10, origin.data());
  gaps.target_layout = LayoutRef(new Layout({{0, element}, {16, element}}, 24, Basic::u64));
  gaps.origin.count = 2;
  issue(window(), gaps);
  expect_way(0, 2);
  EXPECT_EQ(at(10), 1011u);
  EXPECT_EQ(at(11), 1011u);
  EXPECT_EQ(at(12), 1014u);
}

/// Long operations: the owner carries out some of their chunks, the origin the others.
class Chunks : public ::testing::TestWithParam<unsigned> {
 protected:
  Chunks() : expected_(bytes), local_(bytes) {
    SimWindowSpec spec;
    spec.bytes = bytes;
    spec.memory = {Path::system_call, Path::system_call};
    job_.create_window(spec);
    job_.network().set_serving(GetParam());
    job_.transport(0).set_copy_nanoseconds(1);  // the simulated clock says who is there
    for (std::size_t i = 0; i < bytes; ++i) {
      expected_[i] = static_cast<std::byte>(i * 7 + i / 251);
      local_[i] = static_cast<std::byte>(i * 3 + i / 257);
    }
    std::memcpy(job_.memory(1), expected_.data(), bytes);
    EXPECT_EQ(window().lock(true, 1, {}), Error::none);
  }
  ~Chunks() override {
    EXPECT_TRUE(window().unlock(1, nullptr).done);
    EXPECT_EQ(std::memcmp(job_.memory(1), expected_.data(), bytes), 0);
  }

  Window& window() { return job_.window(0); }
  Operation on_elements(OperationKind kind, std::uint64_t count, const Reduction& reduction) {
    Operation made = on_word(kind, nullptr, 1, displacement);
    made.target_layout = made.origin.layout =
        LayoutRef(new Layout({{0, reduction.element}}, reduction.element, reduction.basic));
    made.target_count = made.origin.count = count;
    made.reduction = reduction;
    made.origin.address = local_.data();
    if (kind == OperationKind::get) made.result = made.origin;
    return made;
  }
  void expect_errands(std::uint64_t count) {
    EXPECT_EQ(job_.transport(0).errands(), GetParam() != 0 ? count : 0);
  }

  static constexpr std::uint64_t bytes = 1'500'000;
  static constexpr std::int64_t displacement = 24;

  SimJob job_{{0, 0}};
  std::vector<std::byte> expected_, local_;
};

TEST_P(Chunks, MoveAll) {
  std::uint64_t errands = 0;
  for (const std::uint64_t count : {65'535, 65'536, 65'537, 300'001, 1'200'003}) {
    if (count >= 65'536) errands += 2;
    issue(window(), on_elements(OperationKind::put, count, {Op::replace, Basic::u8, 1}));
    std::memcpy(&expected_[displacement], local_.data(), count);
    ASSERT_EQ(std::memcmp(job_.memory(1), expected_.data(), bytes), 0) << count;
    std::ranges::fill(local_, std::byte{1});
    issue(window(), on_elements(OperationKind::get, count, {Op::no_op, Basic::u8, 1}));
    ASSERT_EQ(std::memcmp(local_.data(), &expected_[displacement], count), 0) << count;
    EXPECT_EQ(local_[count], std::byte{1});
    expect_errands(errands);
    for (std::size_t i = 0; i < bytes; ++i) local_[i] = static_cast<std::byte>(i * 5 + count);
  }
}

// Also elements that no page has a whole number of.
TEST_P(Chunks, AccumulateAll) {
  std::uint64_t errands = 0;
  for (const Op op : {Op::bxor, Op::replace}) {
    for (const auto& [basic, size] : {std::pair(Basic::u64, 8U), {Basic::other, 12U}}) {
      if (op == Op::bxor && basic == Basic::other) continue;
      for (const std::uint64_t count : {1'000, 2'049, 20'001, 100'003}) {
        if (count * size >= 16'384) ++errands;
        const Reduction reduction{op, basic, size};
        issue(window(), on_elements(OperationKind::accumulate, count, reduction));
        reduce_plain(reduction, &expected_[displacement], local_.data(), nullptr, count);
        ASSERT_EQ(std::memcmp(job_.memory(1), expected_.data(), bytes), 0) << count;
        expect_errands(errands);
      }
    }
  }
}

// Operations that fetch or have gaps go by system calls alone.
TEST_P(Chunks, OthersAreNotAsked) {
  const Reduction sum{Op::sum, Basic::u64, element};
  Operation fetching = on_elements(OperationKind::get_accumulate, 10'000, sum);
  std::vector<std::uint64_t> fetched(10'000);
  fetching.result = fetching.origin;
  fetching.result.address = fetched.data();
  issue(window(), fetching);
  EXPECT_EQ(std::memcmp(fetched.data(), &expected_[displacement], fetched.size() * element), 0);
  reduce_plain(sum, &expected_[displacement], local_.data(), nullptr, 10'000);

  Operation gaps = on_elements(OperationKind::accumulate, 10'000, sum);
  gaps.target_layout = LayoutRef(new Layout({{0, element}, {16, element}}, 24, Basic::u64));
  gaps.target_count = 5'000;
  issue(window(), gaps);
  for (std::size_t i = 0; i < 10'000; ++i) {
    reduce_plain(sum, &expected_[displacement + i / 2 * 24 + i % 2 * 16], &local_[i * element],
                 nullptr, 1);
  }
  expect_errands(0);
}

INSTANTIATE_TEST_SUITE_P(, Chunks, ::testing::Values(0, 5, 10), [](const auto& one) {
  return "OwnerTakes" + std::to_string(one.param) + "OfTen";
});

INSTANTIATE_TEST_SUITE_P(, Errands, ::testing::Values(0, 10), [](const auto& one) {
  return std::string(one.param == 0 ? "NobodyIsThere" : "TheOwnerIsThere");
});

}  // namespace
}  // namespace oriel::test
