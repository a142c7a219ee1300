// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/window_agreement.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "engine/host/error_report.hpp"
#include "engine/windows/window_draft.hpp"

namespace oriel {
namespace {

/// Makes all ranks fail by `error`. A rank that has not failed by it gets the reason of the lowest
/// rank that has.
HostCode fail_together(WindowDraft& draft, const Announcements& announced, Error error) {
  int reporting_rank = 0;
  if (const HostCode code = find_reporting_rank(draft.comm, draft.error == error, reporting_rank);
      code != 0) {
    return code;
  }
  std::string words = draft.reason;
  if (const HostCode code = share_report(draft.comm, reporting_rank, words); code != 0) return code;
  if (draft.error != error) {
    draft.reason = announced.rank_and_host(reporting_rank) + " could not take part: " + words;
  }
  draft.error = error;
  return 0;
}

/// Called on all ranks or on none.
void note_peers(const WindowDraft& draft, const WindowMembers& members) {
  const Guard guard(draft.engine.lock);
  ShmTransport& transport = draft.running->transports.shm();
  if (std::ranges::all_of(members.by_rank, [&](const Member& member) {
        return member.control == nullptr || transport.vm_allowed(member.process);
      })) {
    draft.comm.note_known_peers(draft.mine.process.id);
  }
}

/// Called if some rank must not access the private memory of a peer on its node: operations to and
/// from ranks with private memory are then messages, on all ranks and in both directions.
void reach_by_messages(const WindowDraft& draft, const Announcements& announced,
                       const NodeGroups& groups, WindowMembers& members) {
  // Memory that will be attached may be private.
  const bool all_private = draft.dynamic() || announced.of(draft.rank).has_private_memory();
  for (int rank = 0; rank < draft.ranks; ++rank) {
    Member& member = members.of(rank);
    if (rank == draft.rank || !groups.together(rank, draft.rank) ||
        !(all_private || announced.of(rank).has_private_memory())) {
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

HostCode agree(WindowDraft& draft, const Announcements& announced, const NodeGroups& groups,
               WindowMembers& members, WindowAgreement& agreed) {
  agreed.remote = groups.several;
  // This rank cannot have failed, because all that is announced has been mapped before. The other
  // ranks would not be notified.
  if (announced.conclusive) return 0;
  const bool served = std::ranges::any_of(members.by_rank, [](const Member& member) {
    return member.path == Path::messages && member.control != nullptr;
  });
  // The error of all ranks is the greatest one.
  std::array any{static_cast<std::uint64_t>(draft.error), std::uint64_t{served ? 1U : 0U}};
  if (const HostCode code = draft.comm.allreduce(any, HostOp::max); code != 0) return code;
  if (any[0] != 0) return fail_together(draft, announced, static_cast<Error>(any[0]));
  agreed.messages_on_node = any[1] != 0;
  agreed.remote = groups.several || agreed.messages_on_node;
  if (agreed.messages_on_node) {
    reach_by_messages(draft, announced, groups, members);
  } else if (!groups.divided) {
    note_peers(draft, members);
  }
  return 0;
}

}  // namespace oriel
