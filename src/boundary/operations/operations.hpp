// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "boundary/host/errors.hpp"
#include "boundary/requests/posting.hpp"
#include "boundary/runtime/bound_window.hpp"
#include "boundary/runtime/runtime.hpp"
#include "core/operation/operation.hpp"
#include "core/operation/order.hpp"

namespace oriel::boundary {

/// `count` elements of `type` at `address`, as the program gave them.
struct UserBuffer {
  void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// The arguments of any operation.
struct Access {
  OperationKind kind = OperationKind::put;
  UserBuffer origin{};
  UserBuffer result{};
  const void* compare = nullptr;
  int rank = 0;
  MPI_Aint displacement = 0;
  MPI_Count target_count = 0;
  MPI_Datatype target_type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_REPLACE;
  bool predefined_only = false;  // the call takes no derived datatype
  bool completes_there = false;  // its request waits for the target as well
  Notice notice{};               // its bytes are left to issue()
};

/// MPI_ERR_RMA_NOTIFICATION of a counter that the rank does not have.
Failure check_counter(const BoundWindow& window, int rank, int index);

/// Any operation, by the general path: arguments checked in MPI's order (count, type, rank,
/// displacement, op), then issued. `posted` tells whether the completion is going to be told.
Failure issue(BoundWindow& window, const Access& access, Completion* completion, bool& posted);
inline Failure issue(BoundWindow& window, const Access& access) {
  bool posted = false;
  return issue(window, access, nullptr, posted);
}

/// Whether a put or get is of one contiguous type, in one run on both sides: its bytes.
inline bool one_run(MPI_Count count, MPI_Datatype type, MPI_Count target_count,
                    MPI_Datatype target_type, std::size_t& bytes) {
  // One type and count on both sides. The bounds keep the product below from overflowing.
  if (type != target_type || count != target_count) return false;
  if (static_cast<std::uint64_t>(count) >> 32 != 0) return false;
  const Datatypes::Known* known = runtime.datatypes.find(type);
  if (known == nullptr || !known->layout->short_contiguous()) return false;
  bytes = static_cast<std::size_t>(count) * known->layout->size();
  return true;
}

/// Where such a one goes straight to memory: its address there and its bytes, or null. The
/// predicate of the fast path; whatever it declines takes the general one.
inline std::byte* straight(const BoundWindow& window, MPI_Count count, MPI_Datatype type, int rank,
                           MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type,
                           std::size_t& bytes) {
  if (!one_run(count, type, target_count, target_type, bytes)) return nullptr;
  if (valid_rank(window, rank)) [[likely]]
    return window.core->direct(rank, displacement, bytes);
  if (!window.view.has_value() || rank != window.view->target) return nullptr;
  return window.core->direct(*window.view, displacement, bytes);
}

inline void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 8) {  // the usual one: without a call
    std::memcpy(to, from, 8);
  } else if (bytes != 0) {          // else the program's address may be null
    std::memmove(to, from, bytes);  // a rank may put its window into itself
  }
}

/// MPI's calls take sources as const; a Buffer serves both directions.
inline void* writable(const void* address) {
  return const_cast<void*>(address);
}

// Of each kind of operation that takes counts: its Access, and the call, which tries the fast path
// first.

inline Access put_access(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                         int rank, MPI_Aint displacement, MPI_Count target_count,
                         MPI_Datatype target_type) {
  return {.kind = OperationKind::put,
          .origin = {writable(origin), origin_count, origin_type},
          .rank = rank,
          .displacement = displacement,
          .target_count = target_count,
          .target_type = target_type};
}

inline Failure put(BoundWindow& window, const void* origin, MPI_Count origin_count,
                   MPI_Datatype origin_type, int rank, MPI_Aint displacement,
                   MPI_Count target_count, MPI_Datatype target_type) {
  std::size_t bytes;
  if (std::byte* target = straight(window, origin_count, origin_type, rank, displacement,
                                   target_count, target_type, bytes)) [[likely]] {
    if (window.info.order) order_before(OperationKind::put);
    copy(target, origin, bytes);
    return {};
  }
  return issue(window, put_access(origin, origin_count, origin_type, rank, displacement,
                                  target_count, target_type));
}

inline Access get_access(void* result, MPI_Count result_count, MPI_Datatype result_type, int rank,
                         MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type) {
  return {.kind = OperationKind::get,
          .result = {result, result_count, result_type},
          .rank = rank,
          .displacement = displacement,
          .target_count = target_count,
          .target_type = target_type};
}

inline Failure get(BoundWindow& window, void* result, MPI_Count result_count,
                   MPI_Datatype result_type, int rank, MPI_Aint displacement,
                   MPI_Count target_count, MPI_Datatype target_type) {
  std::size_t bytes;
  if (const std::byte* target = straight(window, result_count, result_type, rank, displacement,
                                         target_count, target_type, bytes)) [[likely]] {
    if (window.info.order) order_before(OperationKind::get);
    copy(result, target, bytes);
    return {};
  }
  return issue(window, get_access(result, result_count, result_type, rank, displacement,
                                  target_count, target_type));
}

/// What the last update did to which type, resolved: programs repeat themselves.
struct LastUpdate {
  OperationKind kind = OperationKind::put;
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Reduction reduction;
};
extern LastUpdate last_update;  // under the process lock
bool resolve_update(OperationKind kind, MPI_Op op, MPI_Datatype type);

/// The fast path of accumulates: `count` elements of one predefined type. False: the general path
/// is to be taken.
inline bool update_elements(const BoundWindow& window, OperationKind kind, MPI_Op op,
                            MPI_Datatype type, MPI_Count count, int rank, MPI_Aint displacement,
                            const void* origin, void* result) {
  if (!valid_rank(window, rank)) return false;
  if ((op != last_update.op || type != last_update.type || kind != last_update.kind) &&
      !resolve_update(kind, op, type)) {
    return false;
  }
  // The bound keeps the product with the element's size from overflowing.
  if (static_cast<std::uint64_t>(count) >> 32 != 0) return false;
  if (window.info.order) order_before(kind);
  return window.core->reduce_directly(rank, displacement, last_update.reduction, origin, result,
                                      static_cast<std::uint64_t>(count));
}

inline Access accumulate_access(const void* origin, MPI_Count origin_count,
                                MPI_Datatype origin_type, int rank, MPI_Aint displacement,
                                MPI_Count target_count, MPI_Datatype target_type, MPI_Op op) {
  return {.kind = OperationKind::accumulate,
          .origin = {writable(origin), origin_count, origin_type},
          .rank = rank,
          .displacement = displacement,
          .target_count = target_count,
          .target_type = target_type,
          .op = op};
}

inline Failure accumulate(BoundWindow& window, const void* origin, MPI_Count origin_count,
                          MPI_Datatype origin_type, int rank, MPI_Aint displacement,
                          MPI_Count target_count, MPI_Datatype target_type, MPI_Op op) {
  if (origin_count == target_count && origin_type == target_type &&
      update_elements(window, OperationKind::accumulate, op, target_type, target_count, rank,
                      displacement, origin, nullptr)) [[likely]] {
    return {};
  }
  return issue(window, accumulate_access(origin, origin_count, origin_type, rank, displacement,
                                         target_count, target_type, op));
}

inline Access get_accumulate_access(const void* origin, MPI_Count origin_count,
                                    MPI_Datatype origin_type, void* result, MPI_Count result_count,
                                    MPI_Datatype result_type, int rank, MPI_Aint displacement,
                                    MPI_Count target_count, MPI_Datatype target_type, MPI_Op op) {
  return {.kind = OperationKind::get_accumulate,
          .origin = {writable(origin), origin_count, origin_type},
          .result = {result, result_count, result_type},
          .rank = rank,
          .displacement = displacement,
          .target_count = target_count,
          .target_type = target_type,
          .op = op};
}

inline Failure get_accumulate(BoundWindow& window, const void* origin, MPI_Count origin_count,
                              MPI_Datatype origin_type, void* result, MPI_Count result_count,
                              MPI_Datatype result_type, int rank, MPI_Aint displacement,
                              MPI_Count target_count, MPI_Datatype target_type, MPI_Op op) {
  if (result_count == target_count && result_type == target_type &&
      (op == MPI_NO_OP || (origin_count == target_count && origin_type == target_type)) &&
      update_elements(window, OperationKind::get_accumulate, op, target_type, target_count, rank,
                      displacement, origin, result)) [[likely]] {
    return {};
  }
  return issue(window, get_accumulate_access(origin, origin_count, origin_type, result,
                                             result_count, result_type, rank, displacement,
                                             target_count, target_type, op));
}

inline Access fetch_and_op_access(const void* origin, void* result, MPI_Datatype type, int rank,
                                  MPI_Aint displacement, MPI_Op op) {
  Access access =
      get_accumulate_access(origin, 1, type, result, 1, type, rank, displacement, 1, type, op);
  access.predefined_only = true;
  return access;
}

inline Failure fetch_and_op(BoundWindow& window, const void* origin, void* result,
                            MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Op op) {
  if (update_elements(window, OperationKind::get_accumulate, op, type, 1, rank, displacement,
                      origin, result)) [[likely]] {
    return {};
  }
  return issue(window, fetch_and_op_access(origin, result, type, rank, displacement, op));
}

inline Access compare_and_swap_access(const void* origin, const void* compare, void* result,
                                      MPI_Datatype type, int rank, MPI_Aint displacement) {
  return {.kind = OperationKind::compare_and_swap,
          .origin = {writable(origin), 1, type},
          .result = {result, 1, type},
          .compare = compare,
          .rank = rank,
          .displacement = displacement,
          .target_count = 1,
          .target_type = type,
          .predefined_only = true};
}

inline Failure compare_and_swap(BoundWindow& window, const void* origin, const void* compare,
                                void* result, MPI_Datatype type, int rank, MPI_Aint displacement) {
  const OperationKind kind = OperationKind::compare_and_swap;
  if (valid_rank(window, rank) && ((type == last_update.type && kind == last_update.kind) ||
                                   resolve_update(kind, MPI_REPLACE, type))) {
    if (window.info.order) order_before(kind);
    if (window.core->compare_swap_directly(rank, displacement, last_update.reduction, origin,
                                           compare, result)) [[likely]] {
      return {};
    }
  }
  return issue(window, compare_and_swap_access(origin, compare, result, type, rank, displacement));
}

/// The operation by one of the fast paths. False: the general path is to be taken.
bool carry_out_at_once(const BoundWindow& window, const Access& access);

/// A request-based operation: a request that is complete if the operation is.
template <typename Host>
int issue_with_request(const char* call, MPI_Win handle, const Access& access, MPI_Request* request,
                       Host&& host) {
  return with_request(
      call, handle, request,
      [&](BoundWindow& window, Completion& completion, bool& posted) {
        if (valid_rank(window, access.rank) && window.core->passive(access.rank) &&
            carry_out_at_once(window, access)) {
          return Failure();
        }
        return issue(window, access, &completion, posted);
      },
      host);
}

}  // namespace oriel::boundary
