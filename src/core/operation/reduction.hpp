// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace oriel {

/// Predefined types as the core tells them apart. A message names them by their place here.
enum class Basic : std::uint8_t {
  none,  // not made of one predefined type
  // What the processor has instructions for.
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
  // What it has not (see uncommon_kernels.hpp).
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
  other  // no op combines it: it is replaced and read
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

/// An op together with the type it works on: everything an accumulate needs to know. A plain value:
/// it is copied into recorded operations and into messages.
struct Reduction {
  Op op = Op::replace;
  Basic basic = Basic::none;
  std::uint32_t element = 0;  // bytes of one element
  /// The program lets each element be updated by itself, whatever the window's Atomicity says.
  bool by_elements = false;
};

/// Whether MPI has such an op on such a type, and this processor's compiler the type.
bool valid(const Reduction& reduction);

/// Elements of this size, naturally aligned, can be updated by one CPU atomic each (a native
/// instruction or a compare-exchange loop around the op). Whether they are, or by their origin
/// alone as all others, the region decides, never by the op; how the two exclude one another,
/// Update (G4).
constexpr bool atomic_element(std::uint32_t bytes, const void* address) {
  return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
         (reinterpret_cast<std::uintptr_t>(address) & (bytes - 1)) == 0;
}

/// target[i] = origin[i] op target[i] element by element, each atomically; `fetched`, when not
/// null, receives the old values. All elements must satisfy atomic_element.
void reduce_atomic(const Reduction& reduction, void* target, const void* origin, void* fetched,
                   std::size_t count);

/// The same without atomicity: the caller updates the target's memory alone (Update), or `target`
/// is a private copy.
void reduce_plain(const Reduction& reduction, void* target, const void* origin, void* fetched,
                  std::size_t count);

/// Bitwise compare-and-swap of one element; `result` receives the old value.
void compare_swap_atomic(std::uint32_t element, void* target, const void* origin,
                         const void* compare, void* result);
void compare_swap_plain(std::uint32_t element, void* target, const void* origin,
                        const void* compare, void* result);

}  // namespace oriel
