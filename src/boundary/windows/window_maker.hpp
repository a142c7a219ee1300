// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "boundary/host/host.hpp"
#include "boundary/windows/window_agreement.hpp"
#include "boundary/windows/window_draft.hpp"
#include "boundary/windows/window_members.hpp"

namespace oriel {
struct Running;
}

namespace oriel::boundary {

/// Makes one window: a collective in steps. Every rank takes all steps, even after a failure, and
/// receives any rank's failure, so that all fail together and none hangs.
///
///     step               reason                                               host's collectives
///     prepare            arguments, the engine, this rank's number of the     -
///                        window (WindowDraft)
///     roll call          some rank may run without Oriel                      Comm_create, for the
///                                                                             first window
///     take memory        this rank's memory (WindowDraft); before the roll    Allreduce of sizes,
///                        call, if the window's memory is not contiguous       if contiguous
///     announce           locations of all ranks' control blocks and memory    Allgather
///                        (Announcements)
///     meet_node          ranks of one node may be unable to map each other:   Allgather
///                        all must treat them as remote then (NodeGroups)
///     meet_other_nodes   names and exposed memory in the network              Allgather, on
///                        (NetworkAnnouncements)                               several nodes
///     find_members       this rank's path to every other (WindowMembers)      -
///     agree              some rank may have failed, or may have to send       Allreduce
///                        messages within its node (WindowAgreement)
///     finish             the window itself; no message may arrive before      Barrier, if there
///                        it exists                                            are messages
///
/// The second Allgather and the Allreduce are omitted if the announcements prove that no later step
/// can fail, as for all but the first windows of a communicator: see Announcements. The result of
/// each step is passed to the next. When the maker returns, all of it is freed, except for the
/// window's Region, which keeps a row of a MemberTable for each rank.
class WindowMaker {
 public:
  WindowMaker(const char* call, MPI_Comm communicator, MPI_Info info)
      : draft_(call, communicator, info) {}

  // The calls of MPI. A maker makes one window.
  int create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Win* handle);
  int allocate(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle);
  int allocate_shared(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle);
  int create_dynamic(MPI_Win* handle);

 private:
  /// `outputs`: the error of the call's output arguments, if any.
  int prepare(MPI_Aint size, MPI_Aint disp_unit, const Failure& outputs);
  int take_contiguous_memory();
  int make(MPI_Win* handle);
  int make_with_memory(void* base, MPI_Win* handle);
  int finish(const WindowMembers& members, const WindowAgreement& agreed, MPI_Win* handle);
  std::shared_ptr<Region> make_region(Running& running, const WindowMembers& members);
  void describe(bool by_network) const;

  WindowDraft draft_;
};

}  // namespace oriel::boundary
