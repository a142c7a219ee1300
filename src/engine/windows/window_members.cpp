// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/window_members.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "core/lock/control.hpp"
#include "engine/windows/window_draft.hpp"
#include "transport/ofi/lifeline.hpp"
#include "transport/ofi/network.hpp"

namespace oriel {
namespace {

/// The information that a rank also sends to all others if the ranks are on several nodes.
struct NetworkAnnouncement {
  NetworkName name;
  RemoteMemory memory;
  std::uint32_t exposed = 0;        // Member::direct
  std::uint32_t refused = 0;        // the rank could not open the network
  std::array<char, 160> refusal{};  // why, as a sentence
  EndpointName atomic_name;
  RemoteMemory atomic_memory;
  AtomicSet atomics;  // accumulates that it can leave to the network's atomics
};
static_assert(std::is_trivially_copyable_v<NetworkAnnouncement>);

/// Those of all ranks.
struct NetworkAnnouncements {
  std::vector<NetworkAnnouncement> by_rank;  // empty: there is one node

  const NetworkAnnouncement& of(int rank) const { return by_rank[static_cast<std::size_t>(rank)]; }
};

/// The ranks that do not share memory with rank 0, for error sentences.
std::string others_than_first(const Announcements& announced, const NodeGroups& groups) {
  std::string others;
  for (int rank = 0; rank < static_cast<int>(groups.by_rank.size()); ++rank) {
    if (groups.together(rank, 0)) continue;
    others += (others.empty() ? "" : ", ") + announced.rank_and_host(rank);
  }
  return others;
}

std::string cannot_share(const Announcements& announced, const NodeGroups& groups) {
  const char* host = announced.of(0).node.name.data();
  const bool one_host = std::ranges::all_of(announced.by_rank, [&](const Announcement& peer) {
    return std::strcmp(peer.node.name.data(), host) == 0;
  });
  return others_than_first(announced, groups) + " cannot share memory with " +
         announced.rank_and_host(0) +
         (one_host ? ": their processes are hidden from each other, as by PID namespaces of "
                     "their own. Let them share one"
                   : "; split the communicator by MPI_COMM_TYPE_SHARED first");
}

void offer_atomics(const WindowDraft& draft, void* memory, NetworkAnnouncement& own) {
  // The alignment of an element must be known from its displacement in the window.
  constexpr std::uintptr_t largest_element = 8;
  if (reinterpret_cast<std::uintptr_t>(memory) % largest_element != 0) return;
  AtomicNetwork* atomics = draft.running->transports.open_atomics();
  if (atomics == nullptr) return;
  if (draft.mine.memory.bytes != 0) {
    draft.own->atomic_exposure =
        atomics->expose(memory, draft.mine.memory.bytes, own.atomic_memory);
    if (draft.own->atomic_exposure < 0) return;
  }
  own.atomic_name = atomics->name();
  const OpSet ops = draft.terms.ops;
  own.atomics = {atomics->types(ops), ops};
}

void expose(const WindowDraft& draft, Network& network, NetworkAnnouncement& own) {
  void* memory = draft.own->memory != nullptr ? draft.own->memory.get() : draft.base;
  draft.own->exposure = network.expose(memory, draft.mine.memory.bytes, own.memory);
  own.exposed = draft.own->exposure >= 0 ? 1 : 0;
  // The network's atomics are not ordered with other operations (Q2).
  if (draft.terms.intrinsic && !draft.terms.ordered) offer_atomics(draft, memory, own);
}

/// The number of this rank among the ranks of its node.
int number_on_node(const WindowDraft& draft, const Announcements& announced) {
  const auto before = announced.by_rank.begin() + draft.rank;
  return static_cast<int>(
      std::count_if(announced.by_rank.begin(), before,
                    [&](const Announcement& other) { return other.node.id == before->node.id; }));
}

/// The networks of all ranks, and those that some rank could not open.
struct NetworkOffers {
  std::vector<OfferedNetworks> by_rank;
  std::vector<std::uint64_t> refused;

  std::uint64_t choice() const { return common_network(by_rank, refused); }
  /// Some rank cannot open the network of this choice.
  void refuse(std::uint64_t choice) {
    refused.push_back(choice);
    for (const OfferedNetworks& rank : by_rank) {
      // Ranks would open it again as the first one of its provider.
      if (const OfferedNetwork* same = rank.find(choice)) refused.push_back(same->provider);
      if (!rank.none()) return;
    }
  }
};

/// The networks of all ranks: "rank 0 (a) has verbs;ofi_rxm on IB-0xfe80, rank 1 (b) tcp on ...". A
/// rank is left out if a rank before it has the same networks, or if it has none.
std::string networks_of_ranks(const Announcements& announced, const NetworkOffers& offers) {
  std::string text;
  std::vector<std::string> known;
  for (int rank = 0; rank < static_cast<int>(offers.by_rank.size()); ++rank) {
    const std::string names = offers.by_rank[static_cast<std::size_t>(rank)].names.data();
    if (names.empty() || std::ranges::find(known, names) != known.end()) continue;
    known.push_back(names);
    text += (text.empty() ? "" : "; ") + announced.rank_and_host(rank) + " has " + names;
  }
  return text;
}

/// Records that there is no way to the other nodes.
void fail_without_network(WindowDraft& draft, const Announcements& announced,
                          const NodeGroups& groups, const std::string& reason) {
  draft.fail(Error::system, "there is no way to " + others_than_first(announced, groups) + ": " +
                                (groups.obstacle.empty() ? "" : groups.obstacle + " ") + reason +
                                "; or set ORIEL_DISABLE=1 to use the host MPI's windows");
}

/// Sends the networks of this rank to all ranks: one Allgather.
HostCode offer_networks(WindowDraft& draft, const Announcements& announced,
                        const NodeGroups& groups, NetworkOffers& offers) {
  OfferedNetworks own;
  if (draft.running != nullptr) {
    const Guard guard(draft.engine.lock);
    std::string error;
    own = draft.running->transports.offered_networks(error);
    if (own.none()) fail_without_network(draft, announced, groups, error);
  }
  offers.by_rank.resize(announced.by_rank.size());
  return draft.comm.allgather(&own, sizeof own, offers.by_rank.data());
}

/// Opens the network of this choice, and registers this rank's memory with it.
NetworkAnnouncement open_network(WindowDraft& draft, const Announcements& announced,
                                 const NetworkOffers& offers, std::uint64_t choice) {
  NetworkAnnouncement own;
  if (draft.running == nullptr) return own;
  const Guard guard(draft.engine.lock);
  std::string error;
  CompositeTransport& transports = draft.running->transports;
  Network* opened = transports.network();
  if (opened == nullptr) {
    const OfferedNetworks& offered = offers.by_rank[static_cast<std::size_t>(draft.rank)];
    if (offered.none()) return own;  // this rank has failed
    opened = transports.open_network(offered, choice, number_on_node(draft, announced), error);
  }
  if (opened == nullptr) {
    own.refused = 1;
    error.copy(own.refusal.data(), own.refusal.size() - 1);
    return own;
  }
  own.name = opened->name();
  if (draft.dynamic()) {
    // No memory is registered here: the owner looks up attached memory for each operation.
    own.exposed = opened->direct() ? 1 : 0;
  } else {
    expose(draft, *opened, own);
  }
  return own;
}

/// Closes the network that open_network() has opened, so that another one can be opened.
void close_network(const WindowDraft& draft) {
  if (draft.running == nullptr || draft.mine.networked != 0) return;
  const Guard guard(draft.engine.lock);
  draft.own->withdraw();
  draft.running->transports.close_network();
}

/// The refusal of the lowest rank that has refused: "rank 3 (host): libfabric's provider ...".
/// Empty: no rank has refused.
std::string first_refusal(const Announcements& announced, const NetworkAnnouncements& network) {
  const auto refused = std::ranges::find_if(
      network.by_rank, [](const NetworkAnnouncement& rank) { return rank.refused != 0; });
  if (refused == network.by_rank.end()) return {};
  const auto rank = static_cast<int>(refused - network.by_rank.begin());
  return announced.rank_and_host(rank) + ": " + refused->refusal.data();
}

/// Opens the network that all ranks have, registers this rank's memory with it, and sends both to
/// all ranks: one Allgather if all ranks have a network already, otherwise two. If some rank cannot
/// open the network, all ranks close it and open the next one, with one more Allgather. All ranks
/// find the choice from the same data, so all call the same collectives.
HostCode meet_other_nodes(WindowDraft& draft, const Announcements& announced,
                          const NodeGroups& groups, NetworkAnnouncements& network) {
  if (!groups.several) return 0;
  if (draft.shared()) {
    draft.fail(Error::not_shared, cannot_share(announced, groups));
    return 0;  // all ranks fail here
  }
  NetworkOffers offers;
  std::uint64_t choice = 0;
  const bool agreed = std::ranges::all_of(
      announced.by_rank, [](const Announcement& rank) { return rank.networked != 0; });
  if (!agreed) {
    if (const HostCode code = offer_networks(draft, announced, groups, offers); code != 0) {
      return code;
    }
    choice = offers.choice();
    if (choice == 0) {
      fail_without_network(draft, announced, groups,
                           "no network of libfabric is common to all ranks: " +
                               networks_of_ranks(announced, offers) +
                               ". ORIEL_OFI_PROVIDER names one for all nodes");
      return 0;  // all ranks fail here
    }
  }
  network.by_rank.resize(announced.by_rank.size());
  std::string refusals;
  while (true) {
    const NetworkAnnouncement own = open_network(draft, announced, offers, choice);
    if (const HostCode code = draft.comm.allgather(&own, sizeof own, network.by_rank.data());
        code != 0) {
      return code;
    }
    const std::string refusal = first_refusal(announced, network);
    if (refusal.empty()) return 0;
    refusals += (refusals.empty() ? "" : ". ") + refusal;
    close_network(draft);
    offers.refuse(choice);
    choice = offers.choice();
    if (choice == 0) {
      fail_without_network(draft, announced, groups, refusals);
      return 0;  // all ranks fail here
    }
  }
}

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

/// Opens the links by which processes of the window detect losses.
void watch_others(const WindowDraft& draft, const NodeGroups& groups,
                  const NetworkAnnouncements& network) {
  if (network.by_rank.empty()) return;
  for (const int rank : Watchers(groups.by_rank).watched_by(draft.rank)) {
    draft.running->transports.network()->watch(network.of(rank).name);
  }
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
