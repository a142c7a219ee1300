// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "core/operation/operation.hpp"
#include "mpi/calls/parameters.hpp"
#include "mpi/host/errors.hpp"
#include "mpi/requests/own_requests.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/window_handle.hpp"

namespace oriel::mpi {

/// `count` elements of `type` at `address`, as the program gave them.
struct UserBuffer {
  void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// `count` elements of `type` in the window of a rank, as the program gave them.
struct UserTarget {
  int rank = 0;
  MPI_Aint displacement = 0;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// The arguments of any operation.
struct Access {
  OperationKind kind = OperationKind::put;
  UserBuffer origin{};
  UserBuffer result{};
  const void* compare = nullptr;
  UserTarget target{};
  MPI_Op op = MPI_REPLACE;
  bool predefined_only = false;  // the call takes no derived datatype
  bool completes_there = false;  // its request also waits for completion at the target
  NotifyArg notify_arg{};        // issue() sets its `bytes`
};

/// Fails with MPI_ERR_RMA_NOTIFICATION if the rank does not have the counter.
Failure check_counter(const WindowHandle& window, int rank, int index);

/// The general path of any operation: checks the arguments in MPI's order (count, type, rank,
/// displacement, op), then issues the operation. Sets `posted` if the completion is called later.
Failure issue(WindowHandle& window, const Access& access, Completion* completion, bool& posted);
inline Failure issue(WindowHandle& window, const Access& access) {
  bool posted = false;
  return issue(window, access, nullptr, posted);
}

/// Returns whether one of two addresses is null. Addresses of memory usually have bits in common,
/// so that one comparison suffices.
inline bool any_null(const void* one, const void* other) {
  const auto common =
      reinterpret_cast<std::uintptr_t>(one) & reinterpret_cast<std::uintptr_t>(other);
  return common == 0 && (one == nullptr || other == nullptr);
}

/// True if the bytes of `count` elements, of less than 2^31 bytes each, can be computed in 64 bits:
/// the product is correct or, if the count is negative, larger than any window, so that the check
/// of the window's size fails. True for every int; compilers then omit the check.
inline bool countable(MPI_Count count) {
  constexpr MPI_Count limit = MPI_Count{1} << 32;
  return count >= -limit && count < limit;
}

/// True if a put or get is of one contiguous type and one run on both sides; `bytes` is its length.
/// False for a null address with a count.
inline bool one_run(const void* local, MPI_Count count, MPI_Datatype type, MPI_Count target_count,
                    MPI_Datatype target_type, std::size_t& bytes) {
  if (local == nullptr && count != 0) [[unlikely]]
    return false;
  // One type and count on both sides.
  if (type != target_type || count != target_count || !countable(count)) return false;
  const Datatypes::Known* known = runtime.datatypes.find_known(type);
  if (known == nullptr || !known->layout->short_contiguous()) return false;
  bytes = static_cast<std::size_t>(count) * known->layout->size();
  return true;
}

/// find_address() on a window made from a memory handle.
std::byte* find_address_by_handle(const WindowHandle& window, int rank, MPI_Aint displacement,
                                  std::size_t bytes);

/// The address of target memory that may be loaded and stored, or null. This is the predicate of
/// the hot path; an operation that it rejects takes a longer path.
inline std::byte* find_address(const WindowHandle& window, int rank, MPI_Aint displacement,
                               std::size_t bytes) {
  if (valid_rank(window, rank)) [[likely]]
    return window.core->find_address(rank, displacement, bytes);
  return find_address_by_handle(window, rank, displacement, bytes);
}

/// The short way into the core of a put (`write`) or get of one run of bytes, for a remote rank.
/// False: issue() must follow, which reports errors. With the process lock.
bool issue_run(const WindowHandle& window, bool write, int rank, MPI_Aint displacement, void* local,
               std::size_t bytes, const NotifyArg& notify_arg);

/// The longer hot path, for memory that system calls access. Returns whether the bytes have been
/// put (`write`) or got. `may_aggregate`: they may also be left for the next call that completes
/// them.
bool try_copy(const WindowHandle& window, bool write, int rank, MPI_Aint displacement, void* local,
              std::size_t bytes, bool may_aggregate);

/// The longest hot path, for any datatypes.
bool try_move(const WindowHandle& window, bool write, int rank, MPI_Aint displacement,
              MPI_Count target_count, MPI_Datatype target_type, const UserBuffer& local);

inline void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 8) {  // the most frequent length: without a call
    std::memcpy(to, from, 8);
  } else if (bytes != 0) {          // otherwise the program's address may be null
    std::memmove(to, from, bytes);  // a rank may put its window into itself
  }
}

/// MPI's calls have const sources; a Buffer serves both directions.
inline void* writable(const void* address) {
  return const_cast<void*>(address);
}

// For each kind of operation: its Access, for the general path, and its hot path, which any thread
// may take at any time without the process lock. The hot path returns whether it has carried out
// the operation. The parameters are those of the call (mpi/calls/calls.ini).

inline Access put_access(ORIEL_PUT_ARGS(MPI_Count)) {
  return {.kind = OperationKind::put,
          .origin = {writable(origin_addr), origin_count, origin_datatype},
          .target = {ORIEL_TARGET_NAMES}};
}

inline bool try_put(const WindowHandle& window, ORIEL_PUT_ARGS(MPI_Count),
                    bool may_aggregate = true) {
  std::size_t bytes;
  if (window.info.order.load()) order_before(OperationKind::put);
  if (!one_run(origin_addr, origin_count, origin_datatype, target_count, target_datatype, bytes)) {
    return try_move(window, true, ORIEL_TARGET_NAMES,
                    {writable(origin_addr), origin_count, origin_datatype});
  }
  if (std::byte* target = find_address(window, target_rank, target_disp, bytes)) [[likely]] {
    copy(target, origin_addr, bytes);
    return true;
  }
  return try_copy(window, true, target_rank, target_disp, writable(origin_addr), bytes,
                  may_aggregate);
}

inline Access get_access(ORIEL_GET_ARGS(MPI_Count)) {
  return {.kind = OperationKind::get,
          .result = {origin_addr, origin_count, origin_datatype},
          .target = {ORIEL_TARGET_NAMES}};
}

inline bool try_get(const WindowHandle& window, ORIEL_GET_ARGS(MPI_Count),
                    bool may_aggregate = true) {
  std::size_t bytes;
  if (window.info.order.load()) order_before(OperationKind::get);
  if (!one_run(origin_addr, origin_count, origin_datatype, target_count, target_datatype, bytes)) {
    return try_move(window, false, ORIEL_TARGET_NAMES,
                    {origin_addr, origin_count, origin_datatype});
  }
  if (const std::byte* target = find_address(window, target_rank, target_disp, bytes)) [[likely]] {
    copy(origin_addr, target, bytes);
    return true;
  }
  return try_copy(window, false, target_rank, target_disp, origin_addr, bytes, may_aggregate);
}

/// The last update of a thread, with op and type resolved: programs repeat updates.
struct LastUpdate {
  OperationKind kind = OperationKind::put;  // put is no update: there has been none
  MPI_Op op{};
  MPI_Datatype type{};
  Reduction reduction;
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local LastUpdate last_update;
bool resolve_update(OperationKind kind, MPI_Op op, MPI_Datatype type);

/// True if this thread may update without the process lock. If there are other threads, `line` is
/// this thread's line. A program with one thread pays for one check only.
inline bool may_update(ThreadLine*& line) {
  const bool others = engine.lock.enabled();
  line = others ? engine.line_keeper.own() : nullptr;
  return line != nullptr || !others;
}

/// The hot path of accumulates: `count` elements of one predefined type. Inlined into each call,
/// because passing ten arguments would be a third of the work.
[[gnu::always_inline]] inline bool update_elements(const WindowHandle& window, OperationKind kind,
                                                   MPI_Op op, MPI_Datatype type, MPI_Count count,
                                                   int rank, MPI_Aint displacement,
                                                   const void* origin, void* result) {
  if (!valid_rank(window, rank)) return false;
  if (kind == OperationKind::accumulate ? origin == nullptr : any_null(origin, result))
      [[unlikely]] {
    // MPI_NO_OP reads no origin. The general path raises the error in all other cases.
    if (result == nullptr || op != MPI_NO_OP) return false;
  }
  if ((op != last_update.op || type != last_update.type || kind != last_update.kind) &&
      !resolve_update(kind, op, type)) {
    return false;
  }
  ThreadLine* line;
  if (!countable(count) || !may_update(line)) return false;
  if (window.info.order.load()) order_before(kind);
  const auto elements = static_cast<std::uint64_t>(count);
  if (elements > 1 && window.info.accumulate_intrinsic.load()) {
    Reduction reduction = last_update.reduction;
    reduction.by_elements = true;
    return window.core->try_reduce(line, rank, displacement, reduction, origin, result, elements);
  }
  return window.core->try_reduce(line, rank, displacement, last_update.reduction, origin, result,
                                 elements);
}

inline Access accumulate_access(ORIEL_ACCUMULATE_ARGS(MPI_Count)) {
  return {.kind = OperationKind::accumulate,
          .origin = {writable(origin_addr), origin_count, origin_datatype},
          .target = {ORIEL_TARGET_NAMES},
          .op = op};
}

inline bool try_accumulate(const WindowHandle& window, ORIEL_ACCUMULATE_ARGS(MPI_Count)) {
  return origin_count == target_count && origin_datatype == target_datatype &&
         update_elements(window, OperationKind::accumulate, op, target_datatype, target_count,
                         target_rank, target_disp, origin_addr, nullptr);
}

inline Access get_accumulate_access(ORIEL_GET_ACCUMULATE_ARGS(MPI_Count)) {
  return {.kind = OperationKind::get_accumulate,
          .origin = {writable(origin_addr), origin_count, origin_datatype},
          .result = {ORIEL_RESULT_NAMES},
          .target = {ORIEL_TARGET_NAMES},
          .op = op};
}

inline bool try_get_accumulate(const WindowHandle& window, ORIEL_GET_ACCUMULATE_ARGS(MPI_Count)) {
  return result_count == target_count && result_datatype == target_datatype &&
         (op == MPI_NO_OP ||
          (origin_count == target_count && origin_datatype == target_datatype)) &&
         update_elements(window, OperationKind::get_accumulate, op, target_datatype, target_count,
                         target_rank, target_disp, origin_addr, result_addr);
}

inline Access fetch_and_op_access(ORIEL_FETCH_AND_OP_ARGS) {
  return {.kind = OperationKind::get_accumulate,
          .origin = {writable(origin_addr), 1, datatype},
          .result = {result_addr, 1, datatype},
          .target = {ORIEL_ELEMENT_NAMES, 1, datatype},
          .op = op,
          .predefined_only = true};
}

inline bool try_fetch_and_op(const WindowHandle& window, ORIEL_FETCH_AND_OP_ARGS) {
  return update_elements(window, OperationKind::get_accumulate, op, datatype, 1, target_rank,
                         target_disp, origin_addr, result_addr);
}

inline Access compare_and_swap_access(ORIEL_COMPARE_AND_SWAP_ARGS) {
  return {.kind = OperationKind::compare_and_swap,
          .origin = {writable(origin_addr), 1, datatype},
          .result = {result_addr, 1, datatype},
          .compare = compare_addr,
          .target = {ORIEL_ELEMENT_NAMES, 1, datatype},
          .predefined_only = true};
}

inline bool try_compare_and_swap(const WindowHandle& window, ORIEL_COMPARE_AND_SWAP_ARGS) {
  const OperationKind kind = OperationKind::compare_and_swap;
  ThreadLine* line;
  if (!valid_rank(window, target_rank) || any_null(origin_addr, result_addr) ||
      compare_addr == nullptr || !may_update(line) ||
      ((datatype != last_update.type || kind != last_update.kind) &&
       !resolve_update(kind, MPI_REPLACE, datatype))) {
    return false;
  }
  if (window.info.order.load()) order_before(kind);
  return window.core->try_compare_swap(line, target_rank, target_disp, last_update.reduction,
                                       origin_addr, compare_addr, result_addr);
}

/// Returns the window if its operations may run without the process lock. Returns null if the
/// window is not Oriel's or a sink has asked for all operations.
inline const WindowHandle* hot_window(MPI_Win handle) {
  return runtime.windows.find_if_open(handle_key(handle));
}

/// Reports to the sinks an operation that a hot path has carried out.
void report_carried_out(const WindowHandle& window, const Access& access, std::uint64_t begun);

/// Tries the hot path under the process lock and reports the operation to the sinks. Returns false
/// if the operation must take the general path.
template <typename HotPath>
bool carry_out_reported(const WindowHandle& window, const Access& access, HotPath&& hot_path) {
  const std::uint64_t begun = engine.clock.now();
  if (!hot_path(window)) return false;
  report_carried_out(window, access, begun);
  return true;
}

/// The general path of a call. In a hot lock_all epoch the first operation to a target acquires
/// its lock, which opens the hot path; the call then tries the hot path once more.
template <typename HotPath>
Failure issue_generally(WindowHandle& window, const Access& access, HotPath&& hot_path) {
  const bool over = window.core->events().all_operations()
                        ? carry_out_reported(window, access, hot_path)
                        : window.core->try_touch(access.target.rank) && hot_path(window);
  return over ? Failure() : issue(window, access);
}

/// Tries the hot paths. Returns false if the operation must take the general path.
bool try_hot_paths(const WindowHandle& window, const Access& access);

/// Reports on standard error, once for each process, that an operation with a request was called in
/// a fence or access epoch, if the rank is in one. MPI permits such operations in passive epochs
/// only; all hosts carry them out. With the process lock, which is released during the write.
void report_active_epoch(const char* call, const WindowHandle& window, int rank);

/// A request-based operation. The request is complete at once if the operation is.
template <typename Host>
int issue_with_request(const char* call, MPI_Win handle, const Access& access, MPI_Request* request,
                       Host&& host) {
  return with_request(
      call, handle, request,
      [&](WindowHandle& window, Completion& completion, bool& posted) {
        if (valid_rank(window, access.target.rank) &&
            window.core->epochs().passive(access.target.rank) && try_hot_paths(window, access)) {
          return Failure();
        }
        const Failure bad = issue(window, access, &completion, posted);
        if (!bad) report_active_epoch(call, window, access.target.rank);
        return bad;
      },
      host);
}

}  // namespace oriel::mpi
