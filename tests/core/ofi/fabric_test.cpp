// SPDX-License-Identifier: BSD-3-Clause
// B14: what the attributes of a provider say about its network. The attributes are those that the
// providers of libfabric return (prov/*/src/*_attr.c, *_info.c and *_init.c of its sources).
#include "transport/ofi/fabric.hpp"

#include <gtest/gtest.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace oriel {
namespace {

using Carrier = Fabric::Carrier;

constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();
constexpr std::uint64_t atomics =
    FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
constexpr std::uint64_t reads_first = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS;
constexpr std::uint64_t stream =
    FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAS | FI_ORDER_WAW | reads_first;
constexpr std::uint64_t all_orders = stream | FI_ORDER_WAR | FI_ORDER_SAR;
constexpr std::uint64_t delivery = FI_DELIVERY_COMPLETE;

/// The attributes of a provider that Fabric depends on, and what follows from them.
struct Case {
  const char* provider;
  std::uint64_t order;
  std::uint64_t flags;  // of operations, granted
  std::size_t immediate_bytes;
  std::size_t ordered_bytes;  // max_order_waw_size
  std::size_t longest;
  std::size_t inject_bytes;
  std::size_t runs_here;
  std::size_t runs_there;
  Fabric expected;
  const char* device_id = nullptr;
  std::uint64_t capabilities = FI_MSG | FI_RMA;
};

Fabric fabric(Carrier carrier, bool orders, bool delivers, std::size_t immediate,
              std::size_t runs) {
  Fabric made;
  made.carrier = carrier;
  made.orders_writes = orders;
  made.delivers_writes = delivers;
  made.immediate_bytes = immediate;
  made.runs = runs;
  return made;
}

const std::vector<Case>& cases() {
  constexpr Carrier none = Carrier::none;
  constexpr Carrier software = Carrier::software;
  constexpr Carrier card = Carrier::card;
  constexpr std::size_t gigabyte = std::size_t{1} << 30;
  static const std::vector<Case> all{
      // It copies the requested order, and has none between writes and messages.
      {"cxi", FI_ORDER_SAS | FI_ORDER_WAW | atomics, delivery, 8, any_size, gigabyte, 192, 1, 1,
       fabric(card, false, true, 0, 1)},
      {"efa", FI_ORDER_SAS | atomics, delivery, 4, 0, any_size, 3920, 4, 1,
       fabric(card, false, true, 0, 1), "0xefa2"},
      // The first generation has no writes. The provider emulates them.
      {"efa", FI_ORDER_SAS | atomics, delivery, 4, 0, any_size, 3920, 4, 1,
       fabric(software, false, true, 0, 1), "0xefa0"},
      // efa-direct: it orders nothing.
      {"efa", 0, delivery, 4, 0, gigabyte, 32, 2, 1, fabric(card, false, true, 0, 1), "0xefa3",
       FI_MSG | FI_RMA},
      {"verbs;ofi_rxm", stream, delivery, 4, gigabyte, gigabyte, 16320, 4, 1,
       fabric(card, true, true, 4, 1)},
      {"verbs;ofi_rxd", stream | atomics, 0, 8, any_size, any_size, 1256, 4, 4,
       fabric(software, true, false, 8, 4)},
      // Writes of at most 4 KB are ordered with one another, none with messages.
      {"psm3", FI_ORDER_SAS | FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR | FI_ORDER_WAW | atomics,
       delivery, 4, 4096, 4294963200, 64, 13, 1, fabric(software, false, true, 0, 1)},
      // It accepts any hint and returns its own order: no message follows a write.
      {"opx", atomics, 0, 4, 0, gigabyte, 16, any_size, 0, fabric(none, false, false, 0, 1)},
      {"opx", atomics, delivery, 4, 0, gigabyte, 16, any_size, 0,
       fabric(software, false, true, 0, 1)},
      {"tcp", stream, 0, 8, any_size, any_size, 128, 4, 4, fabric(software, true, false, 8, 4)},
      {"tcp;ofi_rxm", stream, 0, 8, any_size, any_size, 64, 4, 4,
       fabric(software, true, false, 8, 4)},
      {"net", stream, 0, 8, any_size, any_size, 128, 4, 4, fabric(software, true, false, 8, 4)},
      {"sockets", all_orders, 0, 8, any_size - 4096, any_size - 4096, 255, 8, 8,
       fabric(software, true, false, 8, 8)},
      {"udp;ofi_rxd", stream | atomics, 0, 8, any_size, any_size, 1256, 4, 4,
       fabric(software, true, false, 8, 4)},
      {"shm", all_orders | atomics, 0, 8, any_size, any_size, 4096, 4, 4,
       fabric(software, true, false, 8, 4)},
      {"shm+cxi;ofi_lnx", FI_ORDER_SAS | FI_ORDER_WAW, delivery, 8, any_size, gigabyte, 192, 1, 1,
       fabric(software, false, true, 0, 1)},
      // UCX promises neither order nor delivery.
      {"ucx", FI_ORDER_SAS, 0, 0, 0, any_size, 1024, 1, 1, fabric(none, false, false, 0, 1)},
      // ofi_rxm grants delivery of its own messages; the writes are those of mlx.
      {"mlx;ofi_rxm", FI_ORDER_SAS, delivery, 0, 0, any_size, 16320, 1, 1,
       fabric(none, false, false, 0, 1)},
      // An unknown provider with the attributes of a card is carried out by software.
      {"carrier-pigeon", stream, delivery, 8, any_size, any_size, 0, 1, 1,
       fabric(software, true, true, 8, 1)},
      // A provider without RMA, whatever else it says.
      {"tcp", stream, delivery, 8, any_size, any_size, 128, 4, 4, fabric(none, false, false, 0, 4),
       nullptr, FI_MSG},
  };
  return all;
}

/// Attributes as a provider returns them, with all the structures that they need.
struct Attributes {
  explicit Attributes(const Case& one) : name(one.provider), id(one.device_id) {
    offer.caps = one.capabilities;
    sending.msg_order = receiving.msg_order = one.order;
    sending.op_flags = one.flags;
    sending.inject_size = one.inject_bytes;
    sending.iov_limit = one.runs_here;
    sending.rma_iov_limit = one.runs_there;
    endpoint.max_msg_size = one.longest;
    endpoint.max_order_waw_size = one.ordered_bytes;
    domain.cq_data_size = one.immediate_bytes;
    fabric.prov_name = name.data();
    fabric.api_version = FI_VERSION(1, 18);
    offer.tx_attr = &sending;
    offer.rx_attr = &receiving;
    offer.ep_attr = &endpoint;
    offer.domain_attr = &domain;
    offer.fabric_attr = &fabric;
    if (id == nullptr) return;
    device.device_id = const_cast<char*>(id);
    nic.device_attr = &device;
    offer.nic = &nic;
  }

  std::string name;
  const char* id;
  fi_tx_attr sending{};
  fi_rx_attr receiving{};
  fi_ep_attr endpoint{};
  fi_domain_attr domain{};
  fi_fabric_attr fabric{};
  fi_device_attr device{};
  fid_nic nic{};
  fi_info offer{};
};

TEST(FabricOf, FollowsTheAttributesThatAProviderHasReturned) {
  for (const Case& one : cases()) {
    const Attributes attributes(one);
    const Fabric found = fabric_of(attributes.offer, false);
    SCOPED_TRACE(std::string(one.provider) + ": " + found.description());
    EXPECT_EQ(found.carrier, one.expected.carrier);
    EXPECT_EQ(found.orders_writes, one.expected.orders_writes);
    EXPECT_EQ(found.delivers_writes, one.expected.delivers_writes);
    EXPECT_EQ(found.immediate_bytes, one.expected.immediate_bytes);
    const bool injects = !std::string(one.provider).ends_with("ofi_rxd");
    EXPECT_EQ(found.inject_bytes, injects ? one.inject_bytes : 0);
    EXPECT_EQ(found.runs, one.expected.runs);
    EXPECT_EQ(found.longest, one.longest);
  }
}

// `oriel info` and the lifelines depend on it. psm3 over TCP has addresses of its own.
TEST(FabricOf, SaysWhetherTheKernelsIpCarriesIt) {
  const std::vector<std::string> kernels{"tcp", "tcp;ofi_rxm", "net", "sockets", "udp;ofi_rxd"};
  for (const Case& one : cases()) {
    const Attributes attributes(one);
    const bool expected = std::ranges::find(kernels, one.provider) != kernels.end();
    EXPECT_EQ(fabric_of(attributes.offer, false).kernel_ip, expected) << one.provider;
  }
  const auto psm3 = std::ranges::find(cases(), std::string("psm3"), &Case::provider);
  Attributes attributes(*psm3);
  attributes.fabric.name = const_cast<char*>("TCP-10.0.0.0/24");
  EXPECT_TRUE(fabric_of(attributes.offer, false).kernel_ip);
}

// A user who disables the RDMA of EFA has the provider's software instead.
TEST(FabricOf, RespectsTheSettingOfEfa) {
  const auto efa = std::ranges::find(cases(), std::string("efa"), &Case::provider);
  const Attributes attributes(*efa);
  ASSERT_EQ(carrier_of(attributes.offer), Carrier::card);
  ::setenv("FI_EFA_USE_DEVICE_RDMA", "0", 1);
  EXPECT_EQ(carrier_of(attributes.offer), Carrier::software);
  ::setenv("FI_EFA_USE_DEVICE_RDMA", "1", 1);
  EXPECT_EQ(carrier_of(attributes.offer), Carrier::card);
  ::unsetenv("FI_EFA_USE_DEVICE_RDMA");
}

// The receiver may keep less order than the sender.
TEST(FabricOf, HasTheOrderThatBothEndsKeep) {
  Attributes attributes(cases().front());
  attributes.sending.msg_order = stream;
  EXPECT_FALSE(fabric_of(attributes.offer, false).orders_writes);
  attributes.receiving.msg_order = stream;
  EXPECT_TRUE(fabric_of(attributes.offer, false).orders_writes);
}

TEST(FabricOf, HasAtomicsIfBothEndsKeepTheirOrder) {
  for (const Case& one : cases()) {
    Attributes attributes(one);
    attributes.offer.caps |= FI_ATOMIC;
    const bool expected =
        (one.order & atomics) != 0 && !std::string(one.provider).ends_with("ofi_rxd");
    EXPECT_EQ(fabric_of(attributes.offer, false).atomics, expected) << one.provider;
  }
  Attributes attributes(cases().front());
  EXPECT_FALSE(fabric_of(attributes.offer, false).atomics);
  attributes.offer.caps |= FI_ATOMIC;
  EXPECT_TRUE(fabric_of(attributes.offer, false).atomics);
  attributes.receiving.msg_order &= ~FI_ORDER_ATOMIC_RAR;
  EXPECT_FALSE(fabric_of(attributes.offer, false).atomics);
}

TEST(FabricOf, UsesImmediateDataOnlyIfAllWritesAreOrdered) {
  for (const Case& one : cases()) {
    if (one.expected.immediate_bytes == 0) continue;
    Attributes attributes(one);
    attributes.endpoint.max_order_waw_size = 4096;
    EXPECT_EQ(fabric_of(attributes.offer, false).immediate_bytes, 0u) << one.provider;
    attributes.endpoint.max_order_waw_size = any_size;
    attributes.sending.msg_order &= ~FI_ORDER_WAW;
    EXPECT_EQ(fabric_of(attributes.offer, false).immediate_bytes, 0u) << one.provider;
  }
}

// The second generation of EFA writes only if interface 1.18 has been requested.
TEST(FabricOf, KnowsWhichDevicesOfEfaWrite) {
  for (const char* id : {"0xefa0", "0xefa1", "0xefa2"}) {
    Case one = cases()[1];
    one.device_id = id;
    Attributes attributes(one);
    const bool first = std::string(id) == "0xefa0";
    EXPECT_EQ(fabric_of(attributes.offer, false).carrier,
              first ? Carrier::software : Carrier::card);
    attributes.fabric.api_version = FI_VERSION(1, 17);
    const bool third = std::string(id) == "0xefa2";
    EXPECT_EQ(fabric_of(attributes.offer, false).carrier,
              third ? Carrier::card : Carrier::software);
  }
}

// The completion queue of an unknown provider may have a descriptor that nothing signals.
TEST(FabricOf, KnowsWhichProvidersSignalArrivals) {
  for (const Case& one : cases()) {
    const std::string name = one.provider;
    const bool silent =
        name == "psm3" || name == "opx" || name.starts_with("shm") || name == "carrier-pigeon";
    Attributes attributes(one);
    attributes.domain.data_progress = FI_PROGRESS_MANUAL;
    EXPECT_EQ(fabric_of(attributes.offer, false).signals_arrivals, !silent) << name;
    attributes.domain.data_progress = FI_PROGRESS_AUTO;
    EXPECT_TRUE(fabric_of(attributes.offer, false).signals_arrivals) << name;
  }
}

TEST(FabricOf, CutsTransfersOverATcpWithPacing) {
  for (const Case& one : cases()) {
    const std::string name = one.provider;
    const bool tcp = name.starts_with("tcp") || name == "sockets";
    const Attributes attributes(one);
    EXPECT_EQ(fabric_of(attributes.offer, true).longest,
              tcp ? std::size_t{128} * 1024 : one.longest)
        << name;
  }
}

// The limit is not set: 0 is no length.
TEST(FabricOf, HasNoLongestTransferIfTheProviderNamesNone) {
  Case one = cases().front();
  one.longest = 0;
  EXPECT_EQ(fabric_of(Attributes(one).offer, false).longest,
            std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace oriel
