// SPDX-License-Identifier: BSD-3-Clause
#include "core/operation/reduction.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <type_traits>

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

template <Op op, typename T>
T combine(T in, T old) {
  if constexpr (op == Op::replace) return in;
  if constexpr (op == Op::no_op) return old;
  if constexpr (op == Op::min) return std::min(in, old);
  if constexpr (op == Op::max) return std::max(in, old);
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (op == Op::sum) return in + old;
    if constexpr (op == Op::prod) return in * old;
  } else {
    // Unsigned and not narrower than int: wraps, where int would overflow.
    using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    if constexpr (op == Op::sum)
      return static_cast<T>(static_cast<Wide>(in) + static_cast<Wide>(old));
    if constexpr (op == Op::prod)
      return static_cast<T>(static_cast<Wide>(in) * static_cast<Wide>(old));
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

/// The number of types with instructions, including Basic::none, and of ops on them.
constexpr std::size_t native_types = static_cast<std::size_t>(Basic::f64) + 1;
constexpr std::size_t native_ops = static_cast<std::size_t>(Op::bxor) + 1;
using KernelRow = std::array<Kernel, native_ops>;
using KernelTable = std::array<KernelRow, native_types>;

template <Way way, Op op, typename T>
constexpr Kernel kernel() {
  constexpr bool number = op <= Op::max;
  if constexpr (std::is_floating_point_v<T> && !number) {
    return nullptr;
  } else {
    if constexpr (way == Way::atomic) return atomic_kernel<op, T>;
    if constexpr (way == Way::plain) return plain_kernel<op, T>;
    if constexpr (way == Way::avx2) return avx2_kernel<op, T>;
    if constexpr (way == Way::avx512) return avx512_kernel<op, T>;
  }
}

/// The kernels of one type in the order of Op.
template <Way way, typename T>
constexpr KernelRow row() {
  return {kernel<way, Op::replace, T>(), kernel<way, Op::no_op, T>(), kernel<way, Op::sum, T>(),
          kernel<way, Op::prod, T>(),    kernel<way, Op::min, T>(),   kernel<way, Op::max, T>(),
          kernel<way, Op::land, T>(),    kernel<way, Op::lor, T>(),   kernel<way, Op::lxor, T>(),
          kernel<way, Op::band, T>(),    kernel<way, Op::bor, T>(),   kernel<way, Op::bxor, T>()};
}

static_assert(static_cast<int>(Basic::i8) == 1 && static_cast<int>(Basic::f64) == 10 &&
                  static_cast<int>(Op::sum) == 2 && static_cast<int>(Op::bxor) == 11,
              "the kernels are listed in the order of Basic and Op");

/// In the order of Basic; none has no kernels.
template <Way way>
constexpr KernelTable kernels{KernelRow{},
                              row<way, std::int8_t>(),
                              row<way, std::uint8_t>(),
                              row<way, std::int16_t>(),
                              row<way, std::uint16_t>(),
                              row<way, std::int32_t>(),
                              row<way, std::uint32_t>(),
                              row<way, std::int64_t>(),
                              row<way, std::uint64_t>(),
                              row<way, float>(),
                              row<way, double>()};

/// Null if the type is not native, or has no such op.
Kernel native_kernel(Way way, const Reduction& reduction) {
  static constexpr std::array tables{&kernels<Way::atomic>, &kernels<Way::plain>,
                                     &kernels<Way::avx2>, &kernels<Way::avx512>};
  const auto basic = static_cast<std::size_t>(reduction.basic);
  const auto op = static_cast<std::size_t>(reduction.op);
  if (basic >= native_types || op >= native_ops) return nullptr;
  return (*tables[static_cast<std::size_t>(way)])[basic][op];
}

/// The plain kernel of any type and op except replace and no_op of Basic::other. Null: no such op.
Kernel plain_kernel_of(const Reduction& reduction) {
  const Kernel kernel = native_kernel(Way::plain, reduction);
  return kernel != nullptr ? kernel : nonnative_kernel(reduction.basic, reduction.op);
}

// The rare parts of reduce_plain(), as separate functions: reduce_plain() then saves no registers
// in the usual case.

[[gnu::noinline]] void reduce_nonnative(const Reduction& reduction, void* target,
                                        const void* origin, void* fetched, std::size_t count) {
  nonnative_kernel(reduction.basic, reduction.op)(target, origin, fetched, count);
}

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
  const Kernel combine = plain_kernel_of(reduction);
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

bool valid(const Reduction& reduction) {
  // Sizes of the native types, in the order of Basic.
  static constexpr std::array<std::uint32_t, native_types> sizes{0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  const auto basic = static_cast<std::size_t>(reduction.basic);
  const std::uint32_t size = basic < native_types ? sizes[basic] : nonnative_bytes(reduction.basic);
  if (reduction.element == 0 || (size != 0 && size != reduction.element)) return false;
  return reduction.op <= Op::no_op || plain_kernel_of(reduction) != nullptr;
}

void reduce_atomic(const Reduction& reduction, void* target, const void* origin, void* fetched,
                   std::size_t count) {
  if (const Kernel kernel = native_kernel(Way::atomic, reduction)) [[likely]] {
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
  if (const Kernel kernel = native_kernel(way, reduction)) [[likely]] {
    if (fetched != nullptr && count * reduction.element > fetched_block) [[unlikely]] {
      return reduce_in_blocks(kernel, reduction.element, target, origin, fetched, count);
    }
    return kernel(target, origin, fetched, count);
  }
  reduce_nonnative(reduction, target, origin, fetched, count);
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
