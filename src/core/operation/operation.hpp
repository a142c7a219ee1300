// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/thread_lines.hpp"
#include "core/notify/notification.hpp"
#include "core/operation/layout.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

/// Identifies a memory handle (Q5) at its owner.
struct HandleName {
  std::uint64_t token = 0;  // unique among all handles of the owner; 0: no handle
  std::uint32_t slot = 0;

  bool given() const { return token != 0; }
};

enum class OperationKind : std::uint8_t {
  put,
  get,
  accumulate,
  get_accumulate,  // also fetch_and_op
  compare_and_swap,
  acknowledge  // moves nothing: its reply means that all that was sent before it is complete
};
constexpr const char* name_of(OperationKind kind) {
  constexpr const char* names[] = {
      "put", "get", "accumulate", "get_accumulate", "compare_and_swap", "acknowledge"};
  return names[static_cast<int>(kind)];
}

/// True if the operation returns data to the origin.
constexpr bool fetches(OperationKind kind) {
  return kind == OperationKind::get || kind == OperationKind::get_accumulate ||
         kind == OperationKind::compare_and_swap;
}

/// True if the operation combines elements by an op.
constexpr bool reduces(OperationKind kind) {
  return kind == OperationKind::accumulate || kind == OperationKind::get_accumulate;
}

/// True if the operation is atomic with respect to others of these kinds on the same memory.
constexpr bool updates(OperationKind kind) {
  return reduces(kind) || kind == OperationKind::compare_and_swap;
}

/// Threads of this process, as bits: a flush waits for the operations of a set of threads (Q1). A
/// process of one thread has all bits; the 64th thread and all further ones share the last bit.
using ThreadSet = std::uint64_t;
inline constexpr ThreadSet all_threads = ~ThreadSet{0};
inline constexpr ThreadSet no_threads = 0;
inline constexpr ThreadSet further_threads = ThreadSet{1} << 63;
static_assert(ThreadLines::most == 64);  // a bit for each line

/// An RMA operation as the caller gave it: arguments, not data. While its epoch is deferred or its
/// target is not available, it is recorded unchanged; it is carried out later from the record.
struct Operation {
  OperationKind kind = OperationKind::put;
  int target = 0;
  std::int64_t displacement = 0;  // in the target's displacement units
  Buffer origin;                  // source of put and accumulates; with Op::no_op unused
  Buffer result;                  // destination of get, get_accumulate and compare_and_swap
  const void* compare = nullptr;  // compare_and_swap
  std::uint64_t target_count = 0;
  LayoutRef target_layout;
  Reduction reduction;               // accumulates; compare_and_swap uses its `element`
  Completion* completion = nullptr;  // of a request: called when origin buffers are free
  bool completes_there = false;      // completion also waits for completion at the target (Q7)
  /// It completes at the target after all ordered operations issued before it (Q2).
  bool ordered = false;
  /// If given, the displacement is in bytes from the start of this memory handle of the target.
  HandleName handle;
  ThreadSet thread = all_threads;  // the thread that issued it
  ThreadLine* line = nullptr;      // of that thread, during the call
  std::uint32_t number = 0;        // identifies the operation in events
  NotifyArg notify_arg;            // sent to the target when the operation has taken effect there

  Elements target_elements() const { return {*target_layout, target_count}; }
  std::uint64_t bytes() const { return target_count * target_layout->size(); }
  /// True if its caller waits for completion at the target and no result of the operation implies
  /// it.
  bool awaits_answer() const { return completes_there && !fetches(kind); }
};

/// Called before an ordered operation on mapped memory (Q2): all that this thread has loaded and
/// stored for earlier operations precedes this operation for all observers. On x86-64 only a load
/// may overtake an earlier store, and the second fence costs nothing. An update that is made alone
/// loads and stores.
inline void order_before(OperationKind kind) {
  if (fetches(kind)) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_acq_rel);
  }
}

/// Called after a flush that found nothing to wait for: the stores of earlier operations precede
/// all later stores of the program, by which it may notify others with any memory order.
inline void order_behind_flush() {
  std::atomic_thread_fence(std::memory_order_release);
}

}  // namespace oriel
