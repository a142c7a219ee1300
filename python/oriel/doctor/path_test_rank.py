# SPDX-License-Identifier: BSD-3-Clause
"""What each rank of path_test.py runs, with Oriel preloaded: it puts a number into the window of
the next rank and gets it back, on an allocated and on a created window, and prints as JSON which
path each window took. It calls MPI by ctypes, so that it runs on every MPI that is found, built
with Oriel or not. Arguments: the file of the MPI library, and `mpich` or `openmpi` for its ABI."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
import threading

_NUMBER = 0x0123456789ABCDEF
_BYTES = 8
_THREAD_LEVELS = ("single", "funneled", "serialized", "multiple")
# Handles of the two ABIs: numbers of mpi.h, and addresses of variables.
_MPICH = {"MPI_COMM_WORLD": 0x44000000, "MPI_BYTE": 0x4C00010D, "MPI_INFO_NULL": 0x1C000000}
_OPENMPI = {
    "MPI_COMM_WORLD": "ompi_mpi_comm_world",
    "MPI_BYTE": "ompi_mpi_byte",
    "MPI_INFO_NULL": "ompi_mpi_info_null",
}
_MOST_OF_A_VALUE = 1024
_NETWORK = "oriel: network: "


class Mpi:
    """The calls of the process: Oriel's where it is preloaded, else the MPI library's."""

    def __init__(self, library: str, abi: str) -> None:
        host = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
        self._calls = ctypes.CDLL(None)
        self.handle = ctypes.c_void_p if abi == "openmpi" else ctypes.c_int
        named = _OPENMPI if abi == "openmpi" else _MPICH
        self.handles = {
            name: self.handle(
                value
                if isinstance(value, int)
                else ctypes.addressof(ctypes.c_char.in_dll(host, value))
            )
            for name, value in named.items()
        }

    def call(self, name: str, *arguments) -> None:
        code = getattr(self._calls, name)(*arguments)
        if code != 0:
            raise SystemExit(f"oriel: path test: {name} returned the error {code}")

    def number(self, name: str) -> int:
        """What MPI_Comm_rank and MPI_Comm_size return."""
        value = ctypes.c_int()
        self.call(name, self.handles["MPI_COMM_WORLD"], ctypes.byref(value))
        return value.value


def _address(value: int):
    return ctypes.c_ssize_t(value)  # MPI_Aint


def _make_window(mpi: Mpi, kind: str):
    """(window, its memory)."""
    win = mpi.handle()
    world, info = mpi.handles["MPI_COMM_WORLD"], mpi.handles["MPI_INFO_NULL"]
    if kind == "allocated":
        base = ctypes.c_void_p()
        last = (ctypes.byref(base), ctypes.byref(win))
        mpi.call("MPI_Win_allocate", _address(_BYTES), 1, info, world, *last)
        return win, ctypes.c_uint64.from_address(base.value)
    memory = ctypes.c_uint64()
    last = (info, world, ctypes.byref(win))
    mpi.call("MPI_Win_create", ctypes.byref(memory), _address(_BYTES), 1, *last)
    return win, memory


def _path_of(mpi: Mpi, win) -> str:
    """Empty without Oriel."""
    info, value, found = (
        mpi.handle(),
        ctypes.create_string_buffer(_MOST_OF_A_VALUE + 1),
        ctypes.c_int(),
    )
    mpi.call("MPI_Win_get_info", win, ctypes.byref(info))
    mpi.call("MPI_Info_get", info, b"oriel_paths", _MOST_OF_A_VALUE, value, ctypes.byref(found))
    mpi.call("MPI_Info_free", ctypes.byref(info))
    return value.value.decode() if found.value else ""


def _transfer(mpi: Mpi, kind: str, rank: int, ranks: int) -> dict:
    win, memory = _make_window(mpi, kind)
    byte, right, left = mpi.handles["MPI_BYTE"], (rank + 1) % ranks, (rank - 1) % ranks
    sent, back = ctypes.c_uint64(_NUMBER + rank), ctypes.c_uint64()
    memory.value = 0
    mpi.call("MPI_Win_fence", 0, win)
    for name, buffer in (("MPI_Put", sent), ("MPI_Get", back)):
        target = (right, _address(0), _BYTES, byte)
        mpi.call(name, ctypes.byref(buffer), _BYTES, byte, *target, win)
        mpi.call("MPI_Win_fence", 0, win)
    result = {
        "path": _path_of(mpi, win),
        "arrived": memory.value == _NUMBER + left and back.value == sent.value,
    }
    mpi.call("MPI_Win_free", ctypes.byref(win))
    return result


def _describe_network(mpi: Mpi) -> str:
    """The line about the network that ORIEL_INFO adds to a new window, from standard error."""
    os.environ["ORIEL_INFO"] = "1"
    kept = os.dup(2)
    # No temporary file: every file system may be read-only.
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    lines: list[str] = []
    with open(reading, errors="replace") as pipe:
        reader = threading.Thread(target=lambda: lines.extend(pipe), daemon=True)
        reader.start()
        try:
            win, _ = _make_window(mpi, "allocated")
            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(kept, 2)
            reader.join()
    mpi.call("MPI_Win_free", ctypes.byref(win))
    return next((line[len(_NETWORK) :].strip() for line in lines if line.startswith(_NETWORK)), "")


def main(library: str, abi: str) -> None:
    mpi = Mpi(library, abi)
    level = ctypes.c_int()
    multiple = len(_THREAD_LEVELS) - 1
    mpi.call("MPI_Init_thread", None, None, multiple, ctypes.byref(level))
    rank, ranks = mpi.number("MPI_Comm_rank"), mpi.number("MPI_Comm_size")
    node = socket.gethostname()
    row = {"rank": rank, "ranks": ranks, "node": node, "threads": _THREAD_LEVELS[level.value]}
    row["windows"] = {kind: _transfer(mpi, kind, rank, ranks) for kind in ("allocated", "created")}
    row["network"] = _describe_network(mpi)
    # One write, so that lines of several ranks are not mixed.
    os.write(1, (json.dumps(row) + "\n").encode())
    mpi.call("MPI_Finalize")


if __name__ == "__main__":
    main(*sys.argv[1:])
