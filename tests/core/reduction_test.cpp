// SPDX-License-Identifier: BSD-3-Clause
// G4: every op on every type that has a kernel, with and without atomicity, against a slow
// reference.
#include "core/operation/reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <type_traits>
#include <utility>
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
  static constexpr std::size_t few = 97;

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
  static void check(Function function, std::size_t target_shift, std::size_t shift,
                    std::size_t count = few) {
    const std::vector<T> in = random_values<T>(count, 1);
    const std::vector<T> old = random_values<T>(count, 2);
    const std::size_t bytes = count * sizeof(T);
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

// Where old values are fetched, in pieces of some kilobytes.
TYPED_TEST(Kernels, PlainTakesLongOnes) {
  this->check(reduce_plain, 0, 3, 20'011 / sizeof(typename TestFixture::T));
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

// Types that the processor has no instructions for.

template <typename T>
Reduction on(Basic basic, Op op, std::uint32_t element = sizeof(T)) {
  return {op, basic, element};
}

constexpr auto both = std::array{reduce_atomic, reduce_plain};

/// Two elements, with and without fetching; what is combined is exact.
template <typename T>
void combines(Basic basic, Op op, T in, T old, T result) {
  SCOPED_TRACE(static_cast<int>(basic) * 100 + static_cast<int>(op));
  ASSERT_TRUE(valid(on<T>(basic, op)));
  for (const auto reduce : both) {
    // Updates of what is not of a word's size are never atomic.
    if (reduce == both[0] && sizeof(T) > 8) continue;
    for (const bool fetches : {false, true}) {
      const std::array<T, 2> origin{in, old};
      alignas(8) std::array<T, 2> target{old, old};
      std::array<T, 2> fetched{};
      reduce(on<T>(basic, op), target.data(), origin.data(), fetches ? fetched.data() : nullptr, 1);
      EXPECT_TRUE(target[0] == result);
      EXPECT_TRUE(target[1] == old) << "an element too many";
      EXPECT_TRUE(fetched[0] == (fetches ? old : T{}));
    }
  }
}

template <typename T>
void combines_numbers(Basic basic) {
  combines<T>(basic, Op::sum, T(3), T(-5), T(-2));
  combines<T>(basic, Op::prod, T(3), T(-5), T(-15));
  combines<T>(basic, Op::min, T(3), T(-5), T(-5));
  combines<T>(basic, Op::max, T(3), T(-5), T(3));
  EXPECT_FALSE(valid(on<T>(basic, Op::minloc)));
}

TEST(NonnativeKernels, CombineWideAndNarrowNumbers) {
  combines_numbers<long double>(Basic::long_double);
  EXPECT_FALSE(valid(on<long double>(Basic::long_double, Op::band)));
#ifdef __SIZEOF_INT128__
  using Wide = __int128;
  combines_numbers<Wide>(Basic::i128);
  const Wide high = Wide{5} << 90;
  combines<Wide>(Basic::i128, Op::sum, high, high, 2 * high);
  combines<Wide>(Basic::i128, Op::band, high | 6, high | 3, high | 2);
  combines<Wide>(Basic::i128, Op::bor, high, 3, high | 3);
  combines<Wide>(Basic::i128, Op::bxor, high, high | 3, 3);
  combines<Wide>(Basic::i128, Op::land, high, 3, 1);
  combines<Wide>(Basic::i128, Op::lor, 0, 0, 0);
  combines<Wide>(Basic::i128, Op::lxor, high, 3, 0);
#endif
#ifdef __SIZEOF_FLOAT128__
  combines_numbers<__float128>(Basic::f128);
#endif
#ifdef __FLT16_MAX__
  combines_numbers<_Float16>(Basic::f16);
#endif
}

template <typename T>
void combines_complex(Basic basic) {
  using Complex = std::complex<T>;
  combines<Complex>(basic, Op::sum, {1, 2}, {3, -5}, {4, -3});
  combines<Complex>(basic, Op::prod, {1, 2}, {3, -5}, {13, 1});
  EXPECT_FALSE(valid(on<Complex>(basic, Op::max)));
}

TEST(NonnativeKernels, CombineComplexNumbers) {
  combines_complex<float>(Basic::complex_f32);
  combines_complex<double>(Basic::complex_f64);
  combines_complex<long double>(Basic::complex_long_double);
}

template <typename Value, typename Index>
struct Found {
  Value value;
  Index index;
  bool operator==(const Found&) const = default;
};

/// Elements lie side by side, without the gap that C leaves behind them.
template <typename Value, typename Index>
void combines_pairs(Basic basic) {
  using Pair = Found<Value, Index>;
  constexpr std::uint32_t bytes = offsetof(Pair, index) + sizeof(Index);
  const auto combine = [&](Op op, Pair in, Pair old) {
    EXPECT_TRUE(valid(on<Pair>(basic, op, bytes)));
    EXPECT_FALSE(valid(on<Pair>(basic, Op::sum, bytes)));
    alignas(8) std::array<std::byte, 2 * bytes> origin{}, target{}, fetched{};
    for (auto [memory, pair] : {std::pair{&origin, in}, std::pair{&target, old}}) {
      memory->fill(std::byte{0x5a});
      std::memcpy(memory->data() + bytes, &pair.value, sizeof pair.value);
      std::memcpy(memory->data() + bytes + offsetof(Pair, index), &pair.index, sizeof pair.index);
    }
    const auto before = target;
    const Reduction reduction = on<Pair>(basic, op, bytes);
    const bool words = bytes == 8;
    (words ? reduce_atomic : reduce_plain)(reduction, target.data() + bytes, origin.data() + bytes,
                                           fetched.data() + bytes, 1);
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + bytes, target.begin()));
    EXPECT_TRUE(std::equal(before.begin() + bytes, before.end(), fetched.begin() + bytes));
    // What lies between the two parts is not a pair's.
    for (std::size_t i = sizeof(Value); i < offsetof(Pair, index); ++i) {
      EXPECT_EQ(target[bytes + i], std::byte{0x5a});
    }
    Pair result{};
    std::memcpy(&result.value, target.data() + bytes, sizeof result.value);
    std::memcpy(&result.index, target.data() + bytes + offsetof(Pair, index), sizeof result.index);
    return result;
  };
  const Pair low{3, 7}, high{8, 9}, high_first{8, 2};
  for (const Pair& other : {high, high_first}) {
    EXPECT_EQ(combine(Op::minloc, low, other), low);
    EXPECT_EQ(combine(Op::minloc, other, low), low);
    EXPECT_EQ(combine(Op::maxloc, low, other), other);
    EXPECT_EQ(combine(Op::maxloc, other, low), other);
  }
  // Of equal values, the lower index.
  for (const Op op : {Op::minloc, Op::maxloc}) {
    EXPECT_EQ(combine(op, high, high_first), high_first);
    EXPECT_EQ(combine(op, high_first, high), high_first);
  }
}

TEST(NonnativeKernels, CombinePairs) {
  combines_pairs<short, int>(Basic::short_int);
  combines_pairs<int, int>(Basic::int_int);
  combines_pairs<long, int>(Basic::long_int);
  combines_pairs<float, int>(Basic::f32_int);
  combines_pairs<double, int>(Basic::f64_int);
  combines_pairs<long double, int>(Basic::long_double_int);
  combines_pairs<float, float>(Basic::f32_f32);
  combines_pairs<double, double>(Basic::f64_f64);
}

TEST(NonnativeKernels, UpdatesOfWordsByThreadsAreNotLost) {
  alignas(8) std::array<Found<float, int>, 2> words{};
  const Reduction reduction{Op::maxloc, Basic::f32_int, sizeof words[0]};
  std::vector<std::jthread> workers;
  for (int thread = 0; thread < 4; ++thread) {
    workers.emplace_back([&, thread] {
      for (int i = 0; i < 4000; ++i) {
        const Found<float, int> in{static_cast<float>(4 * i + thread), thread};
        reduce_atomic(reduction, words.data(), &in, nullptr, 1);
      }
    });
  }
  workers.clear();
  EXPECT_EQ(words[0], (Found<float, int>{15999, 3}));
  EXPECT_EQ(words[1], (Found<float, int>{}));
}

// Codes come in messages.
TEST(Reduction, WhatMpiDoesNotHaveIsNotValid) {
  EXPECT_FALSE(valid({Op::band, Basic::f32, 4}));
  EXPECT_FALSE(valid({Op::sum, Basic::f32, 8}));
  EXPECT_FALSE(valid({Op::sum, Basic::f64_int, 12}));
  EXPECT_FALSE(valid({Op::maxloc, Basic::f64_int, 16}));
  EXPECT_FALSE(valid({Op::sum, Basic::other, 4}));
  EXPECT_FALSE(valid({Op::sum, Basic::none, 4}));
  EXPECT_FALSE(valid({Op::minloc, Basic::i32, 4}));
  EXPECT_FALSE(valid({Op::replace, Basic::other, 0}));
  EXPECT_TRUE(valid({Op::replace, Basic::other, 4}));
  EXPECT_TRUE(valid({Op::no_op, Basic::f64_int, 12}));
}

// Every type is replaced and read, the largest too.
TEST(Reduction, OpaqueTypesAreReplacedAndRead) {
  const std::array<std::uint32_t, 2> in{5, 6};
  for (const auto reduce : both) {
    alignas(8) std::array<std::uint32_t, 2> target{1, 2};
    std::array<std::uint32_t, 2> old{};
    reduce({Op::replace, Basic::other, 4}, target.data(), in.data(), old.data(), 2);
    EXPECT_EQ(target, in);
    EXPECT_EQ(old, (std::array<std::uint32_t, 2>{1, 2}));
    reduce({Op::no_op, Basic::other, 4}, target.data(), nullptr, old.data(), 2);
    EXPECT_EQ(old, in);
  }
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
