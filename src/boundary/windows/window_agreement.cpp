// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/windows/window_agreement.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "boundary/host/errors.hpp"
#include "boundary/progress/error_report.hpp"
#include "boundary/progress/setup_collectives.hpp"
#include "boundary/runtime/known_peers.hpp"
#include "boundary/runtime/runtime.hpp"
#include "boundary/windows/window_draft.hpp"

namespace oriel::boundary {
namespace {

/// Raises on all ranks the error of the lowest rank that has one of this class.
int fail_together(WindowDraft& draft, const Announcements& announced, int error_class) {
  int reporting_rank = 0;
  int code =
      find_reporting_rank(draft.communicator, draft.error_class == error_class, reporting_rank);
  if (code != MPI_SUCCESS) return code;
  std::string words = draft.reason;
  code = share_report(draft.communicator, reporting_rank, words);
  if (code != MPI_SUCCESS) return code;
  if (draft.error_class == MPI_SUCCESS) {
    draft.reason = announced.rank_and_host(reporting_rank) + " could not take part: " + words;
  }
  return raise(draft.communicator, draft.call, error_class, draft.reason);
}

/// Called on all ranks or on none.
void note_peers(const WindowDraft& draft, const WindowMembers& members) {
  const Guard guard(engine.lock);
  ShmTransport& transport = engine.running()->transports.shm();
  if (std::ranges::all_of(members.by_rank, [&](const Member& member) {
        return member.control == nullptr || transport.vm_allowed(member.process);
      })) {
    note_known_peers(draft.communicator, draft.mine.process.id);
  }
}

/// Called if some rank must not access the private memory of a peer on its node: operations to and
/// from ranks with private memory are then messages, on all ranks and in both directions.
void reach_by_messages(const WindowDraft& draft, const NodeGroups& groups, WindowMembers& members) {
  const bool own_private = members.of(draft.rank).private_memory;
  for (int rank = 0; rank < draft.ranks; ++rank) {
    Member& member = members.of(rank);
    if (rank == draft.rank || !groups.together(rank, draft.rank) ||
        !(own_private || member.private_memory)) {
      continue;
    }
    member.path = Path::messages;
    member.base = nullptr;
    member.pieces = nullptr;
    member.control = nullptr;
    member.doorbell = nullptr;
  }
}

}  // namespace

int agree(WindowDraft& draft, const Announcements& announced, const NodeGroups& groups,
          WindowMembers& members, WindowAgreement& agreed) {
  agreed.remote = groups.several;
  if (announced.conclusive) {
    if (draft.error_class == MPI_SUCCESS) return MPI_SUCCESS;
    // This cannot happen: all that is announced has been mapped before. The other ranks would not
    // be notified of the error.
    return raise(draft.communicator, draft.call, draft.error_class, draft.reason);
  }
  const bool served = std::ranges::any_of(members.by_rank, [](const Member& member) {
    return member.path == Path::messages && member.control != nullptr;
  });
  // Error classes are positive: the maximum over all ranks shows whether any rank failed.
  const std::array<int, 2> own{draft.error_class, served ? 1 : 0};
  std::array<int, 2> any{};
  if (const int code =
          setup::allreduce(own.data(), any.data(), 2, MPI_INT, MPI_MAX, draft.communicator);
      code != MPI_SUCCESS) {
    return code;
  }
  if (any[0] != MPI_SUCCESS) return fail_together(draft, announced, any[0]);
  agreed.messages_on_node = any[1] != 0;
  agreed.remote = groups.several || agreed.messages_on_node;
  if (agreed.messages_on_node) {
    reach_by_messages(draft, groups, members);
  } else if (!groups.divided) {
    note_peers(draft, members);
  }
  return MPI_SUCCESS;
}

}  // namespace oriel::boundary
