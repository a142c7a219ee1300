// SPDX-License-Identifier: BSD-3-Clause
// B2, B4: the addresses by which nodes reach each other's lifelines, on clusters of several kinds.
#include "transport/ofi/node_addresses.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace oriel {
namespace {

using Strings = std::vector<std::string>;

IpAddress address(const std::string& text) {
  in_addr four{};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) return IpAddress::v4(ntohl(four.s_addr));
  IpAddress six;
  EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), six.bytes.data()), 1) << text;
  return six;
}

/// ADDRESS/PREFIX, and after a blank what the interface is: `default`, `bridge`.
InterfaceAddress interface(const std::string& text) {
  const std::size_t slash = text.find('/');
  InterfaceAddress made;
  made.address = address(text.substr(0, slash));
  made.prefix = static_cast<unsigned>(std::stoul(text.substr(slash + 1)));
  if (made.address.is_v4()) made.prefix += 96;
  made.default_route = text.find("default") != std::string::npos;
  made.bridge = text.find("bridge") != std::string::npos;
  return made;
}

/// A node whose interfaces have these addresses.
NodeAddresses node(std::uint64_t id, const Strings& interfaces) {
  NodeAddresses own;
  own.node = {id, 0};
  for (const std::string& one : interfaces) own.all.push_back(interface(one));
  sort_addresses(own.all);
  return own;
}

std::vector<IpAddress> announced(const NodeAddresses& of) {
  std::vector<IpAddress> sorted;
  for (const InterfaceAddress& one : of.all) sorted.push_back(one.address);
  return sorted;
}

std::vector<IpAddress> addresses(const Strings& texts) {
  std::vector<IpAddress> made;
  for (const std::string& text : texts) made.push_back(address(text));
  return made;
}

/// The addresses by which `own` may reach a process of `other`.
std::vector<IpAddress> routes(const NodeAddresses& own, const NodeAddresses& other) {
  LifelineName name;
  name.node = other.node;
  const std::vector<IpAddress> all = announced(other);
  std::ranges::copy(std::span(all).first(std::min(all.size(), name.addresses.size())),
                    name.addresses.begin());
  std::vector<IpAddress> found;
  for (const std::size_t route : routes_to(name, own)) found.push_back(name.addresses[route]);
  return found;
}

TEST(NodeAddresses, Slingshot) {
  const auto make = [](std::uint64_t id, const std::string& last) {
    return node(id, {"10.168.0." + last + "/17", "10.169.0." + last + "/17",
                     "10.170.0." + last + "/17", "10.171.0." + last + "/17",
                     "10.100.0." + last + "/22 default", "fe80::40:a6ff:fe82:1/64"});
  };
  EXPECT_EQ(announced(make(1, "7")),
            addresses({"10.100.0.7", "10.168.0.7", "10.169.0.7", "10.170.0.7", "10.171.0.7"}));
  EXPECT_EQ(routes(make(1, "7"), make(2, "8")),
            addresses({"10.100.0.8", "10.168.0.8", "10.169.0.8", "10.170.0.8"}));
}

// Nodes of an EFA job may lie in several subnets of one VPC, which its router joins.
TEST(NodeAddresses, Vpc) {
  const NodeAddresses first = node(1, {"172.31.16.5/20 default", "172.17.0.1/16 bridge"});
  const NodeAddresses near = node(2, {"172.31.17.9/20 default", "172.17.0.1/16 bridge"});
  const NodeAddresses far = node(3, {"172.31.32.9/20 default", "172.17.0.1/16 bridge"});
  EXPECT_EQ(routes(first, near), addresses({"172.31.17.9"}));
  EXPECT_EQ(routes(first, far), addresses({"172.31.32.9"}));
}

// The bridges of docker and libvirt have equal addresses on all nodes, or are on one node only.
TEST(NodeAddresses, Bridges) {
  const NodeAddresses first = node(1, {"192.168.122.1/24 bridge", "10.0.0.1/24"});
  const NodeAddresses other =
      node(2, {"192.168.122.1/24 bridge", "172.17.0.1/16 bridge", "10.0.0.2/24"});
  EXPECT_EQ(announced(other), addresses({"10.0.0.2", "192.168.122.1", "172.17.0.1"}));
  EXPECT_EQ(routes(first, other), addresses({"10.0.0.2", "172.17.0.1"}));
  // An address in the subnet of a bridge is not near: containers on different nodes have such.
  const NodeAddresses container = node(3, {"10.9.0.3/24", "172.17.0.2/16"});
  EXPECT_EQ(routes(other, container), addresses({"10.9.0.3", "172.17.0.2"}));
  // The node's network may be a bridge.
  const NodeAddresses bridged = node(4, {"10.1.0.1/24", "10.0.0.4/24 default bridge"});
  EXPECT_EQ(announced(bridged), addresses({"10.0.0.4", "10.1.0.1"}));
  const NodeAddresses third = node(5, {"10.7.0.5/24 default", "10.0.0.5/24"});
  EXPECT_EQ(routes(bridged, third), addresses({"10.0.0.5", "10.7.0.5"}));
}

// Their subnets end at any bit.
TEST(NodeAddresses, NearOnesShareAllBitsOfAPrefix) {
  const NodeAddresses own = node(1, {"10.0.0.1/24"});
  const NodeAddresses other = node(2, {"10.0.1.2/24 default", "10.0.0.130/24"});
  EXPECT_EQ(routes(own, other), addresses({"10.0.0.130", "10.0.1.2"}));
}

TEST(NodeAddresses, OfSomeKindsReachNoOtherNode) {
  for (const char* const none : {"0.1.2.3", "127.0.0.1", "169.254.1.1", "224.0.0.1",
                                 "239.255.255.250", "::", "::1", "fe80::1", "febf::1", "ff02::1"}) {
    EXPECT_FALSE(may_be_reached(address(none))) << none;
  }
  for (const char* const reached :
       {"1.0.0.1", "126.0.0.1", "128.0.0.1", "169.253.0.1", "169.255.0.1", "223.0.0.1",
        "2001:db8::1", "fd00::1", "fe00::1", "fec0::1"}) {
    EXPECT_TRUE(may_be_reached(address(reached))) << reached;
  }
}

TEST(NodeAddresses, OnlyIpv6) {
  const NodeAddresses first = node(1, {"fe80::1/64", "::1/128", "2001:db8:0:1::7/64 default"});
  const NodeAddresses other = node(2, {"fd00:1::8/64", "fe80::2/64", "2001:db8:0:1::8/64"});
  EXPECT_EQ(announced(first), addresses({"2001:db8:0:1::7"}));
  EXPECT_EQ(routes(first, other), addresses({"2001:db8:0:1::8", "fd00:1::8"}));
}

// IP over InfiniBand beside ethernet, of which a login node has the latter only.
TEST(NodeAddresses, InfiniBandAndEthernet) {
  const NodeAddresses compute = node(1, {"fd00::5/64", "10.10.0.5/16", "10.20.0.5/16"});
  const NodeAddresses other = node(2, {"10.10.0.6/16", "10.20.0.6/16", "fd00::6/64"});
  const NodeAddresses login = node(3, {"192.0.2.5/24 default", "10.20.1.1/16"});
  EXPECT_EQ(routes(compute, other), addresses({"10.10.0.6", "10.20.0.6", "fd00::6"}));
  EXPECT_EQ(routes(compute, login), addresses({"10.20.1.1", "192.0.2.5"}));
  EXPECT_EQ(routes(login, compute), addresses({"10.20.0.5", "10.10.0.5", "fd00::5"}));
}

// A process of the own node has the own addresses, and so has one at an endpoint's address.
TEST(NodeAddresses, OwnNode) {
  const NodeAddresses own = node(1, {"10.0.0.1/24", "10.1.0.1/24"});
  EXPECT_EQ(routes(own, own), addresses({"10.0.0.1"}));
  LifelineName name;
  name.node = {2, 0};
  name.of_endpoint = 1;
  name.addresses[0] = address("10.0.0.1");
  EXPECT_EQ(routes_to(name, own), std::vector<std::size_t>{0});
}

TEST(NodeAddresses, Endpoints) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(0x0a00'0001);
  const NodeAddresses by_four = addresses_of_endpoint(std::as_bytes(std::span(&four, 1)));
  EXPECT_TRUE(by_four.of_endpoint);
  EXPECT_EQ(announced(by_four), addresses({"10.0.0.1"}));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  ::inet_pton(AF_INET6, "2001:db8::1", &six.sin6_addr);
  const NodeAddresses by_six = addresses_of_endpoint(std::as_bytes(std::span(&six, 1)));
  EXPECT_EQ(announced(by_six), addresses({"2001:db8::1"}));
  EXPECT_NE(by_four.node, by_six.node);
  four.sin_family = AF_UNIX;
  EXPECT_TRUE(addresses_of_endpoint(std::as_bytes(std::span(&four, 1))).all.empty());
  EXPECT_TRUE(addresses_of_endpoint({}).all.empty());
}

// Processes of this machine have one node, and none of its addresses is a loopback address.
TEST(NodeAddresses, ThisNode) {
  const NodeAddresses here = addresses_of_node();
  EXPECT_EQ(here.node, addresses_of_node().node);
  EXPECT_NE(here.node, LifelineName::Words{});
  EXPECT_FALSE(here.of_endpoint);
  for (const InterfaceAddress& one : here.all) {
    EXPECT_NE(one.address, address("127.0.0.1"));
    EXPECT_GE(one.prefix, one.address.is_v4() ? 97U : 1U);
    EXPECT_LE(one.prefix, 128U);
  }
}

}  // namespace
}  // namespace oriel
