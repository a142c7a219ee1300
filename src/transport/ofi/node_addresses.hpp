// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "transport/ofi/ip_address.hpp"
#include "transport/ofi/lifeline_name.hpp"

namespace oriel {

/// An IP address of an interface of this node.
struct InterfaceAddress {
  IpAddress address;
  unsigned prefix = 128;       // bits of `address` that all addresses of the subnet have
  bool default_route = false;  // the interface has the default route
  bool bridge = false;         // the interface is a bridge, such as those of containers

  /// Returns whether the interface probably connects processes of this node only.
  bool within_node() const { return bridge && !default_route; }
};

/// The IP addresses by which processes of other nodes reach the lifelines of this one.
struct NodeAddresses {
  /// Equal only for processes of one node. With `of_endpoint` it is the endpoint's address, so
  /// processes of one node that use different interfaces differ.
  LifelineName::Words node{};
  /// Those that are announced come first. Empty: there are none.
  std::vector<InterfaceAddress> all;
  /// The one address is that of the endpoint, so it reaches this node wherever the endpoint does.
  bool of_endpoint = false;
};

/// Returns whether other nodes may reach the address: it is not unspecified, loopback, link-local
/// or multicast.
bool may_be_reached(const IpAddress& address);

/// The address of an endpoint, for addresses of IPv4 and IPv6. Empty for all others.
NodeAddresses addresses_of_endpoint(std::span<const std::byte> address);
/// The addresses of the node's interfaces, for endpoints whose addresses are no IP addresses.
NodeAddresses addresses_of_node();

/// Removes the addresses that no other node can reach, and sorts the others by how likely other
/// nodes reach this one by them: those of the interface with the default route first, those of
/// bridges last. IPv4 addresses precede IPv6 addresses.
void sort_addresses(std::vector<InterfaceAddress>& addresses);

/// The addresses by which this node may reach the peer's lifeline, in the order in which they are
/// tried, as indices of `peer.addresses`. An address of a subnet of this node comes first. An
/// address that this node has itself, as bridges of containers have one on all nodes, never reaches
/// a process of another node.
std::vector<std::size_t> routes_to(const LifelineName& peer, const NodeAddresses& own);

}  // namespace oriel
