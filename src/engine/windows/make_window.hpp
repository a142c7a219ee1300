// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/host/host_interface.hpp"
#include "engine/windows/window_draft.hpp"

namespace oriel {

/// Makes one window: a collective in steps. Every rank takes all steps, even after a failure, and
/// receives any rank's failure, so that all fail together and none hangs.
///
///     step               reason                                               host's collectives
///     roll call          some rank may run without Oriel                      Comm_create, for the
///                                                                             first window
///     find memory        this rank's memory (WindowDraft); before the roll    Allreduce of sizes,
///                        call, if the window's memory is not contiguous       if contiguous
///     announce           locations of all ranks' control blocks and memory    Allgather
///                        (Announcements)
///     meet_node          ranks of one node may be unable to map each other:   Allgather
///                        all must treat them as remote then (NodeGroups)
///     find_members       this rank's path to every other (WindowMembers),     Allgathers, on
///                        after the exchange of names and exposed memory        several nodes
///     agree              some rank may have failed, or may have to send       Allreduce
///                        messages within its node (WindowAgreement)
///     create             the window itself; waits for the answers to its      Barrier, if there
///                        links (Network::links_answered()); no message may    are messages
///                        arrive before it exists
///
/// The second Allgather and the Allreduce are omitted if the announcements prove that no later step
/// can fail, as for all but the first windows of a communicator: see Announcements. The result of
/// each step is passed to the next. On return all of it is freed, except for the window's Region,
/// which keeps a row of a MemberTable for each rank.
///
/// The draft has begun, or this rank has failed. Afterwards it has the window or, on all ranks, a
/// failure.
[[nodiscard]] HostCode make_window(WindowDraft& draft);

}  // namespace oriel
