/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file persistent_alltoallv_names.h
 * ORIEL_Alltoallv_init under the names of the paper "Analyzing Persistent Alltoallv RMA
 * Implementations for High-Performance MPI Communication", section 3 and its Algorithms 1 to 3.
 *
 * The paper names its calls and prints no prototypes. They are those of MPI Advance, the library
 * that its benchmarks (section 4) are written for: communicators, info objects and requests are
 * MPIX_Comm*, MPIX_Info* and MPIX_Request*, which these calls make and free.
 *
 * | name | Oriel's value of oriel_alltoallv | paper |
 * |---|---|---|
 * | alltoallv_rma_winfence_init | fence | Algorithm 1 |
 * | alltoallv_rma_winfence_init_han | fence_hierarchy | Algorithm 2 |
 * | alltoallv_rma_lock_init | lock | Algorithm 3 |
 * | alltoallv_rma_lock_init_han | lock_hierarchy | its benchmarks |
 * | MPIX_Alltoallv_init | auto | MPI Advance's general call |
 *
 *  - A request may be started as often as the program likes (MPIX_Start, MPIX_Wait), and several
 *    may exist for one MPIX_Comm. In the paper's library the window belongs to the MPIX_Comm; here
 *    it belongs to the request. MPIX_Comm_win_free therefore has nothing to free, and the requests
 *    of the MPIX_Comm stay usable. The structures have the members that a program may read, but not
 *    the internal ones of the paper's library (win, put_displs, ...).
 *  - The caller frees MPIX_Request by MPIX_Request_free(request), as in the paper's benchmarks;
 *    releases of MPI Advance that take its address differ.
 *  - Errors are those of ORIEL_Alltoallv_init, through the error handler of the communicator. After
 *    an error *request_ptr is unchanged.
 *  - update_locality, with which MPI Advance's benchmarks set the number of ranks per node, is not
 *    defined: Oriel knows which ranks share a node.
 *  - Open MPI 4.1 has MPIX_Alltoallv_init with MPI's own types (mpi-ext.h). A C file that includes
 *    both headers does not compile; in C++ each of the two is called with its own types. Any other
 *    name of this file that an mpi.h declares behaves alike.
 */
#ifndef ORIEL_PERSISTENT_ALLTOALLV_NAMES_H
#define ORIEL_PERSISTENT_ALLTOALLV_NAMES_H

#include <oriel/oriel.h>
#include <stdlib.h>

/** A communicator. */
typedef struct MPIX_Comm {
  MPI_Comm global_comm; /**< the argument of MPIX_Comm_init; the program still owns it */
} MPIX_Comm;

/** An info object. It holds nothing that these calls need. */
typedef struct MPIX_Info {
  int unused;
} MPIX_Info;

/** A persistent request. */
typedef struct MPIX_Request {
  MPI_Request request; /**< for MPI_Waitall and other calls of MPI on several requests */
} MPIX_Request;

/** Makes an MPIX_Comm of a communicator. Local. */
static inline int MPIX_Comm_init(MPIX_Comm** xcomm_ptr, MPI_Comm global_comm) {
  MPIX_Comm* const xcomm = (MPIX_Comm*)malloc(sizeof *xcomm);
  if (xcomm == NULL) return MPI_ERR_NO_MEM;
  xcomm->global_comm = global_comm;
  *xcomm_ptr = xcomm;
  return MPI_SUCCESS;
}

/** Frees an MPIX_Comm and sets it to NULL. Does not free the communicator or requests. Local. */
static inline int MPIX_Comm_free(MPIX_Comm** xcomm_ptr) {
  free(*xcomm_ptr);
  *xcomm_ptr = NULL;
  return MPI_SUCCESS;
}

/** Returns MPI_SUCCESS: windows belong to requests, and are freed with them. */
static inline int MPIX_Comm_win_free(MPIX_Comm* xcomm) {
  return xcomm != NULL ? MPI_SUCCESS : MPI_ERR_ARG;
}

/** Makes an MPIX_Info. Local. */
static inline int MPIX_Info_init(MPIX_Info** info_ptr) {
  MPIX_Info* const info = (MPIX_Info*)malloc(sizeof *info);
  if (info == NULL) return MPI_ERR_NO_MEM;
  info->unused = 0;
  *info_ptr = info;
  return MPI_SUCCESS;
}

/** Frees an MPIX_Info and sets it to NULL. Local. */
static inline int MPIX_Info_free(MPIX_Info** info_ptr) {
  free(*info_ptr);
  *info_ptr = NULL;
  return MPI_SUCCESS;
}

/** Starts a request: MPI_Start. */
static inline int MPIX_Start(MPIX_Request* request) {
  return MPI_Start(&request->request);
}

/** Waits for a started request: MPI_Wait. */
static inline int MPIX_Wait(MPIX_Request* request, MPI_Status* status) {
  return MPI_Wait(&request->request, status);
}

/** Frees a request that is not active, with its window: MPI_Request_free. */
static inline int MPIX_Request_free(MPIX_Request* request) {
  const int code = MPI_Request_free(&request->request);
  if (code == MPI_SUCCESS) free(request);
  return code;
}

/* Not for programs: ORIEL_Alltoallv_init with this value of the info key. */
static inline int oriel_alltoallv_by(const char* algorithm, const void* sendbuf,
                                     const int sendcounts[], const int sdispls[],
                                     MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                     const int rdispls[], MPI_Datatype recvtype, MPIX_Comm* xcomm,
                                     MPIX_Info* xinfo, MPIX_Request** request_ptr) {
  MPI_Info info = MPI_INFO_NULL;
  MPIX_Request* request;
  int code;
  (void)xinfo;
  request = (MPIX_Request*)malloc(sizeof *request);
  if (request == NULL) return MPI_ERR_NO_MEM;
  code = MPI_Info_create(&info);
  if (code == MPI_SUCCESS) {
    code = MPI_Info_set(info, ORIEL_ALLTOALLV, algorithm);
    if (code == MPI_SUCCESS) {
      code = ORIEL_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                  rdispls, recvtype, xcomm->global_comm, info, &request->request);
    }
    MPI_Info_free(&info);
  }
  if (code == MPI_SUCCESS) {
    *request_ptr = request;
  } else {
    free(request);
  }
  return code;
}

/** Creates a request that puts between two fences (Algorithm 1). */
static inline int alltoallv_rma_winfence_init(const void* sendbuf, const int sendcounts[],
                                              const int sdispls[], MPI_Datatype sendtype,
                                              void* recvbuf, const int recvcounts[],
                                              const int rdispls[], MPI_Datatype recvtype,
                                              MPIX_Comm* xcomm, MPIX_Info* xinfo,
                                              MPIX_Request** request_ptr) {
  return oriel_alltoallv_by("fence", sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                            rdispls, recvtype, xcomm, xinfo, request_ptr);
}

/** As alltoallv_rma_winfence_init, with the puts to other nodes first (Algorithm 2). */
static inline int alltoallv_rma_winfence_init_han(const void* sendbuf, const int sendcounts[],
                                                  const int sdispls[], MPI_Datatype sendtype,
                                                  void* recvbuf, const int recvcounts[],
                                                  const int rdispls[], MPI_Datatype recvtype,
                                                  MPIX_Comm* xcomm, MPIX_Info* xinfo,
                                                  MPIX_Request** request_ptr) {
  return oriel_alltoallv_by("fence_hierarchy", sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                            recvcounts, rdispls, recvtype, xcomm, xinfo, request_ptr);
}

/** Creates a request that puts in a lock_all epoch (Algorithm 3). */
static inline int alltoallv_rma_lock_init(const void* sendbuf, const int sendcounts[],
                                          const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                          const int recvcounts[], const int rdispls[],
                                          MPI_Datatype recvtype, MPIX_Comm* xcomm, MPIX_Info* xinfo,
                                          MPIX_Request** request_ptr) {
  return oriel_alltoallv_by("lock", sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                            rdispls, recvtype, xcomm, xinfo, request_ptr);
}

/** As alltoallv_rma_lock_init, with the puts to other nodes first. */
static inline int alltoallv_rma_lock_init_han(const void* sendbuf, const int sendcounts[],
                                              const int sdispls[], MPI_Datatype sendtype,
                                              void* recvbuf, const int recvcounts[],
                                              const int rdispls[], MPI_Datatype recvtype,
                                              MPIX_Comm* xcomm, MPIX_Info* xinfo,
                                              MPIX_Request** request_ptr) {
  return oriel_alltoallv_by("lock_hierarchy", sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                            recvcounts, rdispls, recvtype, xcomm, xinfo, request_ptr);
}

/** Creates a request with the algorithm that Oriel chooses. */
static inline int MPIX_Alltoallv_init(const void* sendbuf, const int sendcounts[],
                                      const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                      const int recvcounts[], const int rdispls[],
                                      MPI_Datatype recvtype, MPIX_Comm* xcomm, MPIX_Info* xinfo,
                                      MPIX_Request** request_ptr) {
  return oriel_alltoallv_by("auto", sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                            rdispls, recvtype, xcomm, xinfo, request_ptr);
}

#endif
