// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "transport/ofi/lifeline_name.hpp"

namespace oriel {

/// A network that a process can open: the endpoints of one provider and one fabric of libfabric.
struct OfferedNetwork {
  std::uint64_t network = 0;   // hash of the names of both; 0: none
  std::uint64_t provider = 0;  // hash of the provider's name
  std::uint64_t address = 0;   // hash of the process's IP address there; 0: it has none

  /// `choice`: a hash of either kind.
  bool is(std::uint64_t choice) const { return choice == network || choice == provider; }
};

/// The networks that a process can open, the preferred ones first. Trivially copyable, because it
/// is sent through the host's collectives.
struct OfferedNetworks {
  static constexpr std::size_t most = 16;
  std::array<OfferedNetwork, most> networks{};
  LifelineName::Words node{};     // the process's network namespace
  std::array<char, 128> names{};  // of as many of them as fit, for sentences

  bool none() const { return networks.front().network == 0; }
  /// The network for which OfferedNetwork::is(choice); null: it is not offered.
  const OfferedNetwork* find(std::uint64_t choice) const;
  /// Does nothing if the network is there already, or if no entry is free.
  void add(const OfferedNetwork& offered, const std::string& name);
};
static_assert(std::is_trivially_copyable_v<OfferedNetworks>);

/// The network that all ranks open: the first one of the lowest rank that all others offer, too. If
/// there is none, the first provider that all offer (OfferedNetwork::is()), because routers may
/// connect its fabrics. 0: there is no such provider either. Those of `refused` do not count, and
/// neither do ranks that offer nothing: they have failed. A network does not count in which two
/// nodes have one address: it is not between them, such as that of a bridge for containers.
std::uint64_t common_network(std::span<const OfferedNetworks> by_rank,
                             std::span<const std::uint64_t> refused);

/// The networks of all ranks, and those that some rank could not open.
struct NetworkOffers {
  std::vector<OfferedNetworks> by_rank;
  std::vector<std::uint64_t> refused;

  std::uint64_t choice() const { return common_network(by_rank, refused); }
  /// Some rank cannot open the network of this choice.
  void refuse(std::uint64_t choice);
};

}  // namespace oriel
