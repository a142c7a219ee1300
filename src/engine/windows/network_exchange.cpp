// SPDX-License-Identifier: BSD-3-Clause
#include "engine/windows/network_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/windows/window_draft.hpp"

namespace oriel {
namespace {

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

}  // namespace

HostCode meet_other_nodes(WindowDraft& draft, const Announcements& announced,
                          const NodeGroups& groups, NetworkAnnouncements& network) {
  if (!groups.several) return 0;
  if (draft.shared()) {
    draft.fail(Error::not_shared, cannot_share(announced, groups));
    return 0;  // all ranks fail here
  }
  NetworkAnnouncement own;
  if (draft.running != nullptr) {
    const Guard guard(draft.engine.lock);
    std::string error;
    Network* opened = draft.running->transports.open_network(error);
    if (opened == nullptr) {
      draft.fail(Error::system, "there is no way to " + others_than_first(announced, groups) +
                                    ": " + (groups.obstacle.empty() ? "" : groups.obstacle + " ") +
                                    error +
                                    "; or set ORIEL_DISABLE=1 to use the host MPI's windows");
    } else {
      own.name = opened->name();
      if (draft.dynamic()) {
        // No memory is registered here: the owner looks up attached memory for each operation.
        own.exposed = opened->direct() ? 1 : 0;
      } else {
        expose(draft, *opened, own);
      }
    }
  }
  network.by_rank.resize(announced.by_rank.size());
  return draft.comm.allgather(&own, sizeof own, network.by_rank.data());
}

}  // namespace oriel
