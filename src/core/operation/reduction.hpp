// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace oriel {

/// Predefined types as far as the core must tell them apart: hot ones have kernels of their own;
/// `other` is any predefined type that only the boundary's generic function understands.
enum class Basic : std::uint8_t {
  none,  // not made of one predefined type
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
  other
};

/// Predefined ops. Those from `sum` to `bxor` have kernels for the hot types; `generic` is any
/// combination left to the boundary's function (MPI_Reduce_local).
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
  generic
};

/// Combines `count` elements: inout[i] = in[i] op inout[i], as MPI_Reduce_local does.
/// `op` and `type` are the boundary's own handles, never looked into here.
struct GenericReduce {
  void (*apply)(std::uint64_t op, std::uint64_t type, const void* in, void* inout,
                std::size_t count) = nullptr;
  /// Whether there are such an op and such a type, with elements of so many bytes: codes come in
  /// messages.
  bool (*knows)(std::uint64_t op, std::uint64_t type, std::uint32_t element) = nullptr;
};

/// An op together with the type it works on: everything an accumulate needs to know. A plain value:
/// it is copied into recorded operations and, as op and type code, into messages.
struct Reduction {
  Op op = Op::replace;
  Basic basic = Basic::none;
  std::uint32_t element = 0;    // bytes of one element
  std::uint64_t op_code = 0;    // for GenericReduce: the boundary's portable code of the op
  std::uint64_t type_code = 0;  // likewise of the type
  GenericReduce generic;        // apply may be null when op and basic have a kernel
};

/// Whether it makes sense: for what has come in a message.
bool valid(const Reduction& reduction);

/// Elements of this size, naturally aligned, are updated by one CPU atomic each (a native
/// instruction or a compare-exchange loop around the op); all others under the target's accumulate
/// lock. The choice depends on size and alignment alone, never on the op, so that two accumulates
/// on one location always exclude one another in the same way (G4).
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
