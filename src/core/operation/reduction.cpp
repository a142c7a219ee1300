// SPDX-License-Identifier: BSD-3-Clause
#include "core/operation/reduction.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace oriel {
namespace {

// MPI orders accumulates of one origin to one location, which program order does here, and does not
// define accumulates as synchronization. acq_rel costs nothing on x86, and a program that polls by
// fetch_and_op then sees earlier puts.
constexpr auto order = std::memory_order_acq_rel;

// Origin and result buffers may have any alignment.
template <typename T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// Combines `count` elements: target[i] = origin[i] op target[i]. The old values go to `fetched`
/// unless it is null.
using Kernel = void (*)(void* target, const void* origin, void* fetched, std::size_t count);

// The nonnative types of MPI: the processor has no instructions for them.

/// Stands for a type that the compiler does not have.
struct Absent {};

#ifdef __SIZEOF_INT128__
__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;
#else
using Int128 = Absent;
using Unsigned128 = Absent;
#endif

#ifdef __FLT16_MAX__
__extension__ using Float16 = _Float16;
__extension__ using ComplexFloat16 = __complex__ _Float16;
#else
using Float16 = Absent;
using ComplexFloat16 = Absent;
#endif

// Fortran's REAL(16). If the compiler has no __float128, C's long double often is that type.
#ifdef __SIZEOF_FLOAT128__
__extension__ using Float128 = __float128;
__extension__ typedef _Complex float ComplexFloat128 __attribute__((mode(TC)));
#elif __LDBL_MANT_DIG__ == 113
using Float128 = long double;
__extension__ using ComplexFloat128 = __complex__ long double;
#else
using Float128 = Absent;
using ComplexFloat128 = Absent;
#endif

// Complex types of C, whose products handle infinities.
__extension__ using ComplexFloat = __complex__ float;
__extension__ using ComplexDouble = __complex__ double;
__extension__ using ComplexLongDouble = __complex__ long double;

/// A value and its index, with padding between and behind them.
template <typename Value, typename Index>
struct Pair {
  struct Parts {
    Value value;
    Index index;
  };
  static constexpr std::size_t index_at = offsetof(Parts, index);
};

template <typename T>
constexpr std::uint32_t bytes = sizeof(T);
template <>
constexpr std::uint32_t bytes<Absent> = 0;
template <typename Value, typename Index>
constexpr std::uint32_t bytes<Pair<Value, Index>> = Pair<Value, Index>::index_at + sizeof(Index);

template <typename T>
constexpr bool is_native = std::is_arithmetic_v<T> && !std::is_same_v<T, long double>;
template <typename T>
constexpr bool is_integer = std::is_integral_v<T> || std::is_same_v<T, Int128>;
template <typename T>
constexpr bool is_complex =
    std::is_same_v<T, ComplexFloat16> || std::is_same_v<T, ComplexFloat> ||
    std::is_same_v<T, ComplexDouble> || std::is_same_v<T, ComplexLongDouble> ||
    std::is_same_v<T, ComplexFloat128>;
/// The last op that MPI has on numbers of this type. It has those of a pair only for pairs.
template <typename T>
constexpr Op last_op = is_integer<T>   ? Op::bxor
                       : is_complex<T> ? Op::prod
                                       : Op::max;

/// Unsigned and not narrower than int: wraps, where int would overflow.
template <typename T>
struct Wide {
  using Type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};
template <>
struct Wide<Int128> {
  using Type = Unsigned128;
};

template <Op op, typename T>
T combine(T in, T old) {
  if constexpr (op == Op::replace) return in;
  if constexpr (op == Op::no_op) return old;
  if constexpr (op == Op::min) return std::min(in, old);
  if constexpr (op == Op::max) return std::max(in, old);
  if constexpr (!is_integer<T>) {
    if constexpr (op == Op::sum) return in + old;
    if constexpr (op == Op::prod) return in * old;
  } else {
    using Unsigned = typename Wide<T>::Type;
    if constexpr (op == Op::sum)
      return static_cast<T>(static_cast<Unsigned>(in) + static_cast<Unsigned>(old));
    if constexpr (op == Op::prod)
      return static_cast<T>(static_cast<Unsigned>(in) * static_cast<Unsigned>(old));
    if constexpr (op == Op::land) return static_cast<T>(in != 0 && old != 0);
    if constexpr (op == Op::lor) return static_cast<T>(in != 0 || old != 0);
    if constexpr (op == Op::lxor) return static_cast<T>((in != 0) != (old != 0));
    if constexpr (op == Op::band) return static_cast<T>(in & old);
    if constexpr (op == Op::bor) return static_cast<T>(in | old);
    if constexpr (op == Op::bxor) return static_cast<T>(in ^ old);
  }
}

/// Updates one element, by a single instruction if there is one; returns the old value.
template <Op op, typename T>
T update(T* target, T in) {
  const std::atomic_ref<T> word(*target);
  if constexpr (op == Op::replace) return word.exchange(in, order);
  if constexpr (std::is_integral_v<T>) {
    if constexpr (op == Op::sum) return word.fetch_add(in, order);
    if constexpr (op == Op::band) return word.fetch_and(in, order);
    if constexpr (op == Op::bor) return word.fetch_or(in, order);
    if constexpr (op == Op::bxor) return word.fetch_xor(in, order);
  }
  T old = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(old, combine<op>(in, old), order, std::memory_order_relaxed)) {
  }
  return old;
}

template <Op op, typename T>
void atomic_kernel(void* target, const void* origin, void* fetched, std::size_t count) {
  auto* to = static_cast<T*>(target);
  const auto* from = static_cast<const std::byte*>(origin);
  auto* old = static_cast<std::byte*>(fetched);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    if constexpr (op == Op::no_op) {
      value = std::atomic_ref<T>(to[i]).load(std::memory_order_acquire);
    } else if (op == Op::replace && old == nullptr) {
      std::atomic_ref<T>(to[i]).store(load<T>(from + i * sizeof(T)), std::memory_order_release);
      continue;
    } else {
      value = update<op>(to + i, load<T>(from + i * sizeof(T)));
    }
    if (old != nullptr) store(old + i * sizeof(T), value);
  }
}

/// The loops have the form that the compiler can vectorize.
template <Op op, typename T>
inline __attribute__((always_inline)) void combine_all(void* target, const void* origin,
                                                       void* fetched, std::size_t count) {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(origin);
  auto* old = static_cast<std::byte*>(fetched);
  const std::size_t bytes = count * sizeof(T);
  if (old == nullptr) {
    for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
      store(to + at, combine<op>(load<T>(from + at), load<T>(to + at)));
    }
    return;
  }
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    const T value = load<T>(to + at);
    store(to + at, combine<op>(load<T>(from + at), value));
    store(old + at, value);
  }
}

template <Op op, typename T>
void plain_kernel(void* target, const void* origin, void* fetched, std::size_t count) {
  combine_all<op, T>(target, origin, fetched, count);
}

/// For nonnative types. These accumulates are rare: no vectors and no atomics.
template <Op op, typename T>
void nonnative_kernel(void* target, const void* origin, void* fetched, std::size_t count) {
  if (fetched != nullptr && count != 0) std::memcpy(fetched, target, count * sizeof(T));
  combine_all<op, T>(target, origin, nullptr, count);
}

/// For minloc and maxloc. The padding is not written.
template <Op op, typename Value, typename Index>
void pair_kernel(void* target, const void* origin, void* fetched, std::size_t count) {
  using Element = Pair<Value, Index>;
  const std::size_t end = count * bytes<Element>;
  if (fetched != nullptr && end != 0) std::memcpy(fetched, target, end);
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(origin);
  for (std::size_t at = 0; at < end; at += bytes<Element>) {
    const auto in = load<Value>(from + at);
    const auto old = load<Value>(to + at);
    const auto index = load<Index>(from + at + Element::index_at);
    const bool wins = op == Op::minloc ? in < old : in > old;
    // For equal values the lower index is kept.
    if (!wins && !(in == old && index < load<Index>(to + at + Element::index_at))) continue;
    store(to + at, in);
    store(to + at + Element::index_at, index);
  }
}

/// How a kernel updates its elements: one atomic each, or plainly with some instruction set.
enum class Way : std::uint8_t { atomic, plain, avx2, avx512 };

#ifdef __x86_64__
template <Op op, typename T>
__attribute__((target("avx2"))) void avx2_kernel(void* target, const void* origin, void* fetched,
                                                 std::size_t count) {
  combine_all<op, T>(target, origin, fetched, count);
}

template <Op op, typename T>
__attribute__((target("avx512f"))) void avx512_kernel(void* target, const void* origin,
                                                      void* fetched, std::size_t count) {
  combine_all<op, T>(target, origin, fetched, count);
}

const Way widest = __builtin_cpu_supports("avx512f") != 0 ? Way::avx512
                   : __builtin_cpu_supports("avx2") != 0  ? Way::avx2
                                                          : Way::plain;
#else
template <Op op, typename T>
constexpr Kernel avx2_kernel = plain_kernel<op, T>;
template <Op op, typename T>
constexpr Kernel avx512_kernel = plain_kernel<op, T>;
constexpr Way widest = Way::plain;
#endif

/// For fewer elements the start and end of a wide kernel cost more than it saves.
constexpr std::size_t few = 16;

/// Bytes of old values that are fetched before they are combined. With their origins and results
/// they stay in any first-level cache (32 KiB or more). Beyond the cache, one loop with three
/// streams is slower.
constexpr std::size_t fetched_block = std::size_t{8} * 1024;

template <Way way, Op op, typename T>
struct KernelOf {
  static constexpr Kernel get() {
    if constexpr (std::is_same_v<T, Absent> || op > last_op<T> ||
                  (!is_native<T> && (op <= Op::no_op || way == Way::atomic))) {
      return nullptr;
    } else {
      if constexpr (!is_native<T>) return nonnative_kernel<op, T>;
      if constexpr (way == Way::atomic) return atomic_kernel<op, T>;
      if constexpr (way == Way::plain) return plain_kernel<op, T>;
      if constexpr (way == Way::avx2) return avx2_kernel<op, T>;
      if constexpr (way == Way::avx512) return avx512_kernel<op, T>;
    }
  }
};
template <Way way, Op op, typename Value, typename Index>
struct KernelOf<way, op, Pair<Value, Index>> {
  static constexpr Kernel get() {
    if constexpr (way != Way::atomic && (op == Op::minloc || op == Op::maxloc)) {
      return pair_kernel<op, Value, Index>;
    }
    return nullptr;
  }
};

/// The kernels of one type in the order of Op.
template <Way way, typename T>
constexpr auto row = []<std::size_t... op>(std::index_sequence<op...>) {
  return std::array{KernelOf<way, static_cast<Op>(op), T>::get()...};
}(std::make_index_sequence<op_count>());

/// Basic::none and Basic::other have no kernels, and no size of their own.
template <typename... T>
struct TypeList {
  template <Way way>
  static constexpr std::array kernels{row<way, Absent>, row<way, T>..., row<way, Absent>};
  static constexpr std::array sizes{bytes<Absent>, bytes<T>..., bytes<Absent>};
};
using Types =
    TypeList<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
             std::int64_t, std::uint64_t, float, double, Int128, Float16, long double, Float128,
             ComplexFloat16, ComplexFloat, ComplexDouble, ComplexLongDouble, ComplexFloat128,
             Pair<short, int>, Pair<int, int>, Pair<long, int>, Pair<float, int>, Pair<double, int>,
             Pair<long double, int>, Pair<float, float>, Pair<double, double>>;
static_assert(Types::sizes.size() == basic_count &&
                  Types::sizes[static_cast<int>(Basic::f64)] == sizeof(double) &&
                  Types::sizes[static_cast<int>(Basic::long_double_int)] ==
                      bytes<Pair<long double, int>>,
              "the types are listed in the order of Basic");

/// The kernel of a type and op that exist. Null: the type is not native and the way is atomic, or
/// replace or no_op of a type that is not native.
Kernel kernel_of(Way way, const Reduction& reduction) {
  static constexpr std::array tables{&Types::kernels<Way::atomic>, &Types::kernels<Way::plain>,
                                     &Types::kernels<Way::avx2>, &Types::kernels<Way::avx512>};
  return (*tables[static_cast<std::size_t>(way)])[static_cast<std::size_t>(reduction.basic)]
                                                 [static_cast<std::size_t>(reduction.op)];
}

// The rare parts of reduce_plain(), as separate functions: reduce_plain() then saves no registers
// in the usual case.

[[gnu::noinline]] void reduce_in_blocks(Kernel kernel, std::size_t element, void* target,
                                        const void* origin, void* fetched, std::size_t count) {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(origin);
  auto* old = static_cast<std::byte*>(fetched);
  for (std::size_t remaining = count; remaining != 0;) {
    const std::size_t block = std::min(remaining, fetched_block / element);
    const std::size_t bytes = block * element;
    std::memmove(old, to, bytes);
    kernel(to, from, nullptr, block);
    to += bytes;
    from += bytes;
    old += bytes;
    remaining -= block;
  }
}

/// Carries out replace and no_op, for any type.
[[gnu::noinline]] void copy_plain(Op op, void* target, const void* origin, void* fetched,
                                  std::size_t bytes) {
  if (bytes == 0) return;
  if (fetched != nullptr) std::memcpy(fetched, target, bytes);
  if (op == Op::replace) std::memcpy(target, origin, bytes);
}

/// Calls visit with a word of `bytes` bytes.
template <typename Visit>
void with_word(std::uint32_t bytes, Visit&& visit) {
  switch (bytes) {
    case 1:
      return visit(std::uint8_t{});
    case 2:
      return visit(std::uint16_t{});
    case 4:
      return visit(std::uint32_t{});
    default:
      return visit(std::uint64_t{});
  }
}

/// A type without instructions but of a word's size: the new value is computed in a private copy.
template <typename Word>
void reduce_words(const Reduction& reduction, void* target, const void* origin, void* fetched,
                  std::size_t count) {
  if (reduction.op == Op::replace) {
    return atomic_kernel<Op::replace, Word>(target, origin, fetched, count);
  }
  if (reduction.op == Op::no_op) {
    return atomic_kernel<Op::no_op, Word>(target, origin, fetched, count);
  }
  const Kernel combine = kernel_of(Way::plain, reduction);
  auto* to = static_cast<Word*>(target);
  const auto* from = static_cast<const std::byte*>(origin);
  auto* old_out = static_cast<std::byte*>(fetched);
  for (std::size_t i = 0; i < count; ++i) {
    const std::atomic_ref<Word> word(to[i]);
    Word old = word.load(std::memory_order_relaxed);
    Word next;
    do {
      next = old;
      combine(&next, from + i * sizeof(Word), nullptr, 1);
    } while (!word.compare_exchange_weak(old, next, order, std::memory_order_relaxed));
    if (old_out != nullptr) store(old_out + i * sizeof(Word), old);
  }
}

}  // namespace

std::uint32_t bytes_of(Basic basic) {
  const auto index = static_cast<std::size_t>(basic);
  return index < basic_count ? Types::sizes[index] : 0;
}

bool valid(const Reduction& reduction) {
  const std::uint32_t size = bytes_of(reduction.basic);
  if (reduction.element == 0 || (size != 0 && size != reduction.element)) return false;
  return reduction.op <= Op::no_op || (static_cast<std::size_t>(reduction.basic) < basic_count &&
                                       static_cast<std::size_t>(reduction.op) < op_count &&
                                       kernel_of(Way::plain, reduction) != nullptr);
}

void reduce_atomic(const Reduction& reduction, void* target, const void* origin, void* fetched,
                   std::size_t count) {
  if (const Kernel kernel = kernel_of(Way::atomic, reduction)) [[likely]] {
    return kernel(target, origin, fetched, count);
  }
  with_word(reduction.element, [&](auto word) {
    reduce_words<decltype(word)>(reduction, target, origin, fetched, count);
  });
}

void reduce_plain(const Reduction& reduction, void* target, const void* origin, void* fetched,
                  std::size_t count) {
  if (reduction.op <= Op::no_op) {
    return copy_plain(reduction.op, target, origin, fetched, count * reduction.element);
  }
  const Way way = count < few ? Way::plain : widest;
  const Kernel kernel = kernel_of(way, reduction);
  if (fetched != nullptr && count * reduction.element > fetched_block) [[unlikely]] {
    return reduce_in_blocks(kernel, reduction.element, target, origin, fetched, count);
  }
  kernel(target, origin, fetched, count);
}

void compare_swap_atomic(std::uint32_t element, void* target, const void* origin,
                         const void* compare, void* result) {
  with_word(element, [&](auto word) {
    using Word = decltype(word);
    Word expected = load<Word>(compare);
    std::atomic_ref<Word>(*static_cast<Word*>(target))
        .compare_exchange_strong(expected, load<Word>(origin), order);
    store(result, expected);
  });
}

void compare_swap_plain(std::uint32_t element, void* target, const void* origin,
                        const void* compare, void* result) {
  const bool equal = std::memcmp(target, compare, element) == 0;
  std::memcpy(result, target, element);
  if (equal) std::memcpy(target, origin, element);
}

}  // namespace oriel
