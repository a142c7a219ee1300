// SPDX-License-Identifier: BSD-3-Clause
// Types that MPI has and the processor has not: complex numbers, pairs, and numbers whose
// arithmetic the compiler composes. No vectors and no atomics here: these accumulates are rare.
#include "core/operation/reduction.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace oriel {
namespace {

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

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

/// Combines one element: `inout` = `in` op `inout`. bytes: of an element; has(): the ops that MPI
/// has.
template <typename T>
struct Number {
  static constexpr std::uint32_t bytes = sizeof(T);
  static constexpr bool has(Op op) { return op >= Op::sum && op <= Op::max; }

  template <Op op>
  static void combine(const std::byte* in, std::byte* inout) {
    const T a = load<T>(in);
    const T b = load<T>(inout);
    if constexpr (op == Op::sum) store<T>(inout, a + b);
    if constexpr (op == Op::prod) store<T>(inout, a * b);
    if constexpr (op == Op::min) store<T>(inout, std::min(a, b));
    if constexpr (op == Op::max) store<T>(inout, std::max(a, b));
  }
};

template <typename T>
struct Complex {
  static constexpr std::uint32_t bytes = sizeof(T);
  static constexpr bool has(Op op) { return op == Op::sum || op == Op::prod; }

  template <Op op>
  static void combine(const std::byte* in, std::byte* inout) {
    const T a = load<T>(in);
    const T b = load<T>(inout);
    if constexpr (op == Op::sum) store<T>(inout, a + b);
    if constexpr (op == Op::prod) store<T>(inout, a * b);
  }
};

/// Unsigned arithmetic, which wraps where a signed sum would overflow.
struct WideInteger {
  static constexpr std::uint32_t bytes = sizeof(Int128);
  static constexpr bool has(Op op) { return op >= Op::sum && op <= Op::bxor; }

  template <Op op>
  static void combine(const std::byte* in, std::byte* inout) {
    const auto a = load<Unsigned128>(in);
    const auto b = load<Unsigned128>(inout);
    const auto result = [&]() -> Unsigned128 {
      if constexpr (op == Op::sum) return a + b;
      if constexpr (op == Op::prod) return a * b;
      if constexpr (op == Op::min) return static_cast<Int128>(a) < static_cast<Int128>(b) ? a : b;
      if constexpr (op == Op::max) return static_cast<Int128>(a) < static_cast<Int128>(b) ? b : a;
      if constexpr (op == Op::land) return a != 0 && b != 0 ? 1 : 0;
      if constexpr (op == Op::lor) return a != 0 || b != 0 ? 1 : 0;
      if constexpr (op == Op::lxor) return (a != 0) != (b != 0) ? 1 : 0;
      if constexpr (op == Op::band) return a & b;
      if constexpr (op == Op::bor) return a | b;
      if constexpr (op == Op::bxor) return a ^ b;
    };
    store(inout, result());
  }
};

/// A value and its index. The padding between and behind them is not written.
template <typename Value, typename Index>
struct Pair {
  struct Parts {
    Value value;
    Index index;
  };
  static constexpr std::size_t index_at = offsetof(Parts, index);
  static constexpr std::uint32_t bytes = index_at + sizeof(Index);
  static constexpr bool has(Op op) { return op == Op::minloc || op == Op::maxloc; }

  template <Op op>
  static void combine(const std::byte* in, std::byte* inout) {
    const auto a = load<Value>(in);
    const auto b = load<Value>(inout);
    const auto index = load<Index>(in + index_at);
    const bool wins = op == Op::minloc ? a < b : a > b;
    // For equal values the lower index is kept.
    if (!wins && !(a == b && index < load<Index>(inout + index_at))) return;
    store(inout, a);
    store(inout + index_at, index);
  }
};

template <typename Element, Op op>
void each(void* target, const void* origin, void* fetched, std::size_t count) {
  const std::size_t bytes = count * Element::bytes;
  if (fetched != nullptr && bytes != 0) std::memcpy(fetched, target, bytes);
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(origin);
  for (std::size_t at = 0; at < bytes; at += Element::bytes) {
    Element::template combine<op>(from + at, to + at);
  }
}

struct Row {
  std::uint32_t bytes = 0;
  std::array<Kernel, op_count> kernels{};
};

template <typename Element, Op op>
constexpr Kernel kernel() {
  if constexpr (Element::has(op)) return each<Element, op>;
  return nullptr;
}

template <typename Element>
constexpr Row row() {
  return {Element::bytes,
          {nullptr, nullptr, kernel<Element, Op::sum>(), kernel<Element, Op::prod>(),
           kernel<Element, Op::min>(), kernel<Element, Op::max>(), kernel<Element, Op::land>(),
           kernel<Element, Op::lor>(), kernel<Element, Op::lxor>(), kernel<Element, Op::band>(),
           kernel<Element, Op::bor>(), kernel<Element, Op::bxor>(), kernel<Element, Op::minloc>(),
           kernel<Element, Op::maxloc>()}};
}

template <typename T, typename Element>
constexpr Row row_if_present() {
  if constexpr (std::is_same_v<T, Absent>)
    return {};
  else
    return row<Element>();
}

/// In the order of Basic.
constexpr std::array rows{row_if_present<Int128, WideInteger>(),
                          row_if_present<Float16, Number<Float16>>(),
                          row<Number<long double>>(),
                          row_if_present<Float128, Number<Float128>>(),
                          row_if_present<ComplexFloat16, Complex<ComplexFloat16>>(),
                          row<Complex<ComplexFloat>>(),
                          row<Complex<ComplexDouble>>(),
                          row<Complex<ComplexLongDouble>>(),
                          row_if_present<ComplexFloat128, Complex<ComplexFloat128>>(),
                          row<Pair<short, int>>(),
                          row<Pair<int, int>>(),
                          row<Pair<long, int>>(),
                          row<Pair<float, int>>(),
                          row<Pair<double, int>>(),
                          row<Pair<long double, int>>(),
                          row<Pair<float, float>>(),
                          row<Pair<double, double>>()};
constexpr std::size_t first = static_cast<std::size_t>(Basic::f64) + 1;
static_assert(first + rows.size() == static_cast<std::size_t>(Basic::other));

const Row* row_of(Basic basic) {
  const std::size_t index = static_cast<std::size_t>(basic) - first;
  return index < rows.size() ? &rows[index] : nullptr;
}

}  // namespace

Kernel nonnative_kernel(Basic basic, Op op) {
  const Row* row = row_of(basic);
  return row == nullptr ? nullptr : row->kernels[static_cast<std::size_t>(op)];
}

std::uint32_t nonnative_bytes(Basic basic) {
  const Row* row = row_of(basic);
  return row == nullptr ? 0 : row->bytes;
}

}  // namespace oriel
