// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/network_agreement.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/windows/window_draft.hpp"
#include "transport/ofi/networks.hpp"

namespace oriel {
namespace {

/// The part of a NetworkAnnouncement that a rank sends if all ranks know each other and the window
/// uses no atomics of the network: a network finds a process that it has attached by the endpoint's
/// id.
struct MemoryAnnouncement {
  MemoryAnnouncement() = default;
  explicit MemoryAnnouncement(const NetworkAnnouncement& whole)
      : endpoint(whole.name.endpoint.id), memory(whole.memory), exposed(whole.exposed) {}

  /// The rest stays empty.
  NetworkAnnouncement whole() const {
    NetworkAnnouncement made;
    made.name.endpoint.id = endpoint;
    made.memory = memory;
    made.exposed = exposed;
    return made;
  }

  std::uint64_t endpoint = 0;
  RemoteMemory memory;
  std::uint32_t exposed = 0;
};
static_assert(std::is_trivially_copyable_v<MemoryAnnouncement>);

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

/// Called when the memory is exposed to the network.
void offer_atomics(const WindowDraft& draft, void* memory, NetworkAnnouncement& own) {
  // The alignment of an element must be known from its displacement in the window.
  constexpr std::uintptr_t largest_element = 8;
  if (reinterpret_cast<std::uintptr_t>(memory) % largest_element != 0) return;
  AtomicNetwork* atomics = draft.running->transports.open_atomics();
  if (atomics == nullptr) return;
  const bool exposed = own.exposed != 0 && atomics->name().id == own.name.endpoint.id;
  if (exposed) {
    own.atomic_memory = own.memory;
  } else if (draft.mine.memory.bytes != 0) {
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

RankPosition position_of_rank(const WindowDraft& draft, const Announcements& announced) {
  const auto own = announced.by_rank.begin() + draft.rank;
  RankPosition position{own->numa_node};
  for (auto other = announced.by_rank.begin(); other != own; ++other) {
    if (other->node.id != own->node.id) continue;
    ++position.on_node;
    if (other->numa_node == own->numa_node) ++position.number;
  }
  return position;
}

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
  OfferedNetworks offered;
  if (transports.network() == nullptr) {
    offered = offers.by_rank[static_cast<std::size_t>(draft.rank)];
    if (offered.none()) return own;  // this rank has failed
  }
  Network* opened =
      transports.open_network(offered, choice, position_of_rank(draft, announced), error);
  if (opened == nullptr) {
    own.refused = 1;
    error.copy(own.refusal.data(), own.refusal.size() - 1);
    return own;
  }
  draft.running->process.remote().limits.set_by_card(opened->by_card());
  own.name = opened->name();
  if (draft.dynamic()) {
    // No memory is registered here: the owner looks up attached memory for each operation.
    own.exposed = opened->direct() ? 1 : 0;
  } else {
    expose(draft, *opened, own);
  }
  return own;
}

/// Closes the network that open_network() has opened, if it has, so that another one can be opened.
/// `own`: its result.
void close_network(const WindowDraft& draft, const NetworkAnnouncement& own) {
  if (draft.mine.networked != 0 || own.name.endpoint.id == 0) return;
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

/// Returns whether MemoryAnnouncements suffice. All ranks find the same.
bool all_attached(const Announcements& announced, const NodeGroups& groups) {
  // Ranks of a divided node may never have met by the network.
  return !groups.divided && std::ranges::all_of(announced.by_rank, [](const Announcement& rank) {
    return rank.networked != 0 && rank.knows_peers != 0 && rank.intrinsic == 0;
  });
}

/// Sends this rank's announcement to all ranks: one Allgather.
HostCode announce_memory(WindowDraft& draft, const Announcements& announced,
                         const NodeGroups& groups, const NetworkAnnouncement& own,
                         NetworkAnnouncements& network) {
  network.by_rank.resize(announced.by_rank.size());
  if (!all_attached(announced, groups)) {
    return draft.comm.allgather(&own, sizeof own, network.by_rank.data());
  }
  const MemoryAnnouncement part(own);
  std::vector<MemoryAnnouncement> parts(announced.by_rank.size());
  const HostCode code = draft.comm.allgather(&part, sizeof part, parts.data());
  std::ranges::transform(parts, network.by_rank.begin(), &MemoryAnnouncement::whole);
  return code;
}

}  // namespace

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
  std::string refusals;
  while (true) {
    const NetworkAnnouncement own = open_network(draft, announced, offers, choice);
    if (const HostCode code = announce_memory(draft, announced, groups, own, network); code != 0) {
      return code;
    }
    const std::string refusal = first_refusal(announced, network);
    if (refusal.empty()) {
      if (draft.running != nullptr && !refusals.empty()) {
        const Guard guard(draft.engine.lock);
        draft.running->refusals = refusals;
      }
      return 0;
    }
    refusals += (refusals.empty() ? "" : ". ") + refusal;
    close_network(draft, own);
    offers.refuse(choice);
    choice = offers.choice();
    if (choice == 0) {
      fail_without_network(draft, announced, groups, refusals);
      return 0;  // all ranks fail here
    }
  }
}

}  // namespace oriel
