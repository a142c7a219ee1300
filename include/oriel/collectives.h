/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file collectives.h
 * Persistent collectives by one-sided communication. The call that creates the request determines
 * once which rank sends how much to which. A start then moves bytes and stores flags, and waits for
 * no other rank. Included by oriel.h.
 *
 * Source: "Analyzing Persistent Alltoallv RMA Implementations for High-Performance MPI
 * Communication"; signatures as those of MPI-4.1 sections 6.13 and 8.8. docs/protocols.md describes
 * how each collective moves its bytes.
 *
 * Rules common to all calls
 *  - Each call is collective on `comm` and blocking: it returns when all ranks have made it. All
 *    ranks make the calls on one communicator in the same order, as for any collective.
 *  - The request is persistent and inactive. It may be passed to MPI_Start and MPI_Startall, to all
 *    MPI_Wait and MPI_Test calls, to MPI_Request_get_status and to MPI_Request_free, also in arrays
 *    together with requests of the MPI library. MPI_Start does not block. Neither does
 *    MPI_Request_free, which is local and, as for any collective, permitted on inactive requests
 *    only: MPI_ERR_REQUEST if it is active.
 *  - Several requests of one communicator may be active at the same time. Ranks may start them in
 *    different orders, which MPI does not permit for its own persistent collectives.
 *  - Between MPI_Start and the end of the wait the program must neither write the send buffer nor
 *    access the receive buffer. A wait returns when all data for this rank has arrived and its own
 *    send buffer may be reused. Other ranks may still be waiting.
 *  - An error in the arguments of any rank is an error of the call on every rank, through the error
 *    handler of `comm`, and no request is created: MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_ARG,
 *    MPI_ERR_BUFFER (MPI_IN_PLACE where it is not allowed, receive buffers that overlap),
 *    MPI_ERR_TRUNCATE (a rank sends more than its receiver expects; the message names both ranks
 *    and both numbers of bytes). It is not an error to send fewer bytes than the receiver expects,
 *    or none, unless a call says otherwise: the rest of the buffer is unchanged. It is an error
 *    (MPI_ERR_ARG) to expect data from a neighbour that has no edge to this rank.
 *  - Other errors of the call: MPI_ERR_COMM: `comm` is an intercommunicator (use the MPI library's
 *    own call). MPI_ERR_INFO_VALUE: ranks create different collectives, or give the info key
 *    different values. MPI_ERR_NO_MEM: a rank has no memory left that others can map, or no memory
 *    for its data about the blocks. MPI_ERR_OTHER: a rank has ended. The types of sender and
 *    receiver are compared as far as they are known: every algorithm compares integers and floating
 *    point; all but the notified ones also compare complex, logical and pair types.
 *  - Any thread may make the calls, as the thread level of MPI permits. One request must be used by
 *    one thread at a time. Starting a request that may not be started again is MPI_ERR_REQUEST.
 *  - If a process ends, the waits that need it fail with an error that names its rank. Such a
 *    request can only be freed.
 *  - If the operating system or the network refuses a transfer, the waits of both its ranks fail
 *    (MPI_ERR_OTHER), each with an error that names the other rank. The waits of ranks to which the
 *    data would have been forwarded fail as well. The content of the receive buffer is then
 *    undefined. With `notified` and `notified_hierarchy` all ranks may start such a request again;
 *    otherwise it can only be freed.
 *  - The communicator and the datatypes may be freed before the request.
 *
 * Every ORIEL_ function also exists as PORIEL_, for tools, with the same meaning; oriel/profiling.h
 * declares these names.
 */
#ifndef ORIEL_COLLECTIVES_H
#define ORIEL_COLLECTIVES_H

#include <mpi.h>

/**
 * Info key of the calls below: the algorithm. It must have the same value on all ranks.
 *
 *   auto             (default) the algorithm that is expected to cost least, equal on all ranks.
 *                    If `oriel bench alltoallv` was run on this machine, for this MPI library, a
 *                    similar number of ranks and one node or several, its times for the
 *                    length nearest to that of the longest message determine the choice among
 *                    `notified`, `notified_hierarchy`, `two_sided`, `fence` and `lock`. Otherwise
 *                    the first 43 starts of the request (58 where blocks can be gathered) measure
 *                    `notified`, `two_sided` and, in the second case, `notified_hierarchy`. The
 *                    next two use `notified` while the ranks add up their times, and all later
 *                    ones the fastest. Creating such a request creates one of each. Later requests
 *                    of about the same length whose rank 0 is the same process use the result. A
 *                    request that will not be started often enough is `notified` from
 *                    the beginning (see ORIEL_ALLTOALLV_STARTS). `oriel info` prints what was
 *                    measured and the choices; with ORIEL_INFO=1 rank 0 prints the choice and its
 *                    reason for each request
 *   notified         no synchronization of all ranks: each transfer notifies its receiver, and a
 *                    rank is done when its own transfers are
 *   notified_hierarchy  as `notified`, but short blocks between nodes (up to 1 KB) are gathered: a
 *                    rank of the sending node gathers them to one message, and a rank of the
 *                    receiving node distributes them. A rank may thus wait for others that have not
 *                    started. Long blocks, blocks on one node, and blocks between nodes of one rank
 *                    each are sent as in `notified`. Creating the request takes about three times
 *                    as long
 *   fence            puts between two fences (the paper's Algorithm 1)
 *   fence_hierarchy  as `fence`, with the puts to other nodes first (Algorithm 2)
 *   lock             puts in a lock_all epoch. Each rank holds an exclusive lock on its own receive
 *                    buffer while its request is not active (Algorithm 3)
 *   lock_hierarchy   as `lock`, with the puts to other nodes first
 *   two_sided        the MPI library's own collective
 *
 * ORIEL_Alltoallv_init takes all of these values. The other calls take auto and notified, which
 * mean the same there. Any other value is MPI_ERR_INFO_VALUE.
 *
 * MPI_Alltoallv_init itself takes the key with the same values. It uses Oriel if the key is given,
 * or if ORIEL_COLLECTIVES=1 is set in the environment.
 */
#define ORIEL_ALLTOALLV "oriel_alltoallv"

/**
 * Info key of ORIEL_Alltoallv_init for `auto`: the number of times that the program will start the
 * request, a whole number from 1 on. The value of rank 0 is used. `auto` then chooses the algorithm
 * with the least total time of creating the request and all its starts. It measures nothing if
 * measuring does not pay for so few starts (fewer than 86, or 116 where blocks can be gathered).
 * Without the key Oriel assumes that the request will be started often, until a request of the
 * communicator has been freed before its measurement was over. Any other value is
 * MPI_ERR_INFO_VALUE.
 */
#define ORIEL_ALLTOALLV_STARTS "oriel_alltoallv_starts"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a request for MPI_Alltoallv with these arguments, as MPI-4's MPI_Alltoallv_init does.
 * Counts are in elements of the datatypes, displacements in their extents. The arrays are read
 * before the call returns. With MPI_IN_PLACE as `sendbuf`, sendcounts, sdispls and sendtype are
 * ignored. A rank may receive less than it expects; the rest of its buffer is unchanged.
 */
int ORIEL_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                         MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                         const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request);
/** ORIEL_Alltoallv_init with large counts and displacements. */
int ORIEL_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                           const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request);

/**
 * Creates a request for MPI_Alltoall: `sendcount` elements to each rank, and `recvcount` of
 * `recvtype` from each. It is like ORIEL_Alltoallv_init with the same count for all ranks and
 * adjacent blocks. With MPI_IN_PLACE as `sendbuf`, sendcount and sendtype are ignored.
 */
int ORIEL_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request);
/** ORIEL_Alltoall_init with large counts. */
int ORIEL_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request* request);

/**
 * Creates a request for MPI_Alltoallw, with a datatype for each rank. Displacements are in bytes,
 * counts in elements. With MPI_IN_PLACE as `sendbuf`, sendcounts, sdispls and sendtypes are
 * ignored. A datatype with a count of 0 is ignored.
 */
int ORIEL_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                         const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                         const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                         MPI_Info info, MPI_Request* request);
/** ORIEL_Alltoallw_init with large counts and displacements. */
int ORIEL_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                           const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                           const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                           MPI_Request* request);

/**
 * Creates a request for MPI_Allgatherv: a block from each rank to all ranks. Displacements are in
 * extents of `recvtype`. All ranks must give the same number of bytes for the block of one rank,
 * and a rank's block must have the length that it expects from itself; otherwise MPI_ERR_TRUNCATE.
 * With MPI_IN_PLACE as `sendbuf`, the rank's block is where it receives it, and sendcount and
 * sendtype are ignored.
 *
 * A block goes to each other node once; one rank of that node forwards it to the others. A rank may
 * thus wait for a rank that has not started its request, although the sender of the block has.
 */
int ORIEL_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                          MPI_Comm comm, MPI_Info info, MPI_Request* request);
/** ORIEL_Allgatherv_init with large counts and displacements. */
int ORIEL_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                            MPI_Request* request);

/**
 * Creates a request for MPI_Neighbor_alltoallv on the virtual topology of `comm`: a block along
 * each outgoing edge and a block along each incoming edge of the calling rank. The order is that of
 * MPI_Dist_graph_neighbors or MPI_Graph_neighbors; on grids it is by dimension, down before up.
 * Counts are in elements, displacements in extents. A neighbour may occur several times, and may be
 * the rank itself. On graphs the k-th block for a rank is the k-th that it expects from the sender;
 * on grids a block sent down is received from above. MPI_PROC_NULL neighbours are skipped.
 * MPI_ERR_TOPOLOGY: `comm` has no topology. MPI_ERR_BUFFER: MPI_IN_PLACE, which MPI does not allow
 * here.
 */
int ORIEL_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                  MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request);
/** ORIEL_Neighbor_alltoallv_init with large counts and displacements. */
int ORIEL_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                    const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                    MPI_Request* request);

/**
 * Creates a request for MPI_Reduce: `count` elements of each rank, combined into the root's
 * `recvbuf`. Other ranks' `recvbuf` is ignored. With MPI_IN_PLACE as the root's `sendbuf`, its
 * contribution is in recvbuf.
 *
 * The result has the same bits in every use, for every root and for every placement of the same
 * ranks on nodes: floating point is combined in an order that depends on rank numbers only.
 *
 * Ops of the program (MPI_Op_create):
 *  - They take every datatype whose data are between an element's start and its extent, and whose
 *    extent is less than 4 GB; any other is MPI_ERR_TYPE. Elements are sent with their gaps, so
 *    time and memory grow with the extent.
 *  - The op may be freed when the call has returned. If its function uses the handle of a derived
 *    datatype, that datatype must exist as long as the request.
 *  - The function may be called in any MPI call of any thread, with Oriel's lock held. It may query
 *    the datatype. It must make no other MPI call, and take no lock that another thread may hold
 *    while that thread calls MPI.
 *  - Oriel calls the function only within MPI calls of the program, never on the progress agent. A
 *    rank may therefore have to wait for another rank that computes outside MPI.
 *
 * MPI_ERR_OP: the op is not defined for the datatype; it is a predefined op and the datatype a
 * derived one; or Oriel has not seen C's MPI_Op_create create it (ops of C++ bindings and of
 * Fortran: use the MPI library's own call). MPI_ERR_ARG: ranks differ in count, datatype or op, as
 * far as is known. MPI_ERR_ROOT: there is no such rank, or ranks name different ones.
 */
int ORIEL_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
/** ORIEL_Reduce_init with large counts. */
int ORIEL_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);

/**
 * Creates a request for MPI_Bcast: `count` elements from the root to all. Ranks may use different
 * datatypes for the same number of bytes; MPI_ERR_TRUNCATE if the numbers of bytes differ.
 * MPI_ERR_ROOT: there is no such rank, or ranks name different ones.
 */
int ORIEL_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request);
/** ORIEL_Bcast_init with large counts. */
int ORIEL_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
