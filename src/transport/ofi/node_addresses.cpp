// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/node_addresses.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>

#include "transport/ofi/tcp_socket.hpp"

namespace oriel {
namespace {

constexpr unsigned v4_prefix = 96;  // bits before the IPv4 address

bool in_subnet(const IpAddress& address, const IpAddress& subnet, unsigned prefix) {
  for (unsigned i = 0; i < prefix; ++i) {
    if (((address.bytes[i / 8] ^ subnet.bytes[i / 8]) >> (7 - i % 8) & 1) != 0) return false;
  }
  return true;
}

unsigned prefix_of(const sockaddr* mask) {
  if (mask == nullptr) return InterfaceAddress().prefix;
  const IpAddress bits = ip_address_of(*mask);
  unsigned count = 0;
  for (const std::uint8_t byte : bits.bytes) count += static_cast<unsigned>(std::popcount(byte));
  // The IPv6 form of an IPv4 mask has 16 bits more.
  return bits.is_v4() ? v4_prefix + count - 16 : count;
}

/// The names of the interfaces that have a default route.
std::set<std::string> interfaces_with_default_route() {
  std::set<std::string> names;
  std::string line;
  std::ifstream four("/proc/net/route");
  while (std::getline(four, line)) {
    std::istringstream words(line);
    std::string name;
    std::string destination;
    std::string skipped;
    std::string mask;
    words >> name >> destination;
    for (int i = 0; i < 5; ++i) words >> skipped;
    if (words >> mask && destination == "00000000" && mask == "00000000") names.insert(name);
  }
  std::ifstream six("/proc/net/ipv6_route");
  while (std::getline(six, line)) {
    std::istringstream words(line);
    std::string destination;
    std::string prefix;
    std::string name;
    words >> destination >> prefix;
    while (words >> name) {
    }
    if (prefix == "00" && destination == std::string(32, '0')) names.insert(name);
  }
  return names;
}

std::vector<InterfaceAddress> interface_addresses() {
  std::vector<InterfaceAddress> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  const std::set<std::string> default_route = interfaces_with_default_route();
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    constexpr unsigned up = IFF_UP | IFF_RUNNING;
    if (one->ifa_addr == nullptr || (one->ifa_flags & (up | IFF_LOOPBACK)) != up) continue;
    std::error_code none;
    const std::filesystem::path folder = std::filesystem::path("/sys/class/net") / one->ifa_name;
    InterfaceAddress added;
    added.address = ip_address_of(*one->ifa_addr);
    added.prefix = prefix_of(one->ifa_netmask);
    added.default_route = default_route.contains(one->ifa_name);
    added.bridge = std::filesystem::exists(folder / "bridge", none);
    found.push_back(added);
  }
  ::freeifaddrs(list);
  return found;
}

/// The network namespace of this process: processes that share one have the same addresses.
LifelineName::Words network_namespace() {
  std::string boot;
  if (!(std::ifstream("/proc/sys/kernel/random/boot_id") >> boot)) {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    boot = name.data();
  }
  std::error_code none;
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/net", none).string();
  const std::hash<std::string> hash;
  return {hash(boot), hash(space)};
}

}  // namespace

bool may_be_reached(const IpAddress& address) {
  const auto v6 = [](std::uint8_t first, std::uint8_t second) {
    IpAddress made;
    made.bytes[0] = first;
    made.bytes[1] = second;
    return made;
  };
  if (address.is_v4()) {
    return !in_subnet(address, IpAddress::v4(0), v4_prefix + 8) &&
           !in_subnet(address, IpAddress::v4(0x7f00'0000), v4_prefix + 8) &&
           !in_subnet(address, IpAddress::v4(0xa9fe'0000), v4_prefix + 16) &&
           !in_subnet(address, IpAddress::v4(0xe000'0000), v4_prefix + 4);
  }
  return !in_subnet(address, IpAddress(), v4_prefix) && !in_subnet(address, v6(0xfe, 0x80), 10) &&
         !in_subnet(address, v6(0xff, 0), 8);
}

NodeAddresses addresses_of_endpoint(std::span<const std::byte> address) {
  NodeAddresses own;
  sockaddr_storage storage{};
  if (address.empty() || address.size() > sizeof storage) return own;
  std::memcpy(&storage, address.data(), address.size());
  const IpAddress found = ip_address_of(reinterpret_cast<const sockaddr&>(storage));
  if (found == IpAddress()) return own;
  static_assert(sizeof own.node == sizeof found.bytes);
  std::memcpy(own.node.data(), found.bytes.data(), sizeof own.node);
  own.all.push_back({found});
  own.of_endpoint = true;
  return own;
}

NodeAddresses addresses_of_node() {
  NodeAddresses own;
  own.node = network_namespace();
  own.all = interface_addresses();
  sort_addresses(own.all);
  return own;
}

void sort_addresses(std::vector<InterfaceAddress>& addresses) {
  std::erase_if(addresses,
                [](const InterfaceAddress& one) { return !may_be_reached(one.address); });
  std::ranges::stable_sort(addresses, {}, [](const InterfaceAddress& one) {
    return std::tuple(one.within_node(), !one.address.is_v4(), !one.default_route);
  });
}

std::vector<std::size_t> routes_to(const LifelineName& peer, const NodeAddresses& own) {
  if (peer.of_endpoint != 0 || peer.node == own.node) return {0};
  std::vector<std::size_t> near;
  std::vector<std::size_t> far;
  for (std::size_t i = 0; i < peer.addresses.size(); ++i) {
    const IpAddress& address = peer.addresses[i];
    if (address == IpAddress() ||
        std::ranges::find(own.all, address, &InterfaceAddress::address) != own.all.end()) {
      continue;
    }
    const bool same_subnet = std::ranges::any_of(own.all, [&](const InterfaceAddress& one) {
      return !one.within_node() && in_subnet(address, one.address, one.prefix);
    });
    (same_subnet ? near : far).push_back(i);
  }
  near.insert(near.end(), far.begin(), far.end());
  return near;
}

}  // namespace oriel
