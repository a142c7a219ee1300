# SPDX-License-Identifier: BSD-3-Clause
"""OpenCoarrays' test programs, as Debian compiles them for its MPIs: coarrays of Fortran, which are
windows there."""

from __future__ import annotations

from pathlib import Path

from oriel.hosts.host import Host

# How many images a program is made for, where that is not 2.
IMAGES = {
    3: "asynchronous_hello_world get_communicator issue-422-send-get sendget_convert_char_array "
    "sendget_convert_nums static_event_post_issue_293 strided_sendget "
    "sync_image_ring_abort_on_stopped_image teams_subset",
    4: "get_with_vector_index issue-503-multidim-array-broadcast issue-503-non-contig-red-ndarray "
    "issue-511-incorrect-shape",
    5: "teams_coarray_get teams_coarray_get_by_ref teams_coarray_send teams_coarray_send_by_ref "
    "teams_coarray_sendget",
    6: "async_comp_alloc",
    8: "allocatable_p2p_event_post atomics duplicate_syncimages random_init sync_team syncall "
    "syncimages syncimages2 syncimages_status team_number",
    32: "allocate_as_barrier_proc",
}
# These end an image on purpose, which no MPI of Debian's survives.
ENDING = "image_fail"
# One ends with an error after it has found what it looks for. The other one changes a neighbour's
# coarray that the neighbour may not have initialized yet: it fails now and then on Open MPI alone.
LEFT_OUT = ("issue-488-multi-dim-cobounds", "increment_my_neighbor")


def folder_of(host: Host) -> Path | None:
    """Where the programs for this MPI are; None: nowhere."""
    places = host.prefix.glob(f"lib/*/open-coarrays/{host.name}/bin/OpenCoarrays-*-tests")
    return next(places, None)


def programs(host: Host) -> dict[str, int]:
    """Those that can pass, and their numbers of images."""
    folder = folder_of(host)
    if folder is None:
        return {}
    images = {name: count for count, names in IMAGES.items() for name in names.split()}
    found = sorted(path.name for path in folder.iterdir())
    return {
        name: images.get(name, 4 if name.startswith(("co_", "image_")) else 2)
        for name in found
        if not (name.startswith(ENDING) or name in LEFT_OUT)
    }
