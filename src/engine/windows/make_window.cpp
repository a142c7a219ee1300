// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/make_window.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "engine/host/error_report.hpp"
#include "engine/progress/waiting.hpp"
#include "engine/windows/announcement.hpp"
#include "engine/windows/node_groups.hpp"
#include "engine/windows/window_members.hpp"

namespace oriel {
namespace {

/// The first collective of a call, reported as a wait for the last rank.
template <typename Collective>
HostCode meet_all(WindowDraft& draft, Collective&& first) {
  std::optional<WaitEvent> event;
  if (draft.running != nullptr) {
    const Guard guard(draft.engine.lock);
    const WindowEvents events(draft.running->process.events(), {draft.mine.window, draft.rank});
    event.emplace(events, Wait{WaitReason::window});
  }
  HostCode code = draft.comm.take_roll_call(draft.call);
  if (code == 0) code = first();
  if (event.has_value()) {
    const Guard guard(draft.engine.lock);
    event.reset();
  }
  return code;
}

void locate_created(WindowDraft& draft) {
  if (draft.running == nullptr) return;
  const Guard guard(draft.engine.lock);
  MemoryRange& memory = draft.mine.memory;
  memory.address = reinterpret_cast<std::uintptr_t>(draft.base);
  if (draft.ranks == 1) return;
  memory = draft.running->transports.shm().locate(draft.base, memory.bytes);
  draft.own->created = memory;
}

HostCode allocate_contiguously(WindowDraft& draft) {
  draft.contiguous = true;
  // In halves, whose sums do not overflow: the sum of all ranks' sizes may exceed an address.
  constexpr unsigned half = 32;
  constexpr std::uint64_t low = (std::uint64_t{1} << half) - 1;
  std::array sum{draft.mine.memory.bytes >> half, draft.mine.memory.bytes & low};
  const HostCode code = meet_all(draft, [&] {
    const HostCode failed = draft.comm.assemble();
    return failed != 0 ? failed : draft.comm.allreduce(sum, HostOp::sum);
  });
  if (code != 0) return code;
  if (sum[0] + (sum[1] >> half) > low / 2) {
    draft.fail(Error::size, "the sizes of all ranks together are more than an address can say");
  }
  draft.allocate(draft.rank == 0 ? (sum[0] << half) + sum[1] : 0);
  return 0;
}

HostCode find_memory(WindowDraft& draft) {
  switch (draft.flavor) {
    case WindowFlavor::created:
      draft.allocate(0);
      locate_created(draft);
      return 0;
    case WindowFlavor::shared:
      if (!draft.terms.noncontiguous) return allocate_contiguously(draft);
      [[fallthrough]];
    case WindowFlavor::allocated:
      draft.allocate(draft.mine.memory.bytes);
      return 0;
    case WindowFlavor::dynamic:
      draft.allocate(sizeof(SharedPieces));
      if (!draft.failed()) new (draft.own->memory.get()) SharedPieces;
      return 0;
  }
  return 0;
}

/// The results that all ranks have agreed on.
struct WindowAgreement {
  bool remote = false;            // some rank is remote to another one
  bool messages_on_node = false;  // and some such ranks are on one node
};

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

/// Exchanges failures, so that all ranks fail together and none waits for a rank that has failed:
/// one Allreduce, none if the announcements are conclusive. If any rank has failed, all drafts have
/// failed afterwards, with equal errors.
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

RegionSpec region_spec(WindowDraft& draft, const WindowMembers& members) {
  RegionSpec spec;
  spec.rank = draft.rank;
  spec.ranks = draft.ranks;
  spec.control = members.of(draft.rank).control;
  if (draft.dynamic()) {
    spec.pieces = std::launder(reinterpret_cast<SharedPieces*>(draft.own->memory.get()));
  }
  spec.own = std::move(draft.own);
  spec.atomics = members.atomics;
  spec.atomicity = draft.terms.atomicity;
  spec.members = MemberTable(members.by_rank, !members.atomics.empty());
  return spec;
}

/// Waits until the window's new links are answered in both directions (Lifeline). From then on the
/// loss of a process is detected, also if it is cut off before it makes its next call. No process
/// waits for one that is in the barrier already, because that one has answered before.
void await_links(Engine& engine) {
  const auto answered = [&] {
    const Guard guard(engine.lock);
    return engine.running()->transports.links_answered();
  };
  Waiter waiter(engine);
  while (!answered()) waiter.round_unlocked();
}

HostCode create(WindowDraft& draft, const WindowMembers& members, const WindowAgreement& agreed) {
  WindowSpec spec;
  spec.id = draft.mine.window;
  spec.shared = draft.shared();
  spec.remote = agreed.remote;
  spec.no_locks = draft.terms.no_locks;
  spec.reorder = draft.terms.reorder;
  Running& running = *draft.running;
  {
    const Guard guard(draft.engine.lock);
    spec.region = region_spec(draft, members);
    draft.window = &running.process.create_window(std::move(spec));
    running.node_sends |= agreed.messages_on_node;
  }
  if (!agreed.remote) {
    // Peers need only the window's control block, which existed before it was announced.
    return 0;
  }
  if (running.needs_agent(draft.terms.no_locks)) draft.engine.agent.start();
  await_links(draft.engine);
  // A message for a window that does not exist yet would be lost.
  const HostCode code = draft.comm.barrier();
  if (code == 0) return 0;
  const Guard guard(draft.engine.lock);
  running.process.destroy_window(*std::exchange(draft.window, nullptr));
  return code;
}

}  // namespace

HostCode make_window(WindowDraft& draft) {
  if (const HostCode code = find_memory(draft); code != 0) return code;
  Announcements announced;
  if (const HostCode code = meet_all(draft, [&] { return announce(draft, announced); });
      code != 0) {
    return code;
  }
  NodeGroups groups;
  if (const HostCode code = meet_node(draft, announced, groups); code != 0) return code;
  if (draft.contiguous) announced.lay_out_contiguously();
  WindowMembers members;
  if (const HostCode code = find_members(draft, announced, groups, members); code != 0) {
    return code;
  }
  WindowAgreement agreed;
  if (const HostCode code = agree(draft, announced, groups, members, agreed); code != 0) {
    return code;
  }
  return draft.failed() ? 0 : create(draft, members, agreed);
}

}  // namespace oriel
