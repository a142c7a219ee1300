// SPDX-License-Identifier: BSD-3-Clause
// The operations of MPI-4.1 section 12.3 (G3).
#include "boundary/operations.hpp"

using namespace oriel::boundary;
using oriel::OperationKind;

ORIEL_EXPORT int MPI_Put(const void* origin, int origin_count, MPI_Datatype origin_type, int rank,
                         MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                         MPI_Win win) {
  return carry(
      "MPI_Put", win,
      [&](BoundWindow& window) {
        return put(window, origin, origin_count, origin_type, rank, displacement, target_count,
                   target_type);
      },
      [&] {
        return PMPI_Put(origin, origin_count, origin_type, rank, displacement, target_count,
                        target_type, win);
      });
}

ORIEL_EXPORT int MPI_Get(void* result, int result_count, MPI_Datatype result_type, int rank,
                         MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                         MPI_Win win) {
  return carry(
      "MPI_Get", win,
      [&](BoundWindow& window) {
        return get(window, result, result_count, result_type, rank, displacement, target_count,
                   target_type);
      },
      [&] {
        return PMPI_Get(result, result_count, result_type, rank, displacement, target_count,
                        target_type, win);
      });
}

ORIEL_EXPORT int MPI_Accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                int rank, MPI_Aint displacement, int target_count,
                                MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  return carry(
      "MPI_Accumulate", win,
      [&](BoundWindow& window) {
        return accumulate(window, origin, origin_count, origin_type, rank, displacement,
                          target_count, target_type, op);
      },
      [&] {
        return PMPI_Accumulate(origin, origin_count, origin_type, rank, displacement, target_count,
                               target_type, op, win);
      });
}

ORIEL_EXPORT int MPI_Get_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                    void* result, int result_count, MPI_Datatype result_type,
                                    int rank, MPI_Aint displacement, int target_count,
                                    MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  return carry(
      "MPI_Get_accumulate", win,
      [&](BoundWindow& window) {
        return get_accumulate(window, origin, origin_count, origin_type, result, result_count,
                              result_type, rank, displacement, target_count, target_type, op);
      },
      [&] {
        return PMPI_Get_accumulate(origin, origin_count, origin_type, result, result_count,
                                   result_type, rank, displacement, target_count, target_type, op,
                                   win);
      });
}

ORIEL_EXPORT int MPI_Fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                                  MPI_Aint displacement, MPI_Op op, MPI_Win win) {
  return carry(
      "MPI_Fetch_and_op", win,
      [&](BoundWindow& window) {
        return fetch_and_op(window, origin, result, type, rank, displacement, op);
      },
      [&] { return PMPI_Fetch_and_op(origin, result, type, rank, displacement, op, win); });
}

ORIEL_EXPORT int MPI_Compare_and_swap(const void* origin, const void* compare, void* result,
                                      MPI_Datatype type, int rank, MPI_Aint displacement,
                                      MPI_Win win) {
  return carry(
      "MPI_Compare_and_swap", win,
      [&](BoundWindow& window) {
        return compare_and_swap(window, origin, compare, result, type, rank, displacement);
      },
      [&] {
        return PMPI_Compare_and_swap(origin, compare, result, type, rank, displacement, win);
      });
}

ORIEL_EXPORT int MPI_Rput(const void* origin, int origin_count, MPI_Datatype origin_type, int rank,
                          MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                          MPI_Win win, MPI_Request* request) {
  return with_request("MPI_Rput", win,
                      {.kind = OperationKind::put,
                       .origin = {writable(origin), origin_count, origin_type},
                       .rank = rank,
                       .displacement = displacement,
                       .target_count = target_count,
                       .target_type = target_type},
                      request, [&] {
                        return PMPI_Rput(origin, origin_count, origin_type, rank, displacement,
                                         target_count, target_type, win, request);
                      });
}

ORIEL_EXPORT int MPI_Rget(void* result, int result_count, MPI_Datatype result_type, int rank,
                          MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                          MPI_Win win, MPI_Request* request) {
  return with_request("MPI_Rget", win,
                      {.kind = OperationKind::get,
                       .result = {result, result_count, result_type},
                       .rank = rank,
                       .displacement = displacement,
                       .target_count = target_count,
                       .target_type = target_type},
                      request, [&] {
                        return PMPI_Rget(result, result_count, result_type, rank, displacement,
                                         target_count, target_type, win, request);
                      });
}

ORIEL_EXPORT int MPI_Raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                 int rank, MPI_Aint displacement, int target_count,
                                 MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                 MPI_Request* request) {
  return with_request("MPI_Raccumulate", win,
                      accumulate_access(origin, origin_count, origin_type, rank, displacement,
                                        target_count, target_type, op),
                      request, [&] {
                        return PMPI_Raccumulate(origin, origin_count, origin_type, rank,
                                                displacement, target_count, target_type, op, win,
                                                request);
                      });
}

ORIEL_EXPORT int MPI_Rget_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                     void* result, int result_count, MPI_Datatype result_type,
                                     int rank, MPI_Aint displacement, int target_count,
                                     MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                     MPI_Request* request) {
  return with_request(
      "MPI_Rget_accumulate", win,
      get_accumulate_access(origin, origin_count, origin_type, result, result_count, result_type,
                            rank, displacement, target_count, target_type, op),
      request, [&] {
        return PMPI_Rget_accumulate(origin, origin_count, origin_type, result, result_count,
                                    result_type, rank, displacement, target_count, target_type, op,
                                    win, request);
      });
}
