// SPDX-License-Identifier: BSD-3-Clause
// B14: the card that each rank of a node takes, and what is requested of a provider.
#include "transport/ofi/offers.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <rdma/fi_endpoint.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace oriel {
namespace {

/// cxi0 to cxi3, two for each of two NUMA nodes, as libfabric lists them.
std::vector<Card> four_cards() {
  std::vector<Card> cards;
  for (int i = 0; i < 4; ++i)
    cards.push_back({"cxi", "cxi", "cxi" + std::to_string(i), true, i / 2});
  return cards;
}

std::string domains_of_ranks(const std::vector<Card>& cards, const std::vector<int>& numa_nodes) {
  std::string domains;
  for (auto rank = numa_nodes.begin(); rank != numa_nodes.end(); ++rank) {
    const std::uint64_t network = cards.front().network().network;
    const auto number = std::count(numa_nodes.begin(), rank, *rank);
    const auto on_node = rank - numa_nodes.begin();
    const Card* card =
        nearest_card(cards, network, {*rank, static_cast<int>(number), static_cast<int>(on_node)});
    domains += (domains.empty() ? "" : " ") + (card != nullptr ? card->domain : "none");
  }
  return domains;
}

TEST(NearestCard, IsOfTheRanksNumaNodeAndTheRanksTakeTurns) {
  EXPECT_EQ(domains_of_ranks(four_cards(), {0, 0, 0, 0, 1, 1, 1, 1}),
            "cxi0 cxi1 cxi0 cxi1 cxi2 cxi3 cxi2 cxi3");
  EXPECT_EQ(domains_of_ranks(four_cards(), {0, 1, 0, 1, 0, 1, 0, 1}),
            "cxi0 cxi2 cxi1 cxi3 cxi0 cxi2 cxi1 cxi3");
}

// cxi2 is down, so it is not among the cards.
TEST(NearestCard, IsNoneThatIsDown) {
  std::vector<Card> cards = four_cards();
  cards.erase(cards.begin() + 2);
  EXPECT_EQ(domains_of_ranks(cards, {0, 0, 0, 0, 1, 1, 1, 1}),
            "cxi0 cxi1 cxi0 cxi1 cxi3 cxi3 cxi3 cxi3");
}

TEST(NearestCard, IsAnyInTurnIfNoCardIsNear) {
  const std::vector<int> far(5, 2);
  EXPECT_EQ(domains_of_ranks(four_cards(), far), "cxi0 cxi1 cxi2 cxi3 cxi0");
  EXPECT_EQ(domains_of_ranks(four_cards(), {2, 3, 4, 5}), "cxi0 cxi1 cxi2 cxi3");
  const std::vector<int> unknown(5, -1);
  EXPECT_EQ(domains_of_ranks(four_cards(), unknown), "cxi0 cxi1 cxi2 cxi3 cxi0");
}

// psm3 lists a card once for each of its kinds of endpoints.
TEST(NearestCard, CountsACardOnce) {
  std::vector<Card> cards;
  for (const Card& card : four_cards()) cards.insert(cards.end(), 2, card);
  EXPECT_EQ(domains_of_ranks(cards, {0, 0, 1, 1}), "cxi0 cxi1 cxi2 cxi3");
}

// Sockets are the kernel's, whatever interface their packets take.
TEST(NearestCard, IsTheFirstInterfaceIfThereAreNoCards) {
  const std::vector<Card> interfaces{{"tcp", "10.0.0.0/24", "eth0"},
                                     {"tcp", "10.0.0.0/24", "eth1"}};
  EXPECT_EQ(domains_of_ranks(interfaces, {0, 0, 1}), "eth0 eth0 eth0");
}

TEST(NearestCard, IsOfTheChosenNetwork) {
  const std::vector<Card> cards{{"verbs;ofi_rxm", "IB-0xfe80", "mlx5_0", true, 0},
                                {"verbs;ofi_rxm", "IB-0xfe81", "mlx5_1", true, 0},
                                {"tcp", "10.0.0.0/24", "eth0"}};
  for (const Card& card : cards) {
    EXPECT_EQ(nearest_card(cards, card.network().network, {0, 1})->domain, card.domain);
  }
  // By the provider alone: cards of its first fabric.
  EXPECT_EQ(nearest_card(cards, cards[1].network().provider, {0, 1})->domain, "mlx5_0");
  EXPECT_EQ(nearest_card(cards, 17, {0, 1}), nullptr);
}

TEST(NetworksOf, ListsEachOnceInOrder) {
  std::vector<Card> cards = four_cards();
  cards.push_back({"tcp", "10.0.0.0/24", "eth0"});
  cards.push_back({"tcp", "10.0.1.0/24", "eth1"});
  const OfferedNetworks offered = networks_of(cards);
  EXPECT_EQ(offered.networks[0].network, cards[0].network().network);
  EXPECT_EQ(offered.networks[1].network, cards[4].network().network);
  EXPECT_EQ(offered.networks[2].network, cards[5].network().network);
  EXPECT_EQ(offered.networks[3].network, 0u);
  EXPECT_EQ(offered.networks[1].provider, offered.networks[2].provider);
  EXPECT_EQ(std::string(offered.names.data()),
            "cxi on cxi, tcp on 10.0.0.0/24, tcp on 10.0.1.0/24");
}

TEST(NetworksOf, LeavesOutThoseForWhichThereIsNoRoom) {
  std::vector<Card> cards;
  for (int i = 0; i < 20; ++i)
    cards.push_back({"tcp", "10.0." + std::to_string(i) + ".0/24", "eth0"});
  const OfferedNetworks offered = networks_of(cards);
  EXPECT_EQ(offered.networks.back().network, cards[OfferedNetworks::most - 1].network().network);
  EXPECT_EQ(offered.names.back(), '\0');
}

/// An offer of this provider.
struct Offer {
  explicit Offer(std::string provider) : name(std::move(provider)) {
    fabric.prov_name = name.data();
    info.caps = FI_MSG | FI_RMA;
    info.fabric_attr = &fabric;
    info.domain_attr = &domain;
    info.ep_attr = &endpoint;
    info.tx_attr = &sending;
    info.rx_attr = &receiving;
  }
  std::string name;
  fi_fabric_attr fabric{};
  fi_domain_attr domain{};
  fi_ep_attr endpoint{};
  fi_tx_attr sending{};
  fi_rx_attr receiving{};
  fi_info info{};
};

void set_address(Offer& offer, sockaddr_in& storage, std::uint32_t address) {
  storage.sin_family = AF_INET;
  storage.sin_addr.s_addr = htonl(address);
  offer.info.src_addr = &storage;
  offer.info.addr_format = FI_SOCKADDR_IN;
}

TEST(MoveLast, MovesBridgesOfContainersAndCardsEmulatedByTcp) {
  Offer docker("tcp");
  Offer bridged("tcp");
  Offer ethernet("tcp");
  Offer psm3("psm3");
  Offer omni_path("psm3");
  psm3.fabric.name = const_cast<char*>("TCP-10.0.0.0/24");
  omni_path.fabric.name = const_cast<char*>("IB/OPA-0xfe80");
  std::array<sockaddr_in, 3> storage{};
  set_address(docker, storage[0], 0xac110001);
  set_address(bridged, storage[1], 0x0a010001);
  set_address(ethernet, storage[2], 0x0a000001);
  const std::vector<InterfaceAddress> own{{IpAddress::v4(0xac110001), 112, false, true},
                                          {IpAddress::v4(0x0a010001), 120, true, true},
                                          {IpAddress::v4(0x0a000001), 120, false, false}};
  std::vector<fi_info*> offers{&docker.info, &psm3.info, &bridged.info, &ethernet.info,
                               &omni_path.info};
  move_last(offers, own);
  EXPECT_EQ(offers, (std::vector<fi_info*>{&bridged.info, &ethernet.info, &omni_path.info,
                                           &psm3.info, &docker.info}));
}

TEST(CardOf, HasTheAddressOfTheProcess) {
  Offer one("tcp");
  Offer other("tcp");
  std::array<sockaddr_in, 2> storage{};
  EXPECT_EQ(card_of(one.info).address, 0u);
  set_address(one, storage[0], 0x0a000001);
  set_address(other, storage[1], 0x0a000002);
  EXPECT_NE(card_of(one.info).address, 0u);
  EXPECT_NE(card_of(one.info).network().address, card_of(other.info).network().address);
  storage[1] = storage[0];
  storage[1].sin_port = 7;  // a port of the offer does not count
  EXPECT_EQ(card_of(one.info).network().address, card_of(other.info).network().address);
}

// Older libfabrics name efa's fabric by its device.
TEST(CardOf, HasOneNetworkForAllDevicesOfEfa) {
  Offer one("efa");
  Offer other("efa");
  one.fabric.name = const_cast<char*>("EFA-fe80::1");
  other.fabric.name = const_cast<char*>("EFA-fe80::2");
  EXPECT_EQ(card_of(one.info).network().network, card_of(other.info).network().network);
}

TEST(CardOf, ReadsTheNumaNodeOfItsDevice) {
  namespace fs = std::filesystem;
  const fs::path devices =
      fs::temp_directory_path() / ("oriel_cards." + std::to_string(::getpid()));
  fs::create_directories(devices / "0001:a1:00.2");
  std::ofstream(devices / "0001:a1:00.2" / "numa_node") << "3\n";
  Offer offer("cxi");
  EXPECT_FALSE(card_of(offer.info, devices).on_pci);
  fi_bus_attr bus{};
  fid_nic nic{};
  nic.bus_attr = &bus;
  offer.info.nic = &nic;
  EXPECT_FALSE(card_of(offer.info, devices).on_pci);
  bus.bus_type = FI_BUS_PCI;
  bus.attr.pci = {1, 0xa1, 0, 2};
  EXPECT_TRUE(card_of(offer.info, devices).on_pci);
  EXPECT_EQ(card_of(offer.info, devices).numa_node, 3);
  bus.attr.pci.function_id = 1;
  EXPECT_EQ(card_of(offer.info, devices).numa_node, -1);
  fs::remove_all(devices);
}

// Atomics by another provider than the messages', on the card of these.
TEST(ClosestOffer, IsOfTheCardElseOfItsDeviceElseOfItsFabric) {
  std::vector<Offer> offers;
  for (const char* provider : {"verbs;ofi_rxm", "verbs;ofi_rxm", "udp;ofi_rxd", "verbs;ofi_rxm"}) {
    offers.emplace_back(provider);
  }
  char fabrics[][5] = {"far", "near", "near", "near"};
  char domains[][5] = {"ib0", "ib0", "ib1", "ib1"};
  std::vector<fi_info*> listed;
  for (std::size_t i = 0; i < 4; ++i) {
    Offer& offer = offers[i];
    offer.fabric.prov_name = offer.name.data();
    offer.fabric.name = fabrics[i];
    offer.domain.name = domains[i];
    offer.info.fabric_attr = &offer.fabric;
    offer.info.domain_attr = &offer.domain;
    listed.push_back(&offer.info);
  }
  const auto chosen = [&](const Card& card) {
    const fi_info* offer = closest_offer(listed, card);
    return offer != nullptr ? std::ranges::find(listed, offer) - listed.begin() : -1;
  };
  EXPECT_EQ(chosen({"verbs;ofi_rxm", "near", "ib1"}), 3);
  EXPECT_EQ(chosen({"verbs;ofi_rxd", "near", "ib1"}), 2);
  EXPECT_EQ(chosen({"verbs;ofi_rxm", "near", "ib7"}), 1);
  EXPECT_EQ(chosen({"verbs;ofi_rxm", "else", "ib0"}), -1);
}

// The endpoint of the messages has atomics only if they change nothing for puts, gets and messages.
TEST(AddsAtomics, IsTrueIfNothingElseDiffers) {
  Offer without("cxi");
  Offer with("cxi");
  const auto order = FI_ORDER_SAS | FI_ORDER_SAW;
  without.sending.msg_order = without.receiving.msg_order = order;
  with.sending.msg_order = with.receiving.msg_order = order | FI_ORDER_ATOMIC_RAR;
  EXPECT_FALSE(adds_atomics(with.info, without.info));
  with.info.caps |= FI_ATOMIC;
  EXPECT_TRUE(adds_atomics(with.info, without.info));
  with.domain.mr_mode = FI_MR_LOCAL;
  EXPECT_FALSE(adds_atomics(with.info, without.info)) << "puts need registrations";
  with.domain.mr_mode = 0;
  with.receiving.msg_order = FI_ORDER_SAS | FI_ORDER_ATOMIC_RAR;
  EXPECT_FALSE(adds_atomics(with.info, without.info)) << "as tcp;ofi_rxm";
  with.receiving.msg_order = order;
  EXPECT_FALSE(adds_atomics(with.info, without.info)) << "without an order of atomics";
}

std::string wishes_of(const fi_info& offer) {
  std::string text;
  for (const Wish& wish : wishes_for(offer)) {
    EXPECT_NE(wish.capabilities & FI_RMA, 0u);
    EXPECT_NE(wish.order & FI_ORDER_SAS, 0u);
    if (!text.empty()) text += ", ";
    if ((wish.order & FI_ORDER_SAW) != 0) text += "ordered";
    if (wish.operation_flags != 0) text += "delivered";
  }
  return text;
}

// With a card, delivered writes are preferred to ordered ones: a flush of ordered writes asks the
// target.
TEST(WishesFor, OfACardAreDeliveredWritesFirst) {
  EXPECT_EQ(wishes_of(Offer("verbs;ofi_rxm").info), "ordereddelivered, delivered, ordered");
  EXPECT_EQ(wishes_of(Offer("psm3").info), "ordered, delivered");
}

TEST(WishesFor, AreNoneIfSoftwareKeepsTheOrder) {
  Offer offer("tcp");
  EXPECT_EQ(wishes_of(offer.info), "ordered, delivered");
  offer.sending.msg_order = offer.receiving.msg_order = FI_ORDER_SAS | FI_ORDER_SAW;
  EXPECT_EQ(wishes_of(offer.info), "");
}

TEST(ReachesOthers, NeitherByLoopbackNorByLinkLocalAddresses) {
  Offer offer("tcp");
  EXPECT_TRUE(reaches_others(offer.info));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  offer.info.src_addr = &four;
  offer.info.addr_format = FI_SOCKADDR_IN;
  four.sin_addr.s_addr = htonl(0x7f000001);
  EXPECT_FALSE(reaches_others(offer.info));
  four.sin_addr.s_addr = htonl(0x0a000001);
  EXPECT_TRUE(reaches_others(offer.info));
  offer.info.caps |= FI_LOCAL_COMM;
  EXPECT_FALSE(reaches_others(offer.info));
  offer.info.caps |= FI_REMOTE_COMM;
  EXPECT_TRUE(reaches_others(offer.info));
}

// libfabric 1.17 says nothing of shm.
TEST(ReachesOthers, NotBySharedMemory) {
  EXPECT_FALSE(reaches_others(Offer("shm").info));
  EXPECT_TRUE(reaches_others(Offer("shm+cxi;ofi_lnx").info));
}

}  // namespace
}  // namespace oriel
