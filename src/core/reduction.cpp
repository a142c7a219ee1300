// SPDX-License-Identifier: BSD-3-Clause
#include "core/reduction.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <type_traits>

namespace oriel {
namespace {

// Order: MPI orders accumulates of one origin to one location, which program order does here, and
// gives no meaning to an accumulate as a synchronization. acq_rel costs nothing on x86 and lets
// programs that poll by fetch_and_op see what was put before.
constexpr auto order = std::memory_order_acq_rel;

template <typename T>
T combine(Op op, T in, T old) {
  switch (op) {
    case Op::replace:
      return in;
    case Op::sum:
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;  // wraps instead of overflowing
        return static_cast<T>(static_cast<U>(static_cast<U>(in) + static_cast<U>(old)));
      } else {
        return in + old;
      }
    case Op::prod:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<std::uint64_t>(in) * static_cast<std::uint64_t>(old));
      } else {
        return in * old;
      }
    case Op::min:
      return std::min(in, old);
    case Op::max:
      return std::max(in, old);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case Op::land:
        return static_cast<T>(in != 0 && old != 0);
      case Op::lor:
        return static_cast<T>(in != 0 || old != 0);
      case Op::lxor:
        return static_cast<T>((in != 0) != (old != 0));
      case Op::band:
        return static_cast<T>(in & old);
      case Op::bor:
        return static_cast<T>(in | old);
      case Op::bxor:
        return static_cast<T>(in ^ old);
      default:
        break;
    }
  }
  return old;
}

/// Updates elements one by one through `update(target, origin, old)`.
template <typename Update>
void for_elements(std::size_t size, void* target, const void* origin, void* fetched,
                  std::size_t count, Update&& update) {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(origin);
  auto* old = static_cast<std::byte*>(fetched);
  for (std::size_t i = 0; i < count; ++i) {
    update(to + i * size, from == nullptr ? nullptr : from + i * size,
           old == nullptr ? nullptr : old + i * size);
  }
}

template <typename T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void reduce_typed(Op op, void* target, const void* origin, void* fetched, std::size_t count) {
  for_elements(sizeof(T), target, origin, fetched, count,
               [op](std::byte* to, const std::byte* from, std::byte* old_out) {
                 std::atomic_ref<T> word(*reinterpret_cast<T*>(to));
                 T old;
                 if constexpr (std::is_integral_v<T>) {
                   if (op == Op::sum) {
                     old = word.fetch_add(load<T>(from), order);
                     if (old_out != nullptr) std::memcpy(old_out, &old, sizeof old);
                     return;
                   }
                 }
                 const T in = load<T>(from);
                 old = word.load(std::memory_order_relaxed);
                 while (!word.compare_exchange_weak(old, combine(op, in, old), order,
                                                    std::memory_order_relaxed)) {
                 }
                 if (old_out != nullptr) std::memcpy(old_out, &old, sizeof old);
               });
}

/// Ops that do not look at the value as a number: replace, no_op, and those of the boundary.
template <typename Word>
void reduce_words(const Reduction& reduction, void* target, const void* origin, void* fetched,
                  std::size_t count) {
  for_elements(
      sizeof(Word), target, origin, fetched, count,
      [&](std::byte* to, const std::byte* from, std::byte* old_out) {
        std::atomic_ref<Word> word(*reinterpret_cast<Word*>(to));
        Word old;
        if (reduction.op == Op::no_op) {
          old = word.load(std::memory_order_acquire);
        } else if (reduction.op == Op::replace) {
          if (old_out == nullptr) {
            word.store(load<Word>(from), std::memory_order_release);
            return;
          }
          old = word.exchange(load<Word>(from), order);
        } else {
          old = word.load(std::memory_order_relaxed);
          Word next;
          do {
            next = old;
            reduction.generic.apply(reduction.op_code, reduction.type_code, from, &next, 1);
          } while (!word.compare_exchange_weak(old, next, order, std::memory_order_relaxed));
        }
        if (old_out != nullptr) std::memcpy(old_out, &old, sizeof old);
      });
}

template <typename T>
void combine_plain(Op op, void* target, const void* origin, std::size_t count) {
  for_elements(sizeof(T), target, origin, nullptr, count,
               [op](std::byte* to, const std::byte* from, std::byte*) {
                 const T next = combine(op, load<T>(from), load<T>(to));
                 std::memcpy(to, &next, sizeof next);
               });
}

/// Calls visit with a value of the type that `basic` names; false if there is no kernel for it.
template <typename Visit>
bool with_type(const Reduction& reduction, Visit&& visit) {
  if (reduction.op == Op::generic || reduction.op == Op::replace || reduction.op == Op::no_op) {
    return false;
  }
  const bool numeric = reduction.op <= Op::max;
  switch (reduction.basic) {
    case Basic::i8: visit(std::int8_t{}); return true;
    case Basic::u8: visit(std::uint8_t{}); return true;
    case Basic::i16: visit(std::int16_t{}); return true;
    case Basic::u16: visit(std::uint16_t{}); return true;
    case Basic::i32: visit(std::int32_t{}); return true;
    case Basic::u32: visit(std::uint32_t{}); return true;
    case Basic::i64: visit(std::int64_t{}); return true;
    case Basic::u64: visit(std::uint64_t{}); return true;
    case Basic::f32: if (numeric) visit(float{}); return numeric;
    case Basic::f64: if (numeric) visit(double{}); return numeric;
    case Basic::none:
    case Basic::other: break;
  }
  return false;
}

}  // namespace

void reduce_atomic(const Reduction& reduction, void* target, const void* origin, void* fetched,
                   std::size_t count) {
  if (with_type(reduction, [&](auto zero) {
        reduce_typed<decltype(zero)>(reduction.op, target, origin, fetched, count);
      })) {
    return;
  }
  switch (reduction.element) {
    case 1: reduce_words<std::uint8_t>(reduction, target, origin, fetched, count); break;
    case 2: reduce_words<std::uint16_t>(reduction, target, origin, fetched, count); break;
    case 4: reduce_words<std::uint32_t>(reduction, target, origin, fetched, count); break;
    default: reduce_words<std::uint64_t>(reduction, target, origin, fetched, count); break;
  }
}

void reduce_plain(const Reduction& reduction, void* target, const void* origin, void* fetched,
                  std::size_t count) {
  const std::size_t bytes = count * reduction.element;
  if (fetched != nullptr) std::memcpy(fetched, target, bytes);
  if (reduction.op == Op::no_op) return;
  if (reduction.op == Op::replace) {
    std::memcpy(target, origin, bytes);
    return;
  }
  if (with_type(reduction, [&](auto zero) {
        combine_plain<decltype(zero)>(reduction.op, target, origin, count);
      })) {
    return;
  }
  reduction.generic.apply(reduction.op_code, reduction.type_code, origin, target, count);
}

void compare_swap_atomic(std::uint32_t element, void* target, const void* origin,
                         const void* compare, void* result) {
  const auto swap = [&](auto zero) {
    using Word = decltype(zero);
    Word expected = load<Word>(compare);
    std::atomic_ref<Word>(*static_cast<Word*>(target))
        .compare_exchange_strong(expected, load<Word>(origin), order);
    std::memcpy(result, &expected, sizeof expected);
  };
  switch (element) {
    case 1: swap(std::uint8_t{}); break;
    case 2: swap(std::uint16_t{}); break;
    case 4: swap(std::uint32_t{}); break;
    default: swap(std::uint64_t{}); break;
  }
}

void compare_swap_plain(std::uint32_t element, void* target, const void* origin,
                        const void* compare, void* result) {
  const bool equal = std::memcmp(target, compare, element) == 0;
  std::memcpy(result, target, element);
  if (equal) std::memcpy(target, origin, element);
}

}  // namespace oriel
