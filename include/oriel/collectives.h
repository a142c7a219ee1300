/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file collectives.h
 * Persistent collectives by one-sided communication: who sends how much where is settled once, by
 * the call that makes the request; a start then moves bytes and stores flags, and waits for nobody.
 *
 * Source: "Analyzing Persistent Alltoallv RMA Implementations for High-Performance MPI
 * Communication"; signatures as those of MPI-4.1 sections 6.13 and 8.8. How each collective moves
 * its bytes: docs/protocols.md.
 *
 * Rules common to all calls
 *  - Each is collective on `comm` and blocking: it returns when all ranks have made it. All ranks
 *    make the calls of one communicator in the same order, as for any collective.
 *  - The request is persistent and inactive. It works in MPI_Start and MPI_Startall, in the whole
 *    MPI_Wait and MPI_Test families, in MPI_Request_get_status and in MPI_Request_free, also in
 *    arrays mixed with requests of the MPI library. MPI_Start does not block, and neither does
 *    MPI_Request_free, which is local and, as for any collective, is for inactive requests.
 *  - Several requests of one communicator may be active at the same time; ranks may start them in
 *    different orders, which MPI does not ask of its own.
 *  - Between MPI_Start and the end of the wait the program neither writes the send buffer nor
 *    touches the receive buffer. A wait returns when what this rank expects has arrived and its own
 *    send buffer may be reused: others may not have come so far.
 *  - What is wrong with the arguments of any rank is an error of the call on every rank, through
 *    the error handler of `comm`, and no request is made: MPI_ERR_COUNT, MPI_ERR_TYPE,
 *    MPI_ERR_ARG, MPI_ERR_BUFFER (MPI_IN_PLACE where it is not allowed, receive buffers that
 *    overlap), MPI_ERR_TRUNCATE (more is sent than its receiver expects: the sentence names the two
 *    ranks and both numbers of bytes). Fewer bytes than the receiver expects, and none, are no
 *    error where a call does not say otherwise: the rest of its buffer is left alone. But a
 *    neighbour that something is expected from, and that has no edge for it, is: MPI_ERR_ARG.
 *  - Other errors of the call: MPI_ERR_COMM, an intercommunicator (use the MPI library's own call
 *    for it); MPI_ERR_INFO_VALUE, ranks make different collectives, or give the info key different
 *    values; MPI_ERR_NO_MEM, a rank has no memory left that others can map, or for what it keeps of
 *    the blocks; MPI_ERR_OTHER, a rank has ended. Types are compared as far as they can be seen:
 *    integers and floating point by every algorithm, complex, logical and pair types by those
 *    besides the notified ones.
 *  - Any thread may call, as the thread level of MPI allows; one request belongs to one thread at a
 *    time. Starting a request that may not be started again is MPI_ERR_REQUEST.
 *  - A process that ends is an error of the waits that need it, which names its rank. Such a
 *    request can only be freed.
 *  - A transfer that the operating system or the network refuses is an error of the waits of both
 *    its ranks (MPI_ERR_OTHER), each of which names the other one, and of those that were to be
 *    handed on what it brings: what the receive buffer holds then is undefined, and never taken for
 *    what was sent. With `notified` and `notified_hierarchy` such a request may be started again,
 *    by all ranks; otherwise it can only be freed.
 *  - The communicator and the datatypes may be freed before the request.
 *
 * Every ORIEL_ function has a PORIEL_ twin for tools, with the same meaning.
 */
#ifndef ORIEL_COLLECTIVES_H
#define ORIEL_COLLECTIVES_H

#include <mpi.h>

/**
 * Info key of the calls below: how the bytes move. The same value on all ranks.
 *
 *   auto             (default) `notified`, `notified_hierarchy` or `two_sided`, the same on all
 *                    ranks: whichever was fastest when `oriel bench alltoallv` was run on this
 *                    machine, for this MPI library, about as many ranks, one node or several, and
 *                    the length of the longest message. Only uses count, not the making of the
 *                    request: how often it will be started is not known. `notified` where nothing
 *                    was measured. `oriel info` tells what it is and why; with ORIEL_INFO=1 so does
 *                    rank 0, for each request
 *   notified         no synchronization of all ranks: each transfer tells its receiver, and a rank
 *                    is done when its own transfers are
 *   notified_hierarchy  the same, but short blocks between nodes (up to 1 KB) are gathered: what
 *                    one node sends another one is one message, which a rank of the one gathers and
 *                    a rank of the other shares out. So this rank may wait for others that have not
 *                    started. Long blocks go as in `notified`, and so do all on one node, or with
 *                    one rank on each. Making the request takes about three times as long
 *   fence            puts between two fences (the paper's Algorithm 1)
 *   fence_hierarchy  the same, puts to other nodes first (Algorithm 2)
 *   lock             puts in a lock_all epoch, behind an exclusive lock that each rank holds on
 *                    its own receive buffer while its request is not active (Algorithm 3)
 *   lock_hierarchy   the same, puts to other nodes first
 *   two_sided        the MPI library's own collective
 *
 * The other calls take auto and notified, which are one and the same there; what else there is, is
 * that of ORIEL_Alltoallv_init alone: MPI_ERR_INFO_VALUE elsewhere, and for any other value.
 *
 * MPI_Alltoallv_init itself takes the key as well (but not fence, lock and their hierarchies, which
 * is MPI_ERR_INFO_VALUE), and uses Oriel where it is given or where ORIEL_COLLECTIVES=1 is set in
 * the environment.
 */
#define ORIEL_ALLTOALLV "oriel_alltoallv"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a request for MPI_Alltoallv with these arguments, as MPI-4's MPI_Alltoallv_init does.
 * Counts are in elements of the datatypes, displacements in their extents. The arrays are read
 * before the call returns. MPI_IN_PLACE as `sendbuf`: sendcounts, sdispls and sendtype are ignored.
 * A rank may be sent less than it expects; the rest of its buffer is left alone.
 */
int ORIEL_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                         MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                         const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request);
/** The same with large counts and displacements. */
int ORIEL_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                           const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request);

/**
 * Makes a request for MPI_Alltoall: `sendcount` elements to each rank, and `recvcount` of
 * `recvtype` from each. As ORIEL_Alltoallv_init with the same counts for all ranks, one block
 * behind the other. MPI_IN_PLACE as `sendbuf`: sendcount and sendtype are ignored.
 */
int ORIEL_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request);
/** The same with large counts. */
int ORIEL_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request* request);

/**
 * Makes a request for MPI_Alltoallw: for each rank a datatype of its own. Displacements are in
 * bytes; counts are in elements. MPI_IN_PLACE as `sendbuf`: sendcounts, sdispls and sendtypes are
 * ignored. A datatype that goes with a count of 0 is not looked at.
 */
int ORIEL_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                         const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                         const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                         MPI_Info info, MPI_Request* request);
/** The same with large counts and displacements. */
int ORIEL_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                           const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                           const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                           MPI_Request* request);

/**
 * Makes a request for MPI_Allgatherv: our block to all, a block from each. Displacements are in
 * extents of `recvtype`. All ranks give the same number of bytes for the block of one rank, which
 * they all have to know: MPI_ERR_TRUNCATE if they do not, or if a rank's block has another length
 * than it expects from itself. MPI_IN_PLACE as `sendbuf`: our block is where we receive it, and
 * sendcount and sendtype are ignored.
 *
 * A block goes to each other node once, and to its ranks from one of them: so this rank may wait
 * for one that has not started its request yet although the rank that sends the block has.
 */
int ORIEL_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                          MPI_Comm comm, MPI_Info info, MPI_Request* request);
/** The same with large counts and displacements. */
int ORIEL_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                            MPI_Request* request);

/**
 * Makes a request for MPI_Neighbor_alltoallv on the virtual topology of `comm`: a block along each
 * edge that leaves this rank, one along each that leads here, in the order of
 * MPI_Dist_graph_neighbors, MPI_Graph_neighbors, or dimension by dimension, down before up. Counts
 * are in elements, displacements in extents. A neighbour may come several times, and be the rank
 * itself; on graphs the k-th block for a rank is the k-th that it expects from here, on grids what
 * goes down comes from above. MPI_PROC_NULL neighbours are skipped. MPI_ERR_TOPOLOGY: `comm` has
 * none. MPI_ERR_BUFFER: MPI_IN_PLACE, which MPI does not allow here.
 */
int ORIEL_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                  MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request);
/** The same with large counts and displacements. */
int ORIEL_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                    const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                    MPI_Request* request);

/**
 * Makes a request for MPI_Reduce: `count` elements of each rank, combined into the root's
 * `recvbuf`, which no other rank's call reads. MPI_IN_PLACE as the root's `sendbuf`: what it brings
 * is in recvbuf.
 *
 * The result has the same bits in every use, for every root and for every placement of the same
 * ranks on nodes: floating point is combined in an order that the ranks' numbers give alone.
 *
 * Ops of the program's own (MPI_Op_create) take every datatype whose data lie between an element's
 * start and its extent, which is less than 4 GB; any other is MPI_ERR_TYPE. Elements travel with
 * their gaps, so time and memory grow with the extent. They may be freed when the call has
 * returned; but a derived datatype has to stay as long as the request where the op's function looks
 * at its handle. The function may be called in any MPI call of any thread that makes one, with
 * Oriel's lock held: it may ask what a datatype is, makes no other call of MPI, and takes no lock
 * that another thread may hold while it calls MPI. So this rank may wait for one that computes.
 *
 * MPI_ERR_OP: the op is not defined for the datatype, a predefined one for a derived datatype, or
 * one that Oriel has not seen C's MPI_Op_create make (those of C++ bindings and of Fortran): use
 * the MPI library's own call for it. MPI_ERR_ARG: ranks differ in count, datatype or op, as far as
 * can be seen. MPI_ERR_ROOT: there is no such rank, or
 * ranks have named different ones.
 */
int ORIEL_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
/** The same with large counts. */
int ORIEL_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);

/**
 * Makes a request for MPI_Bcast: `count` elements from the root to all. Each rank may have a
 * datatype of its own for the same bytes; MPI_ERR_TRUNCATE if the numbers of bytes differ.
 * MPI_ERR_ROOT: there is no such rank, or ranks have named different ones.
 */
int ORIEL_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request* request);
/** The same with large counts. */
int ORIEL_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request);

/* The same under the names that tools call. */

int PORIEL_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                          MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                          const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                          MPI_Request* request);
int PORIEL_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                            const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                            const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                            MPI_Request* request);
int PORIEL_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request);
int PORIEL_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           MPI_Info info, MPI_Request* request);
int PORIEL_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                          const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                          MPI_Info info, MPI_Request* request);
int PORIEL_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                            const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                            const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                            const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                            MPI_Request* request);
int PORIEL_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                           MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PORIEL_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                             MPI_Request* request);
int PORIEL_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Info info, MPI_Request* request);
int PORIEL_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                     const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                     const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request);
int PORIEL_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PORIEL_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
int PORIEL_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request* request);
int PORIEL_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
