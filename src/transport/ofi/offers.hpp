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
#include "transport/ofi/network.hpp"

namespace oriel {

/// A request to the providers of libfabric.
struct Wish {
  std::string provider;  // empty: any
  std::uint64_t capabilities = FI_MSG;
  std::uint64_t order = FI_ORDER_SAS;
  std::uint64_t operation_flags = 0;
};

/// The offers for a wish, the fastest first: endpoints with reliable datagrams. Without those whose
/// link is down, that reach no other node, or that ORIEL_OFI_DOMAIN excludes.
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

/// The card of an offer.
struct Card {
  std::string provider;
  std::string fabric;
  std::string domain;
  bool on_pci = false;
  int numa_node = -1;  // -1: unknown

  OfferedNetwork network() const;
  bool operator==(const Card&) const = default;
};

/// `devices`: the folder of the PCI devices.
Card card_of(const fi_info& offer, const std::string& devices = "/sys/bus/pci/devices");

/// The networks of these cards, in the order of the first card of each.
OfferedNetworks networks_of(std::span<const Card> cards);

/// The card of the network `choice` that a process takes that runs on this NUMA node and has this
/// number among the ranks of its node. Cards of the NUMA node come before all others, and the ranks
/// take turns with them. Null: no card is of the network.
const Card* nearest_card(std::span<const Card> cards, std::uint64_t choice, int numa_node,
                         int number);

/// The wishes for direct transfers by the card of this offer, the best first. Empty: the offer
/// itself is the best.
std::vector<Wish> wishes_for(const fi_info& offer);

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
