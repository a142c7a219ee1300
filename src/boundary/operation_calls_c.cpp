// SPDX-License-Identifier: BSD-3-Clause
// The operations of MPI-4.1 section 12.3 with large counts (G3), where the host has them.
#include "boundary/operations.hpp"

#if ORIEL_HOST_LARGE_COUNTS

using namespace oriel::boundary;
using oriel::OperationKind;

ORIEL_EXPORT int MPI_Put_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                           int rank, MPI_Aint displacement, MPI_Count target_count,
                           MPI_Datatype target_type, MPI_Win win) {
  return carry(
      "MPI_Put_c", win,
      [&](BoundWindow& window) {
        return put(window, origin, origin_count, origin_type, rank, displacement, target_count,
                   target_type);
      },
      [&] {
        return PMPI_Put_c(origin, origin_count, origin_type, rank, displacement, target_count,
                          target_type, win);
      });
}

ORIEL_EXPORT int MPI_Get_c(void* result, MPI_Count result_count, MPI_Datatype result_type, int rank,
                           MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type,
                           MPI_Win win) {
  return carry(
      "MPI_Get_c", win,
      [&](BoundWindow& window) {
        return get(window, result, result_count, result_type, rank, displacement, target_count,
                   target_type);
      },
      [&] {
        return PMPI_Get_c(result, result_count, result_type, rank, displacement, target_count,
                          target_type, win);
      });
}

ORIEL_EXPORT int MPI_Accumulate_c(const void* origin, MPI_Count origin_count,
                                  MPI_Datatype origin_type, int rank, MPI_Aint displacement,
                                  MPI_Count target_count, MPI_Datatype target_type, MPI_Op op,
                                  MPI_Win win) {
  return carry(
      "MPI_Accumulate_c", win,
      [&](BoundWindow& window) {
        return accumulate(window, origin, origin_count, origin_type, rank, displacement,
                          target_count, target_type, op);
      },
      [&] {
        return PMPI_Accumulate_c(origin, origin_count, origin_type, rank, displacement,
                                 target_count, target_type, op, win);
      });
}

ORIEL_EXPORT int MPI_Get_accumulate_c(const void* origin, MPI_Count origin_count,
                                      MPI_Datatype origin_type, void* result,
                                      MPI_Count result_count, MPI_Datatype result_type, int rank,
                                      MPI_Aint displacement, MPI_Count target_count,
                                      MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  return carry(
      "MPI_Get_accumulate_c", win,
      [&](BoundWindow& window) {
        return get_accumulate(window, origin, origin_count, origin_type, result, result_count,
                              result_type, rank, displacement, target_count, target_type, op);
      },
      [&] {
        return PMPI_Get_accumulate_c(origin, origin_count, origin_type, result, result_count,
                                     result_type, rank, displacement, target_count, target_type, op,
                                     win);
      });
}

ORIEL_EXPORT int MPI_Rput_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                            int rank, MPI_Aint displacement, MPI_Count target_count,
                            MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  return with_request("MPI_Rput_c", win,
                      {.kind = OperationKind::put,
                       .origin = {writable(origin), origin_count, origin_type},
                       .rank = rank,
                       .displacement = displacement,
                       .target_count = target_count,
                       .target_type = target_type},
                      request, [&] {
                        return PMPI_Rput_c(origin, origin_count, origin_type, rank, displacement,
                                           target_count, target_type, win, request);
                      });
}

ORIEL_EXPORT int MPI_Rget_c(void* result, MPI_Count result_count, MPI_Datatype result_type,
                            int rank, MPI_Aint displacement, MPI_Count target_count,
                            MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  return with_request("MPI_Rget_c", win,
                      {.kind = OperationKind::get,
                       .result = {result, result_count, result_type},
                       .rank = rank,
                       .displacement = displacement,
                       .target_count = target_count,
                       .target_type = target_type},
                      request, [&] {
                        return PMPI_Rget_c(result, result_count, result_type, rank, displacement,
                                           target_count, target_type, win, request);
                      });
}

ORIEL_EXPORT int MPI_Raccumulate_c(const void* origin, MPI_Count origin_count,
                                   MPI_Datatype origin_type, int rank, MPI_Aint displacement,
                                   MPI_Count target_count, MPI_Datatype target_type, MPI_Op op,
                                   MPI_Win win, MPI_Request* request) {
  return with_request("MPI_Raccumulate_c", win,
                      accumulate_access(origin, origin_count, origin_type, rank, displacement,
                                        target_count, target_type, op),
                      request, [&] {
                        return PMPI_Raccumulate_c(origin, origin_count, origin_type, rank,
                                                  displacement, target_count, target_type, op, win,
                                                  request);
                      });
}

ORIEL_EXPORT int MPI_Rget_accumulate_c(const void* origin, MPI_Count origin_count,
                                       MPI_Datatype origin_type, void* result,
                                       MPI_Count result_count, MPI_Datatype result_type, int rank,
                                       MPI_Aint displacement, MPI_Count target_count,
                                       MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                       MPI_Request* request) {
  return with_request(
      "MPI_Rget_accumulate_c", win,
      get_accumulate_access(origin, origin_count, origin_type, result, result_count, result_type,
                            rank, displacement, target_count, target_type, op),
      request, [&] {
        return PMPI_Rget_accumulate_c(origin, origin_count, origin_type, result, result_count,
                                      result_type, rank, displacement, target_count, target_type,
                                      op, win, request);
      });
}

#endif
