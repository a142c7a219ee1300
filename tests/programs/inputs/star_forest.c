// SPDX-License-Identifier: BSD-3-Clause
// PETSc's star forests over windows of the flavor that is named, with one of their synchronizations
// (-sf_window_sync): broadcasts to leaves all over the ranks, and sums at roots.
#include <petscsf.h>
#include <string.h>

enum { ROOTS = 2000, LEAVES = 3000, ROUNDS = 10 };

static PetscErrorCode move_data(PetscSF forest, const PetscSFNode* remote, PetscInt faults[2]) {
  PetscInt roots[ROOTS], leaves[LEAVES];
  PetscMPIInt rank;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (PetscInt round = 0; round < ROUNDS; ++round) {
    for (PetscInt i = 0; i < ROOTS; ++i) roots[i] = (rank + round) * ROOTS + i;
    for (PetscInt i = 0; i < LEAVES; ++i) leaves[i] = -1;
    PetscCall(PetscSFBcastBegin(forest, MPIU_INT, roots, leaves, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(forest, MPIU_INT, roots, leaves, MPI_REPLACE));
    for (PetscInt i = 0; i < LEAVES; ++i)
      faults[0] += leaves[i] != (remote[i].rank + round) * ROOTS + remote[i].index;
    // As many as leaves have this root, in all ranks.
    for (PetscInt i = 0; i < ROOTS; ++i) roots[i] = 0;
    for (PetscInt i = 0; i < LEAVES; ++i) leaves[i] = 1;
    PetscCall(PetscSFReduceBegin(forest, MPIU_INT, leaves, roots, MPI_SUM));
    PetscCall(PetscSFReduceEnd(forest, MPIU_INT, leaves, roots, MPI_SUM));
    const PetscInt* degrees;
    PetscCall(PetscSFComputeDegreeBegin(forest, &degrees));
    PetscCall(PetscSFComputeDegreeEnd(forest, &degrees));
    for (PetscInt i = 0; i < ROOTS; ++i) faults[1] += roots[i] != degrees[i];
  }
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscMPIInt rank, size;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscSF forest;
  PetscSFNode remote[LEAVES];
  for (PetscInt i = 0; i < LEAVES; ++i) {
    remote[i].rank = (rank + i) % size;
    remote[i].index = (i * 37 + rank * 11) % ROOTS;
  }
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &forest));
  PetscCall(PetscSFSetType(forest, PETSCSFWINDOW));
  PetscCall(PetscSFSetFromOptions(forest));
  PetscCall(
      PetscSFSetGraph(forest, ROOTS, LEAVES, NULL, PETSC_COPY_VALUES, remote, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(forest));
  PetscInt faults[2] = {0, 0};
  PetscCall(move_data(forest, remote, faults));
  PetscCall(PetscSFDestroy(&forest));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, faults, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "star forest: %d wrong leaves, %d wrong roots\n",
                        (int)faults[0], (int)faults[1]));
  PetscCall(PetscFinalize());
  return faults[0] + faults[1] != 0;
}
