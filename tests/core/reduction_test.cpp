// SPDX-License-Identifier: BSD-3-Clause
// G4: every op on every type that has a kernel, with and without atomicity, against a slow
// reference.
#include "core/operation/reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

namespace oriel {
namespace {

constexpr std::array numeric_ops{Op::replace, Op::no_op, Op::sum, Op::prod, Op::min, Op::max};
constexpr std::array integer_ops{Op::replace, Op::no_op, Op::sum,  Op::prod, Op::min, Op::max,
                                 Op::land,    Op::lor,   Op::lxor, Op::band, Op::bor, Op::bxor};

template <typename T, Basic of>
struct Type {
  using Value = T;
  static constexpr Basic basic = of;
};

/// What MPI says, in arithmetic that cannot overflow.
template <typename T>
T expected(Op op, T in, T old) {
  if (op == Op::replace) return in;
  if (op == Op::no_op) return old;
  if (op == Op::min) return in < old ? in : old;
  if (op == Op::max) return in > old ? in : old;
  if constexpr (std::is_floating_point_v<T>) {
    return op == Op::sum ? in + old : in * old;
  } else {
    const auto a = static_cast<unsigned __int128>(in);
    const auto b = static_cast<unsigned __int128>(old);
    switch (op) {
      case Op::sum:
        return static_cast<T>(a + b);
      case Op::prod:
        return static_cast<T>(a * b);
      case Op::land:
        return a != 0 && b != 0 ? 1 : 0;
      case Op::lor:
        return a != 0 || b != 0 ? 1 : 0;
      case Op::lxor:
        return (a != 0) == (b != 0) ? 0 : 1;
      case Op::band:
        return static_cast<T>(a & b);
      case Op::bor:
        return static_cast<T>(a | b);
      default:
        return static_cast<T>(a ^ b);
    }
  }
}

template <typename T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / 8;
    } else {
      // Every fourth is zero, for the logical ops.
      value = random() % 4 == 0 ? T{0} : static_cast<T>(random());
    }
  }
  return values;
}

template <typename Case>
class Kernels : public testing::Test {
 protected:
  using T = typename Case::Value;
  using Function = void (*)(const Reduction&, void*, const void*, void*, std::size_t);
  static constexpr std::size_t count = 97;

  static Reduction reduction(Op op) {
    Reduction result;
    result.op = op;
    result.basic = Case::basic;
    result.element = sizeof(T);
    return result;
  }
  static std::vector<Op> ops() {
    if constexpr (std::is_floating_point_v<T>) return {numeric_ops.begin(), numeric_ops.end()};
    return {integer_ops.begin(), integer_ops.end()};
  }

  /// Every byte is where it should be, with and without fetching, at `shift` bytes off alignment.
  static void check(Function function, std::size_t target_shift, std::size_t shift) {
    const std::vector<T> in = random_values<T>(count, 1);
    const std::vector<T> old = random_values<T>(count, 2);
    constexpr std::size_t bytes = count * sizeof(T);
    for (Op op : ops()) {
      SCOPED_TRACE(static_cast<int>(op));
      std::vector<T> result(count);
      for (std::size_t i = 0; i < count; ++i) result[i] = expected(op, in[i], old[i]);
      for (bool fetches : {false, true}) {
        std::vector<std::byte> origin(bytes + 16), target(bytes + 16), fetched(bytes + 16);
        std::memcpy(origin.data() + shift, in.data(), bytes);
        std::memcpy(target.data() + target_shift, old.data(), bytes);
        // MPI_NO_OP comes without an origin.
        function(reduction(op), target.data() + target_shift,
                 op == Op::no_op ? nullptr : origin.data() + shift,
                 fetches ? fetched.data() + shift : nullptr, count);
        EXPECT_EQ(std::memcmp(target.data() + target_shift, result.data(), bytes), 0);
        EXPECT_EQ(std::memcmp(origin.data() + shift, in.data(), bytes), 0);
        if (fetches) {
          EXPECT_EQ(std::memcmp(fetched.data() + shift, old.data(), bytes), 0);
        }
      }
    }
  }
};

using Types = testing::Types<Type<std::int8_t, Basic::i8>, Type<std::uint8_t, Basic::u8>,
                             Type<std::int16_t, Basic::i16>, Type<std::uint16_t, Basic::u16>,
                             Type<std::int32_t, Basic::i32>, Type<std::uint32_t, Basic::u32>,
                             Type<std::int64_t, Basic::i64>, Type<std::uint64_t, Basic::u64>,
                             Type<float, Basic::f32>, Type<double, Basic::f64>>;
TYPED_TEST_SUITE(Kernels, Types);

TYPED_TEST(Kernels, AtomicAgreesWithTheReference) {
  this->check(reduce_atomic, 0, 0);
}
TYPED_TEST(Kernels, AtomicTakesMisalignedOrigins) {
  this->check(reduce_atomic, 0, 3);
}
TYPED_TEST(Kernels, PlainAgreesWithTheReference) {
  this->check(reduce_plain, 0, 0);
}
TYPED_TEST(Kernels, PlainTakesMisalignedTargets) {
  this->check(reduce_plain, 1, 5);
}

TYPED_TEST(Kernels, NoElementsTouchNothing) {
  for (Op op : this->ops()) {
    reduce_atomic(this->reduction(op), nullptr, nullptr, nullptr, 0);
    reduce_plain(this->reduction(op), nullptr, nullptr, nullptr, 0);
  }
}

/// Four threads, each adding one and fetching: no update is lost and no old value comes twice.
TYPED_TEST(Kernels, NoConcurrentUpdateIsLost) {
  using Count = typename TypeParam::Value;
  // What Count counts exactly, and no more threads' worth than it holds.
  constexpr int rounds = sizeof(Count) == 1 ? 30 : sizeof(Count) == 2 ? 8000 : 50000;
  constexpr int threads = 4;
  alignas(8) Count word = 0;
  std::vector<std::atomic<int>> seen(rounds * threads);
  const Reduction sum = this->reduction(Op::sum);
  std::vector<std::jthread> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&] {
      const Count one = 1;
      for (int i = 0; i < rounds; ++i) {
        Count old;
        reduce_atomic(sum, &word, &one, &old, 1);
        seen[static_cast<std::size_t>(old)].fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  workers.clear();
  EXPECT_EQ(word, static_cast<Count>(rounds * threads));
  for (const auto& times : seen) ASSERT_EQ(times.load(), 1);
}

// Two kinds of update on one word exclude one another: atomicity depends on the size alone.
TEST(Reduction, DifferentOpsOnOneWordExcludeOneAnother) {
  constexpr int rounds = 50000;
  alignas(8) std::uint64_t word = 0;
  const auto run = [&](Op op, std::uint64_t value, bool fetches) {
    Reduction reduction;
    reduction.op = op;
    reduction.basic = Basic::u64;
    reduction.element = 8;
    for (int i = 0; i < rounds; ++i) {
      std::uint64_t old;
      reduce_atomic(reduction, &word, &value, fetches ? &old : nullptr, 1);
    }
  };
  std::vector<std::jthread> workers;
  workers.emplace_back([&] { run(Op::sum, 1, true); });
  workers.emplace_back([&] { run(Op::sum, 1, false); });
  workers.emplace_back([&] { run(Op::bxor, std::uint64_t{1} << 40, false); });
  workers.emplace_back([&] { run(Op::bor, std::uint64_t{1} << 41, true); });
  workers.clear();
  EXPECT_EQ(word, 2 * rounds + (std::uint64_t{1} << 41));  // the xors cancel out
}

TEST(Reduction, ElementsAreAtomicBySizeAndAlignmentAlone) {
  alignas(16) std::array<std::byte, 32> memory{};
  for (std::uint32_t bytes : {1u, 2u, 4u, 8u}) {
    EXPECT_TRUE(atomic_element(bytes, memory.data()));
    EXPECT_TRUE(atomic_element(bytes, memory.data() + bytes));
    EXPECT_EQ(atomic_element(bytes, memory.data() + 1), bytes == 1);
  }
  for (std::uint32_t bytes : {3u, 6u, 12u, 16u, 20u, 32u}) {
    EXPECT_FALSE(atomic_element(bytes, memory.data()));
  }
}

/// A type that the core does not know: a pair, of which the greater first part wins.
struct Pair {
  std::int16_t value;
  std::int16_t index;
};
static_assert(sizeof(Pair) == 4);

constexpr std::uint64_t greater_pair = 41;
constexpr std::uint64_t pair_type = 42;

void apply_pairs(std::uint64_t op, std::uint64_t type, const void* in, void* inout,
                 std::size_t count) {
  ASSERT_EQ(op, greater_pair);
  ASSERT_EQ(type, pair_type);
  for (std::size_t i = 0; i < count; ++i) {
    Pair a, b;
    std::memcpy(&a, static_cast<const Pair*>(in) + i, sizeof a);
    std::memcpy(&b, static_cast<Pair*>(inout) + i, sizeof b);
    if (a.value > b.value) std::memcpy(static_cast<Pair*>(inout) + i, &a, sizeof a);
  }
}

Reduction pairs(Op op) {
  Reduction reduction;
  reduction.op = op;
  reduction.basic = Basic::other;
  reduction.element = sizeof(Pair);
  reduction.op_code = greater_pair;
  reduction.type_code = pair_type;
  reduction.generic.apply = apply_pairs;
  return reduction;
}

TEST(Reduction, WithoutAKernelTheBoundaryCombines) {
  for (auto reduce : {reduce_atomic, reduce_plain}) {
    const Pair in[2] = {{5, 1}, {5, 2}};
    Pair target[2] = {{4, 8}, {6, 9}};
    Pair old[2] = {};
    reduce(pairs(Op::generic), target, in, old, 2);
    EXPECT_EQ(target[0].index, 1);
    EXPECT_EQ(target[1].index, 9);
    EXPECT_EQ(old[0].index, 8);
    EXPECT_EQ(old[1].value, 6);
    reduce(pairs(Op::replace), target, in, nullptr, 2);
    EXPECT_EQ(target[1].index, 2);
    reduce(pairs(Op::no_op), target, nullptr, old, 2);
    EXPECT_EQ(old[0].index, 1);
    EXPECT_EQ(target[0].index, 1);
  }
}

// A numeric op on a type without a kernel, such as MPI_SUM on a 4-byte type of another kind.
TEST(Reduction, ANumericOpOnAnUnknownTypeIsLeftToTheBoundary) {
  for (auto reduce : {reduce_atomic, reduce_plain}) {
    const Pair in{7, 1};
    Pair target{6, 2};
    reduce(pairs(Op::sum), &target, &in, nullptr, 1);
    EXPECT_EQ(target.value, 7);
  }
}

// Logical ops on floating point have no kernel: MPI defines none.
TEST(Reduction, FloatingPointHasNoLogicalKernel) {
  Reduction reduction = pairs(Op::band);
  reduction.basic = Basic::f32;
  const Pair in{7, 1};
  Pair target{6, 2};
  reduce_atomic(reduction, &target, &in, nullptr, 1);
  EXPECT_EQ(target.value, 7);
}

TEST(Reduction, GenericUpdatesByThreadsAreNotLost) {
  Pair target{0, 0};
  alignas(8) std::array<Pair, 2> words{target, target};
  std::vector<std::jthread> workers;
  for (std::int16_t thread = 0; thread < 4; ++thread) {
    workers.emplace_back([&words, thread] {
      for (std::int16_t i = 0; i < 4000; ++i) {
        const Pair in{static_cast<std::int16_t>(4 * i + thread), thread};
        reduce_atomic(pairs(Op::generic), words.data(), &in, nullptr, 1);
      }
    });
  }
  workers.clear();
  EXPECT_EQ(words[0].value, 15999);
  EXPECT_EQ(words[0].index, 3);
}

TEST(CompareSwap, StoresOnlyWhenEqualAndReturnsTheOldValue) {
  for (auto swap : {compare_swap_atomic, compare_swap_plain}) {
    for (std::uint32_t bytes : {1u, 2u, 4u, 8u}) {
      const std::uint64_t origin = 0x0102030405060708, other = 0x1112131415161718;
      alignas(8) std::uint64_t target = other;
      std::uint64_t result = 0;
      const auto low = [&](std::uint64_t value) {
        return bytes == 8 ? value : value & ((std::uint64_t{1} << (8 * bytes)) - 1);
      };
      swap(bytes, &target, &origin, &origin, &result);
      EXPECT_EQ(target, other);
      EXPECT_EQ(result, low(other));
      swap(bytes, &target, &origin, &other, &result);
      EXPECT_EQ(low(target), low(origin));
      EXPECT_EQ(target - low(target), other - low(other)) << "bytes beside the element";
      EXPECT_EQ(result, low(other));
    }
  }
}

TEST(CompareSwap, PlainTakesAnySizeAndAddress) {
  std::array<unsigned char, 40> target{}, origin{}, compare{}, result{};
  origin.fill(7);
  compare_swap_plain(16, target.data() + 3, origin.data() + 1, compare.data() + 5,
                     result.data() + 7);
  EXPECT_EQ(target[2], 0);
  EXPECT_EQ(target[3], 7);
  EXPECT_EQ(target[18], 7);
  EXPECT_EQ(target[19], 0);
}

TEST(CompareSwap, OneOfManyThreadsWinsEachRound) {
  constexpr int rounds = 20000;
  alignas(8) std::uint64_t word = 0;
  std::atomic<int> wins{0};
  std::vector<std::jthread> workers;
  for (int thread = 0; thread < 4; ++thread) {
    workers.emplace_back([&] {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const std::uint64_t next = i + 1;
        std::uint64_t old;
        compare_swap_atomic(8, &word, &next, &i, &old);
        if (old == i) wins.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  workers.clear();
  EXPECT_EQ(static_cast<std::uint64_t>(wins.load()), word);
}

}  // namespace
}  // namespace oriel
