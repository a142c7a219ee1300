// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/window_members.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "core/lock/control.hpp"
#include "engine/windows/network_agreement.hpp"
#include "engine/windows/window_draft.hpp"
#include "transport/ofi/lifeline.hpp"
#include "transport/ofi/network.hpp"

namespace oriel {
namespace {

/// Finds the path to a rank of this node, whose memory is mapped or accessed by system calls. On
/// failure returns false and sets `error` to a sentence.
bool reach_on_node(WindowDraft& draft, const Announcement& peer, int rank, WindowMembers& members,
                   std::string& error) {
  Member& member = members.of(rank);
  ShmTransport& transport = draft.running->transports.shm();
  const bool self = rank == draft.rank;
  member.process = self ? transport.self() : transport.attach(peer.process, error);
  if (member.process < 0) return false;
  member.window = peer.window;
  const std::uint64_t control_bytes = ControlBlock::bytes(static_cast<std::size_t>(draft.ranks));
  std::byte* control = transport.at(member.process, peer.control, control_bytes, error);
  if (control == nullptr) return false;
  member.control = std::launder(reinterpret_cast<ControlBlock*>(control));
  member.doorbell = &transport.doorbell(member.process);
  member.disp_unit = peer.disp_unit;
  if (draft.dynamic()) {
    // Memory that will be attached may be private.
    const std::byte* pieces =
        transport.at(member.process, peer.pieces, sizeof(SharedPieces), error);
    if (pieces == nullptr) return false;
    member.pieces = std::launder(reinterpret_cast<const SharedPieces*>(pieces));
    member.private_memory = draft.ranks > 1;
    if (!self && !transport.vm_allowed(member.process)) member.path = Path::messages;
    return true;
  }
  std::byte* own = nullptr;
  std::byte* mapped = nullptr;
  if (self && draft.flavor == WindowFlavor::created) {
    own = static_cast<std::byte*>(draft.base);
  } else if (peer.memory.location.shared()) {
    const int owner = draft.contiguous ? members.of(0).process : member.process;
    mapped = transport.at(owner, peer.memory.location, peer.memory.bytes, error);
    if (mapped == nullptr) return false;
    if (self) draft.base = mapped;
  } else {
    mapped = transport.map_range(member.process, peer.memory);
  }
  member.set_memory(peer.memory, own, mapped, draft.ranks == 1);
  if (member.path == Path::system_call && !transport.vm_allowed(member.process)) {
    member.path = Path::messages;
  }
  return true;
}

/// Finds the path to a rank by the network's messages. On failure returns false and sets `error` to
/// a sentence.
bool reach_elsewhere(Network& network, const Announcement& peer,
                     const NetworkAnnouncement& announced, Member& member, std::string& error) {
  if (announced.name.endpoint.id == 0) return true;  // the rank has failed and reports why
  const int number = network.attach(announced.name, error);
  if (number < 0) return false;
  member.process = CompositeTransport::first_elsewhere + number;
  member.path = Path::messages;
  member.window = peer.window;
  member.direct = announced.exposed != 0;
  member.memory = announced.memory;
  member.size = peer.memory.bytes;
  member.disp_unit = peer.disp_unit;
  return true;
}

/// Begins the links by which processes of the window detect losses. create() awaits the answers.
void watch_others(const WindowDraft& draft, const NodeGroups& groups,
                  const NetworkAnnouncements& network) {
  if (network.by_rank.empty()) return;
  Network& lifelines = *draft.running->transports.network();
  const Watchers watchers(groups.by_rank);
  for (const int rank : watchers.watched_by(draft.rank)) lifelines.watch(network.of(rank).name);
  for (const int rank : watchers.watchers_of(draft.rank)) lifelines.expect(network.of(rank).name);
}

/// The accumulates that all ranks leave to the network's atomics; empty if their ops or providers
/// differ.
AtomicSet atomics_of_all(const NetworkAnnouncements& network) {
  if (network.by_rank.empty()) return {};
  const NetworkAnnouncement& first = network.of(0);
  AtomicSet all = first.atomics;
  for (const NetworkAnnouncement& other : network.by_rank) {
    all.types &= other.atomics.types;
    if (other.atomics.ops != all.ops || other.atomic_name.provider != first.atomic_name.provider) {
      return {};
    }
  }
  return all;
}

/// True if each rank maps the memory of all ranks through an arena. All ranks find the same.
bool all_mapped(const WindowDraft& draft, const Announcements& announced,
                const WindowMembers& members) {
  return !draft.dynamic() &&
         std::ranges::all_of(members.by_rank,
                             [](const Member& member) { return member.control != nullptr; }) &&
         (draft.ranks == 1 ||
          std::ranges::none_of(announced.by_rank, &Announcement::has_private_memory));
}

void reach_by_atomics(WindowDraft& draft, const Announcements& announced,
                      const NetworkAnnouncements& network, WindowMembers& members) {
  members.atomics = atomics_of_all(network);
  draft.network_atomics = !members.atomics.empty();
  draft.intrinsic = draft.network_atomics                   ? Intrinsic::always
                    : all_mapped(draft, announced, members) ? Intrinsic::as_asked
                                                            : Intrinsic::never;
  const bool asked = std::ranges::all_of(
      announced.by_rank, [](const Announcement& rank) { return rank.intrinsic != 0; });
  draft.terms.intrinsic = draft.intrinsic != Intrinsic::never && asked;
  if (members.atomics.empty()) return;
  for (int rank = 0; rank < draft.ranks; ++rank) {
    const NetworkAnnouncement& peer = network.of(rank);
    Member& member = members.of(rank);
    member.atomic_process = draft.running->transports.atomics()->attach(peer.atomic_name);
    member.atomic_memory = peer.atomic_memory;
    if (member.atomic_process >= 0) continue;
    return draft.fail(Error::system,
                      announced.rank_and_host(rank) +
                          " cannot be reached by libfabric's atomics; leave out the info key "
                          "mpi_assert_accumulate_intrinsic");
  }
}

}  // namespace

HostCode find_members(WindowDraft& draft, const Announcements& announced, const NodeGroups& groups,
                      WindowMembers& members) {
  NetworkAnnouncements network;
  const HostCode code = meet_other_nodes(draft, announced, groups, network);
  if (code != 0 || draft.failed()) return code;
  const Guard guard(draft.engine.lock);
  members.by_rank.resize(announced.by_rank.size());
  for (int rank = 0; rank < draft.ranks; ++rank) {
    const Announcement& peer = announced.of(rank);
    if (peer.failed != 0) continue;  // all ranks will fail, and report this rank
    std::string error;
    const bool reached = groups.together(rank, draft.rank)
                             ? reach_on_node(draft, peer, rank, members, error)
                             : reach_elsewhere(*draft.running->transports.network(), peer,
                                               network.of(rank), members.of(rank), error);
    if (!reached) {
      draft.fail(Error::system, announced.rank_and_host(rank) + " cannot be reached: " + error);
      return 0;
    }
  }
  watch_others(draft, groups, network);
  reach_by_atomics(draft, announced, network, members);
  return 0;
}

}  // namespace oriel
