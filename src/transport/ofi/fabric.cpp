// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/fabric.hpp"

#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string_view>

#include "core/base/limits.hpp"
#include "core/transport/transport.hpp"

namespace oriel {
namespace {

using Carrier = Fabric::Carrier;

// The maximal bytes of a direct transfer over a TCP with pacing.
constexpr std::uint64_t longest_at_a_pace = std::uint64_t{128} * 1024;

/// Facts about a provider that no attribute has, by the name of the provider's lowest layer.
struct Provider {
  std::string_view name;
  Carrier carrier;
  bool signals_arrivals;
  bool kernel_ip = false;
  bool one_node = false;
};

/// From libfabric's sources (1.11 to 2.5):
/// - cxi: Cassini carries out writes, reads and atomics. With delivery-complete it reads back over
///   PCIe before it acknowledges. It matches sends in hardware, but a long send waits for a
///   receive.
/// - verbs: the layer ofi_rxm passes writes and reads on to the card. Its long sends are reads by
///   the receiver's software.
/// - efa: a card of the second generation or later writes and reads; before, the provider emulates
///   both. Its order of sends is made by the receiver's software.
/// - ucx, mlx: UCX passes writes on to the card, but the provider promises neither their order nor
///   their delivery.
/// - tcp, net, sockets: the target's software copies each write out of the socket. The kernel
///   accepts a send.
/// - psm3, psm2, opx: active messages of the target's software write; a send may be a rendezvous. A
///   descriptor of psm3 is signaled by the call that puts a completion into its queue.
/// - udp and all others below ofi_rxd: the peer's software acknowledges each packet.
/// - shm, and lnx above it: the target's software takes commands out of a queue. shm of 1.17 offers
///   neither FI_LOCAL_COMM nor FI_REMOTE_COMM.
constexpr std::array providers{
    Provider{"cxi", Carrier::card, true},
    Provider{"verbs", Carrier::card, true},
    Provider{"efa", Carrier::card, true},
    Provider{"ucx", Carrier::card, true},
    Provider{"mlx", Carrier::card, true},
    Provider{"tcp", Carrier::software, true, true},
    Provider{"net", Carrier::software, true, true},
    Provider{"sockets", Carrier::software, true, true},
    Provider{"udp", Carrier::software, true, true},
    Provider{"shm", Carrier::software, false, false, true},
};
constexpr Provider unknown{"", Carrier::software, false};

/// Returns whether the provider hands writes and reads on to the device of EFA. It does not for the
/// first generation, for the second only if interface 1.18 or later has been requested, and not if
/// the user has disabled it.
bool efa_device_writes(const fi_info& offer) {
  const char* enabled = ::secure_getenv("FI_EFA_USE_DEVICE_RDMA");
  if (enabled != nullptr && std::strcmp(enabled, "0") == 0) return false;
  if (offer.nic == nullptr || offer.nic->device_attr == nullptr ||
      offer.nic->device_attr->device_id == nullptr) {
    return false;
  }
  constexpr unsigned long second_generation = 0xefa1;
  const unsigned long id = std::strtoul(offer.nic->device_attr->device_id, nullptr, 16);
  return id > second_generation ||
         (id == second_generation && offer.fabric_attr->api_version >= FI_VERSION(1, 18));
}

Provider provider_of(const fi_info& offer) {
  const std::string_view name = offer.fabric_attr->prov_name;
  const std::string_view lowest = name.substr(0, name.find(';'));
  const auto found = std::ranges::find(providers, lowest, &Provider::name);
  if (found == providers.end()) return unknown;
  Provider provider = *found;
  if (name.find("ofi_rxd") != std::string_view::npos) provider.carrier = Carrier::software;
  if (lowest == "efa" && !efa_device_writes(offer)) provider.carrier = Carrier::software;
  return provider;
}

bool by_tcp(std::string_view provider) {
  return provider.find("tcp") != std::string_view::npos ||
         provider.find("sockets") != std::string_view::npos;
}

std::uint64_t longest_accepted(const fi_info& offer) {
  const std::uint64_t accepted = offer.ep_attr->max_msg_size;
  return accepted != 0 ? accepted : std::numeric_limits<std::uint64_t>::max();
}

/// The maximal bytes of a direct transfer: as many as the provider accepts, but fewer over a TCP
/// with pacing (BBR). BBR's estimate of the bandwidth is too low if much data queues in a socket,
/// and has no effect on data that is sent at once: 1 MB in such parts takes half the time. Any
/// other TCP takes two thirds of the time if it gets much data at once.
std::uint64_t longest_transfer(const fi_info& offer, bool paced_tcp) {
  const std::uint64_t longest = longest_accepted(offer);
  const bool paced = paced_tcp && by_tcp(offer.fabric_attr->prov_name);
  return paced ? std::min(longest, longest_at_a_pace) : longest;
}

/// Returns whether both ends keep this order.
bool keeps(const fi_info& offer, std::uint64_t order) {
  return (offer.tx_attr->msg_order & offer.rx_attr->msg_order & order) == order;
}

const char* name_of(Carrier carrier) {
  return carrier == Carrier::card ? "the card" : "the target's software";
}

}  // namespace

Carrier carrier_of(const fi_info& offer) {
  return provider_of(offer).carrier;
}

bool only_within_node(const fi_info& offer) {
  return provider_of(offer).one_node;
}

bool has_ip_address(const fi_info& offer) {
  return offer.addr_format == FI_SOCKADDR || offer.addr_format == FI_SOCKADDR_IN ||
         offer.addr_format == FI_SOCKADDR_IN6;
}

bool emulated_by_tcp(const fi_info& offer) {
  // Its fabrics are "TCP-10.0.0.0/24" or a list of such.
  return offer.fabric_attr->prov_name == std::string_view("psm3") &&
         offer.fabric_attr->name != nullptr &&
         std::string_view(offer.fabric_attr->name).find("TCP-") != std::string_view::npos;
}

Fabric fabric_of(const fi_info& offer, bool paced_tcp) {
  const Provider provider = provider_of(offer);
  Fabric fabric;
  const std::string_view name = offer.fabric_attr->prov_name;
  fabric.kernel_ip = provider.kernel_ip || emulated_by_tcp(offer);
  // A provider that makes progress by itself puts completions into their queue by itself.
  fabric.signals_arrivals =
      provider.signals_arrivals || offer.domain_attr->data_progress == FI_PROGRESS_AUTO;
  // The peer's software acknowledges each packet of ofi_rxd. The end of an injected one is not
  // reported, and that of a packet behind it needs the peer once more, which may have left then.
  const bool acknowledged = name.find("ofi_rxd") != std::string_view::npos;
  fabric.inject_bytes = acknowledged ? 0 : offer.tx_attr->inject_size;
  fabric.longest = longest_transfer(offer, paced_tcp);
  fabric.longest_message = longest_accepted(offer);
  // opx sets the limit to 0 and accepts one run.
  fabric.runs = std::clamp<std::size_t>(
      std::min(offer.tx_attr->iov_limit, offer.tx_attr->rma_iov_limit), 1, Messages::most_runs);
  // A fetching atomic of ofi_rxd expects as many packets as the message had whose record it reuses,
  // so it does not end behind a message of several packets (libfabric 2.5; 1.17 crashes).
  fabric.atomics =
      !acknowledged && (offer.caps & FI_ATOMIC) != 0 && keeps(offer, FI_ORDER_ATOMIC_RAR);
  if ((offer.caps & FI_RMA) == 0) return fabric;
  fabric.orders_writes = keeps(offer, FI_ORDER_SAW);
  // ofi_rxm grants delivery-complete for its messages, and passes writes on to a provider that may
  // not have it. Below it, only verbs completes a write that a later message cannot overtake.
  const bool by_rxm = name.find("ofi_rxm") != std::string_view::npos;
  fabric.delivers_writes =
      (offer.tx_attr->op_flags & FI_DELIVERY_COMPLETE) != 0 && (!by_rxm || fabric.orders_writes);
  if (!fabric.orders_writes && !fabric.delivers_writes) return fabric;
  fabric.carrier = provider.carrier;
  // The provider keeps the order of writes of at most max_order_waw_size bytes.
  if (fabric.orders_writes && keeps(offer, FI_ORDER_WAW) &&
      offer.ep_attr->max_order_waw_size >= fabric.longest) {
    fabric.immediate_bytes = offer.domain_attr->cq_data_size;
  }
  return fabric;
}

std::string Fabric::description() const {
  if (!direct()) return "without direct transfers";
  std::string text = "direct transfers of ";
  text += carrier == Carrier::card
              ? "every length"
              : "more than " + std::to_string(Limits().direct_from - 1) + " bytes";
  text += std::string(", carried out by ") + name_of(carrier) + ", writes ";
  text += orders_writes ? delivers_writes ? "ordered and delivered" : "ordered" : "delivered";
  return text + ", " +
         (immediate_bytes != 0 ? std::to_string(immediate_bytes) + " bytes of" : "no") +
         " immediate data";
}

bool tcp_is_paced() {
  std::ifstream setting("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string name;
  return setting >> name && name.starts_with("bbr");
}

}  // namespace oriel
