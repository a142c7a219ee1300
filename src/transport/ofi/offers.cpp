// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/offers.hpp"

#include <netinet/in.h>
#include <rdma/fi_domain.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/base/settings.hpp"
#include "transport/ofi/tcp_socket.hpp"

namespace oriel {
namespace {

// The last interface of libfabric that this code knows. libfabric refuses to provide an interface
// later than its own, so an older library is asked for its own.
constexpr std::uint32_t latest_interface = FI_VERSION(1, 18);

/// The IP address of an offer; zero: it has none, or none yet.
IpAddress address_of(const fi_info& offer) {
  return has_ip_address(offer) && offer.src_addr != nullptr
             ? ip_address_of(*static_cast<const sockaddr*>(offer.src_addr))
             : IpAddress();
}

bool is_down(const fi_info& offer) {
  return offer.nic != nullptr && offer.nic->link_attr != nullptr &&
         offer.nic->link_attr->state == FI_LINK_DOWN;
}

std::string text_of(const char* text) {
  return text != nullptr ? text : "";
}

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return hash;
}

/// The NUMA node of a PCI device; -1: unknown.
int numa_node_of(const fi_pci_attr& pci, const std::string& devices) {
  char name[32];
  std::snprintf(name, sizeof name, "%04x:%02x:%02x.%x", pci.domain_id, pci.bus_id, pci.device_id,
                pci.function_id);
  std::ifstream file(devices + "/" + name + "/numa_node");
  int node = -1;
  return file >> node ? node : -1;
}

}  // namespace

bool reaches_others(const fi_info& offer) {
  if (only_within_node(offer)) return false;
  if ((offer.caps & FI_REMOTE_COMM) == 0 && (offer.caps & FI_LOCAL_COMM) != 0) return false;
  const IpAddress address = address_of(offer);
  return address == IpAddress() || may_be_reached(address);
}

void move_last(std::vector<fi_info*>& offers, std::span<const InterfaceAddress> own) {
  std::ranges::stable_sort(offers, {}, [&](const fi_info* offer) {
    const auto found = std::ranges::find(own, address_of(*offer), &InterfaceAddress::address);
    return std::pair(found != own.end() && found->within_node(), emulated_by_tcp(*offer));
  });
}

Offers::Offers(const Libfabric& library, const Wish& wish) : library_(library) {
  fi_info* hints = library.dupinfo(nullptr);
  hints->caps = wish.capabilities;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = wish.order;
  hints->tx_attr->op_flags = wish.operation_flags;
  // The modes of a provider that this code supports.
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (!wish.provider.empty()) hints->fabric_attr->prov_name = ::strdup(wish.provider.c_str());
  const std::uint32_t interface = std::min(library.version(), std::uint32_t{latest_interface});
  code_ = library.getinfo(interface, nullptr, nullptr, 0, hints, &all_);
  library.freeinfo(hints);
  const std::string domain = setting_text("ORIEL_OFI_DOMAIN");
  for (fi_info* one = code_ == 0 ? all_ : nullptr; one != nullptr; one = one->next) {
    if (is_down(*one) || !reaches_others(*one)) continue;
    if (!domain.empty() && domain != text_of(one->domain_attr->name)) continue;
    usable_.push_back(one);
  }
}

Offers::~Offers() {
  if (all_ != nullptr) library_.freeinfo(all_);
}

OfferedNetwork Card::network() const {
  return {hash_of(provider + '\0' + fabric), hash_of(provider), address};
}

Card card_of(const fi_info& offer, const std::string& devices) {
  Card card;
  card.provider = text_of(offer.fabric_attr->prov_name);
  card.fabric = text_of(offer.fabric_attr->name);
  card.domain = text_of(offer.domain_attr->name);
  // Older libfabrics name the fabric by the device, so no two nodes have one in common.
  if (card.provider == "efa") card.fabric = card.provider;
  if (const IpAddress address = address_of(offer); address != IpAddress()) {
    card.address =
        hash_of({reinterpret_cast<const char*>(address.bytes.data()), address.bytes.size()});
  }
  if (offer.nic != nullptr && offer.nic->bus_attr != nullptr &&
      offer.nic->bus_attr->bus_type == FI_BUS_PCI) {
    card.on_pci = true;
    card.numa_node = numa_node_of(offer.nic->bus_attr->attr.pci, devices);
  }
  return card;
}

OfferedNetworks networks_of(std::span<const Card> cards) {
  OfferedNetworks offered;
  for (const Card& card : cards) {
    offered.add(card.network(), card.provider + " on " + card.fabric);
  }
  return offered;
}

const Card* nearest_card(std::span<const Card> cards, std::uint64_t choice,
                         const RankPosition& position) {
  std::vector<const Card*> of_network;
  for (const Card& card : cards) {
    if (!card.network().is(choice)) continue;
    const bool known = std::ranges::any_of(of_network, [&](const Card* other) {
      return other->fabric == card.fabric && other->domain == card.domain;
    });
    // A choice by the provider alone takes the first of its networks.
    if (!known && (of_network.empty() || of_network.front()->fabric == card.fabric)) {
      of_network.push_back(&card);
    }
  }
  if (of_network.empty()) return nullptr;
  // Interfaces of the kernel need no turns: it moves their bytes itself.
  if (!of_network.front()->on_pci) return of_network.front();
  std::vector<const Card*> near;
  for (const Card* card : of_network) {
    if (position.numa_node >= 0 && card->numa_node == position.numa_node) near.push_back(card);
  }
  return near.empty() ? of_network[static_cast<std::size_t>(position.on_node) % of_network.size()]
                      : near[static_cast<std::size_t>(position.number) % near.size()];
}

const fi_info* closest_offer(std::span<fi_info* const> offers, const Card& card) {
  const auto closeness = [&](const fi_info* offer) {
    const Card other = card_of(*offer);
    if (other.fabric != card.fabric) return 0;
    return other.domain != card.domain ? 1 : other.provider != card.provider ? 2 : 3;
  };
  const auto closest = std::ranges::max_element(offers, {}, closeness);
  return closest != offers.end() && closeness(*closest) != 0 ? *closest : nullptr;
}

std::vector<Wish> wishes_for(const fi_info& offer) {
  const auto with = [&](std::uint64_t order, std::uint64_t flags) {
    return Wish{setting_text("ORIEL_OFI_PROVIDER"), FI_MSG | FI_RMA, FI_ORDER_SAS | order, flags};
  };
  constexpr std::uint64_t ordered = FI_ORDER_SAW | FI_ORDER_WAW;
  constexpr std::uint64_t delivered = FI_DELIVERY_COMPLETE;
  if (carrier_of(offer) == Fabric::Carrier::card) {
    return {with(ordered, delivered), with(0, delivered), with(ordered, 0)};
  }
  // The target's software would send one more message for each delivery.
  if (fabric_of(offer, false).orders_writes) return {};
  return {with(ordered, 0), with(0, delivered)};
}

bool adds_atomics(const fi_info& offer, const fi_info& other) {
  Fabric facts = fabric_of(offer, false);
  const Fabric others = fabric_of(other, false);
  if (!facts.atomics) return false;
  facts.atomics = others.atomics;
  return facts == others && offer.domain_attr->mr_mode == other.domain_attr->mr_mode;
}

std::vector<Card> offered_cards(const Libfabric& library, std::string& error) {
  const std::string provider = setting_text("ORIEL_OFI_PROVIDER");
  const auto cards_of = [](const Offers& offers) {
    std::vector<fi_info*> usable = offers.usable();
    move_last(usable, addresses_of_node().all);
    std::vector<Card> cards;
    cards.reserve(usable.size());
    for (const fi_info* offer : usable) cards.push_back(card_of(*offer));
    return cards;
  };
  if (setting_bool("ORIEL_OFI_DIRECT")) {
    const Offers offers(library, {provider, FI_MSG | FI_RMA});
    if (!offers.usable().empty()) return cards_of(offers);
  }
  const Offers offers(library, {provider});
  if (offers.usable().empty()) {
    const std::string domain = setting_text("ORIEL_OFI_DOMAIN");
    error = "libfabric (" + library.path + ") offers no provider " +
            (!provider.empty() ? "named " + provider + " " : std::string()) +
            (!domain.empty() ? "with a domain " + domain + " " : std::string()) +
            "with reliable messages that reaches other nodes" +
            (offers.code() != 0 ? ": " + library.describe(offers.code()) : std::string()) +
            "; `fi_info -t FI_EP_RDM` lists what there is, ORIEL_OFI_PROVIDER " +
            (!domain.empty() ? "and ORIEL_OFI_DOMAIN choose" : "chooses");
  }
  return cards_of(offers);
}

ChosenOffer best_offer(const Libfabric& library, const Card& card) {
  // Not the card's: libfabric 1.11 does not accept the names of layers that it returns.
  const std::string provider = setting_text("ORIEL_OFI_PROVIDER");
  const bool paced_tcp = tcp_is_paced();
  const auto offer_of_card = [&](const Offers& offers) -> fi_info* {
    const auto found = std::ranges::find_if(
        offers.usable(), [&](const fi_info* offer) { return card_of(*offer) == card; });
    return found != offers.usable().end() ? *found : nullptr;
  };
  const auto choose = [&](const fi_info& offer) {
    ChosenOffer chosen{library.dupinfo(&offer), fabric_of(offer, paced_tcp)};
    // Delivery-complete is requested for each write, not for messages.
    chosen.offer->tx_attr->op_flags = 0;
    return chosen;
  };
  const auto with_atomics = [&](const fi_info& offer, Wish wish) {
    wish.capabilities |= FI_ATOMIC;
    wish.order |= FI_ORDER_ATOMIC_RAR;
    const Offers wished(library, wish);
    const fi_info* one = offer_of_card(wished);
    return choose(one != nullptr && adds_atomics(*one, offer) ? *one : offer);
  };
  if (setting_bool("ORIEL_OFI_DIRECT")) {
    const Wish first{provider, FI_MSG | FI_RMA};
    const Offers offers(library, first);
    if (const fi_info* offer = offer_of_card(offers); offer != nullptr) {
      const std::vector<Wish> wishes = wishes_for(*offer);
      if (wishes.empty()) return with_atomics(*offer, first);
      for (const Wish& wish : wishes) {
        const Offers wished(library, wish);
        const fi_info* one = offer_of_card(wished);
        if (one != nullptr && fabric_of(*one, paced_tcp).direct()) return with_atomics(*one, wish);
      }
    }
  }
  const Offers offers(library, {provider});
  fi_info* messages = offer_of_card(offers);
  if (messages == nullptr) return {};
  messages->caps &= ~std::uint64_t{FI_RMA};  // a provider may offer more than is requested
  return choose(*messages);
}

}  // namespace oriel
