// SPDX-License-Identifier: BSD-3-Clause
// A few bytes of private memory are moved or updated by their owner, if it is there; all else by
// system calls, with the same result.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
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
    ASSERT_TRUE(window().try_reduce(nullptr, 1, 3 * 8, {Op::no_op, Basic::u64, element}, nullptr,
                                    got.data(), count));
    expect_way(errands, 1);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i], at(3 + i));
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

INSTANTIATE_TEST_SUITE_P(, Errands, ::testing::Values(0, 10), [](const auto& one) {
  return std::string(one.param == 0 ? "NobodyIsThere" : "TheOwnerIsThere");
});

}  // namespace
}  // namespace oriel::test
