// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/thread_lines.hpp"
#include "core/notify/notification.hpp"
#include "core/operation/buffer.hpp"
#include "core/operation/handle_name.hpp"
#include "core/operation/layout.hpp"
#include "core/operation/reduction.hpp"

namespace oriel {

enum class OperationKind : std::uint8_t {
  put,
  get,
  accumulate,
  get_accumulate,  // also fetch_and_op
  compare_and_swap,
  acknowledge  // moves nothing: its reply says that what was sent before it is complete
};
constexpr const char* name_of(OperationKind kind) {
  constexpr const char* names[] = {
      "put", "get", "accumulate", "get_accumulate", "compare_and_swap", "acknowledge"};
  return names[static_cast<int>(kind)];
}

/// Whether it brings something back to the origin.
constexpr bool fetches(OperationKind kind) {
  return kind == OperationKind::get || kind == OperationKind::get_accumulate ||
         kind == OperationKind::compare_and_swap;
}

/// Whether it combines elements by an op.
constexpr bool reduces(OperationKind kind) {
  return kind == OperationKind::accumulate || kind == OperationKind::get_accumulate;
}

/// Whether it is atomic to others of its kind at the same place.
constexpr bool updates(OperationKind kind) {
  return reduces(kind) || kind == OperationKind::compare_and_swap;
}

/// Threads of this process as bits, for whose operations a flush waits (Q1). A process of one
/// thread has them all; the 64th thread and all further ones have the last bit together.
using ThreadSet = std::uint64_t;
inline constexpr ThreadSet all_threads = ~ThreadSet{0};
inline constexpr ThreadSet no_threads = 0;
inline constexpr ThreadSet further_threads = ThreadSet{1} << 63;
static_assert(ThreadLines::most == 64);  // a bit for each line

/// An RMA operation as the caller gave it: arguments, not data. Recorded as it is while its epoch
/// is deferred or its target not yet available, and carried out from it later.
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
  Completion* completion = nullptr;  // of a request-based operation: origin buffers may be reused,
  bool completes_there = false;      // and it is complete at the target as well (Q7)
  /// It completes at the target after all that was issued so before it (Q2).
  bool ordered = false;
  /// The displacement is in bytes from the start of this memory handle of the target's, if given.
  HandleName handle;
  ThreadSet thread = all_threads;  // that has issued it
  ThreadLine* line = nullptr;      // of that thread, while it makes the call
  std::uint32_t number = 0;        // by which the events of one are known
  NotifyArg notify_arg;            // to the target, when the operation has taken place there

  Elements target_elements() const { return {*target_layout, target_count}; }
  std::uint64_t bytes() const { return target_count * target_layout->size(); }
  /// Its caller waits until it is complete at the target, of which no result of it tells.
  bool awaits_answer() const { return completes_there && !fetches(kind); }
};

}  // namespace oriel
