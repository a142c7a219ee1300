// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace oriel {

/// Predefined types as the core distinguishes them. A message contains the number of a type here.
enum class Basic : std::uint8_t {
  none,  // not one predefined type
  // Native types: the processor has instructions for them.
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f32,
  f64,
  // Nonnative types: the processor has none.
  i128,
  f16,
  long_double,
  f128,
  complex_f16,
  complex_f32,
  complex_f64,
  complex_long_double,
  complex_f128,
  short_int,  // value and index, for MPI_MINLOC and MPI_MAXLOC
  int_int,
  long_int,
  f32_int,
  f64_int,
  long_double_int,
  f32_f32,
  f64_f64,
  other  // no op combines it: it is only replaced and read
};
constexpr std::size_t basic_count = static_cast<std::size_t>(Basic::other) + 1;

/// Predefined ops.
enum class Op : std::uint8_t {
  replace,
  no_op,
  sum,
  prod,
  min,
  max,
  land,
  lor,
  lxor,
  band,
  bor,
  bxor,
  minloc,
  maxloc
};
constexpr std::size_t op_count = static_cast<std::size_t>(Op::maxloc) + 1;

/// An op and the type of its elements: all that an accumulate needs to know. A plain value, which
/// is copied into recorded operations and messages.
struct Reduction {
  Op op = Op::replace;
  Basic basic = Basic::none;
  std::uint32_t element = 0;  // bytes of one element
  /// The program permits that each element is updated by itself, whatever the window's Atomicity
  /// is.
  bool by_elements = false;
};

/// True if MPI has this op on this type and the compiler has the type.
bool valid(const Reduction& reduction);

/// True if elements of `bytes` bytes at `address` have the size and alignment at which each can be
/// updated by one CPU atomic (a native instruction or a compare-exchange loop around the op),
/// whatever the op is. The region decides whether they are, or whether one updater at a time
/// updates them by plain loads and stores, as all other elements. Update keeps the two apart (G4).
constexpr bool atomic_element(std::uint32_t bytes, const void* address) {
  return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
         (reinterpret_cast<std::uintptr_t>(address) & (bytes - 1)) == 0;
}

/// target[i] = origin[i] op target[i], each element atomically; `fetched`, when not null, receives
/// the old values. All elements must satisfy atomic_element.
void reduce_atomic(const Reduction& reduction, void* target, const void* origin, void* fetched,
                   std::size_t count);

/// As reduce_atomic(), without atomicity: the caller has excluded all other updates of the target's
/// memory (Update), or `target` is a private copy.
void reduce_plain(const Reduction& reduction, void* target, const void* origin, void* fetched,
                  std::size_t count);

/// Bitwise compare-and-swap of one element; `result` receives the old value.
void compare_swap_atomic(std::uint32_t element, void* target, const void* origin,
                         const void* compare, void* result);
void compare_swap_plain(std::uint32_t element, void* target, const void* origin,
                        const void* compare, void* result);

/// Bytes of one element, with the padding within it; 0 if it may be any number, or if the compiler
/// has no such type.
std::uint32_t bytes_of(Basic basic);

}  // namespace oriel
