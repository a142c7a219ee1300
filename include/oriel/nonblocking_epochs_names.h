/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file nonblocking_epochs_names.h
 * The calls of oriel/oriel.h under the names of the paper "Nonblocking epochs in MPI one-sided
 * communication", section V.
 *
 * The paper gives the rule: MPI_WIN_IFUNC has the parameters of MPI_WIN_FUNC and then a request. In
 * C that is MPI_Win_ifunc. MPIX_Win_ifunc, the prefix of extensions, is defined as well. Arguments
 * and meaning are those of ORIEL_Win_ifunc. The paper's info keys need no header: Oriel understands
 * their names, but Open MPI takes only one of the four (oriel.h has the abbreviations).
 *
 * A header that defines a paper's names is called after the paper and ends in `_names.h`. It
 * declares each name as the paper has it, and then defines it as a macro for Oriel's call, which is
 * the one that works on Oriel's windows. If the mpi.h in use declares the name as well: with the
 * same arguments, the macro replaces it in files that include this header; with other arguments,
 * the file does not compile.
 */
#ifndef ORIEL_NONBLOCKING_EPOCHS_NAMES_H
#define ORIEL_NONBLOCKING_EPOCHS_NAMES_H

#include <oriel/oriel.h>

#ifdef __cplusplus
extern "C" {
#endif

int MPI_Win_ipost(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
int MPI_Win_istart(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
int MPI_Win_icomplete(MPI_Win win, MPI_Request* request);
int MPI_Win_iwait(MPI_Win win, MPI_Request* request);
int MPI_Win_ifence(int assert, MPI_Win win, MPI_Request* request);
int MPI_Win_ilock(int lock_type, int rank, int assert, MPI_Win win, MPI_Request* request);
int MPI_Win_ilock_all(int assert, MPI_Win win, MPI_Request* request);
int MPI_Win_iunlock(int rank, MPI_Win win, MPI_Request* request);
int MPI_Win_iunlock_all(MPI_Win win, MPI_Request* request);
int MPI_Win_iflush(int rank, MPI_Win win, MPI_Request* request);
int MPI_Win_iflush_local(int rank, MPI_Win win, MPI_Request* request);
int MPI_Win_iflush_all(MPI_Win win, MPI_Request* request);
int MPI_Win_iflush_local_all(MPI_Win win, MPI_Request* request);

int MPIX_Win_ipost(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
int MPIX_Win_istart(MPI_Group group, int assert, MPI_Win win, MPI_Request* request);
int MPIX_Win_icomplete(MPI_Win win, MPI_Request* request);
int MPIX_Win_iwait(MPI_Win win, MPI_Request* request);
int MPIX_Win_ifence(int assert, MPI_Win win, MPI_Request* request);
int MPIX_Win_ilock(int lock_type, int rank, int assert, MPI_Win win, MPI_Request* request);
int MPIX_Win_ilock_all(int assert, MPI_Win win, MPI_Request* request);
int MPIX_Win_iunlock(int rank, MPI_Win win, MPI_Request* request);
int MPIX_Win_iunlock_all(MPI_Win win, MPI_Request* request);
int MPIX_Win_iflush(int rank, MPI_Win win, MPI_Request* request);
int MPIX_Win_iflush_local(int rank, MPI_Win win, MPI_Request* request);
int MPIX_Win_iflush_all(MPI_Win win, MPI_Request* request);
int MPIX_Win_iflush_local_all(MPI_Win win, MPI_Request* request);

#ifdef __cplusplus
}
#endif

#define MPI_Win_ipost ORIEL_Win_ipost
#define MPI_Win_istart ORIEL_Win_istart
#define MPI_Win_icomplete ORIEL_Win_icomplete
#define MPI_Win_iwait ORIEL_Win_iwait
#define MPI_Win_ifence ORIEL_Win_ifence
#define MPI_Win_ilock ORIEL_Win_ilock
#define MPI_Win_ilock_all ORIEL_Win_ilock_all
#define MPI_Win_iunlock ORIEL_Win_iunlock
#define MPI_Win_iunlock_all ORIEL_Win_iunlock_all
#define MPI_Win_iflush ORIEL_Win_iflush
#define MPI_Win_iflush_local ORIEL_Win_iflush_local
#define MPI_Win_iflush_all ORIEL_Win_iflush_all
#define MPI_Win_iflush_local_all ORIEL_Win_iflush_local_all

#define MPIX_Win_ipost ORIEL_Win_ipost
#define MPIX_Win_istart ORIEL_Win_istart
#define MPIX_Win_icomplete ORIEL_Win_icomplete
#define MPIX_Win_iwait ORIEL_Win_iwait
#define MPIX_Win_ifence ORIEL_Win_ifence
#define MPIX_Win_ilock ORIEL_Win_ilock
#define MPIX_Win_ilock_all ORIEL_Win_ilock_all
#define MPIX_Win_iunlock ORIEL_Win_iunlock
#define MPIX_Win_iunlock_all ORIEL_Win_iunlock_all
#define MPIX_Win_iflush ORIEL_Win_iflush
#define MPIX_Win_iflush_local ORIEL_Win_iflush_local
#define MPIX_Win_iflush_all ORIEL_Win_iflush_all
#define MPIX_Win_iflush_local_all ORIEL_Win_iflush_local_all

#endif
