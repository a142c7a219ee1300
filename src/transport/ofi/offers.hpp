// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/ofi/fabric.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/ofi/networks.hpp"
#include "transport/ofi/node_addresses.hpp"
#include "transport/ofi/offered_networks.hpp"

namespace oriel {

/// A request to the providers of libfabric.
struct Wish {
  std::string provider;  // empty: any
  std::uint64_t capabilities = FI_MSG;
  std::uint64_t order = FI_ORDER_SAS;
  std::uint64_t operation_flags = 0;
};

/// The offers for a wish, the fastest first: endpoints with reliable datagrams. Without
/// those whose link is down, that reach no other node, or that ORIEL_OFI_DOMAIN excludes.
class Offers {
 public:
  Offers(const Libfabric& library, const Wish& wish);
  ~Offers();
  Offers(const Offers&) = delete;
  Offers& operator=(const Offers&) = delete;

  const std::vector<fi_info*>& usable() const { return usable_; }
  /// libfabric's error; 0: there are offers, but maybe no usable one.
  int code() const { return code_; }

 private:
  const Libfabric& library_;
  fi_info* all_ = nullptr;
  std::vector<fi_info*> usable_;
  int code_;
};

/// Returns whether an endpoint of this offer can exchange messages with other nodes.
bool reaches_others(const fi_info& offer);

/// Moves offers behind all others whose network is probably not between nodes, or slower than it
/// appears: those at a bridge, such as that of containers, without a default route, and providers
/// that are emulated by TCP. libfabric lists the rest from the fastest to the slowest. `own`: the
/// addresses of this node.
void move_last(std::vector<fi_info*>& offers, std::span<const InterfaceAddress> own);

/// The card of an offer.
struct Card {
  std::string provider;
  std::string fabric;
  std::string domain;
  bool on_pci = false;
  int numa_node = -1;         // -1: unknown
  std::uint64_t address = 0;  // OfferedNetwork::address

  OfferedNetwork network() const;
  bool operator==(const Card&) const = default;
};

/// `devices`: the folder of the PCI devices.
Card card_of(const fi_info& offer, const std::string& devices = "/sys/bus/pci/devices");

/// The networks of these cards, in the order of the first card of each.
OfferedNetworks networks_of(std::span<const Card> cards);

/// The card of the network `choice` that a rank with this position takes. Cards of its NUMA node
/// come before all others, and the ranks of the NUMA node take turns with them. If there are none,
/// the ranks of the node take turns with all cards. Null: no card is of the network.
const Card* nearest_card(std::span<const Card> cards, std::uint64_t choice,
                         const RankPosition& position);

/// The offer among these that shares most with a card: the card itself, else its device by
/// another provider, else its fabric. Null: none is of its fabric.
const fi_info* closest_offer(std::span<fi_info* const> offers, const Card& card);

/// The wishes for direct transfers by the card of this offer, the best first. Empty: the offer
/// itself is the best.
std::vector<Wish> wishes_for(const fi_info& offer);

/// Returns whether this offer has network atomics, and differs from the other one in nothing else:
/// the facts are the same, and so are the registrations that the provider requires.
bool adds_atomics(const fi_info& offer, const fi_info& other);

/// The cards of all offers, the fastest first: those with direct transfers if there are any. Empty
/// if there are none; `error` is a sentence then.
std::vector<Card> offered_cards(const Libfabric& library, std::string& error);

/// An offer, and the facts about its network.
struct ChosenOffer {
  fi_info* offer = nullptr;  // the caller frees it; null: the card is no longer offered
  Fabric fabric;
};

/// The best offer of this card.
ChosenOffer best_offer(const Libfabric& library, const Card& card);

}  // namespace oriel
