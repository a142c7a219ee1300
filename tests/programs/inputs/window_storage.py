# SPDX-License-Identifier: BSD-3-Clause
"""deephyper's storage in a window: a dictionary on rank 0 that all ranks read and change under its
lock. The package's two modules are loaded alone: the package itself imports a framework for machine
learning."""

import importlib
import importlib.util
import sys
import types

for name in ("deephyper", "deephyper.evaluator", "deephyper.evaluator.storage"):
    package = types.ModuleType(name)
    found = importlib.util.find_spec("deephyper") if name == "deephyper" else None
    root = found.submodule_search_locations[0] if found else sys.modules["deephyper"].__path__[0]
    package.__path__ = ["/".join([root, *name.split(".")[1:]])]
    sys.modules[name] = package
MPI = importlib.import_module("deephyper.evaluator.mpi").MPI
mapping = importlib.import_module("deephyper.evaluator.storage._mpi_win_mutable_mapping")

ROUNDS = 200

MPI.Init_thread()  # which the package leaves to its user
comm = MPI.COMM_WORLD
shared = mapping.MPIWinMutableMapping({"count": 0, "jobs": {}}, comm=comm, size=1 << 18)
for number in range(ROUNDS):
    shared.incr("count")
    with shared():
        shared["jobs"][f"{comm.rank}.{number}"] = comm.rank
comm.Barrier()
jobs = shared["jobs"]
right = shared["count"] == ROUNDS * comm.size and len(jobs) == ROUNDS * comm.size
right = comm.allreduce(int(right), MPI.MIN)
if comm.rank == 0:
    print(f"storage: {shared['count']} increments, {len(jobs)} jobs", "right" if right else "wrong")
mapping.MPIWinMutableMapping.CACHE[shared._cache_id] = None
del jobs, shared  # frees the window
MPI.Finalize()
