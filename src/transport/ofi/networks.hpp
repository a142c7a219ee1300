// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/ofi/atomic_network.hpp"
#include "transport/ofi/network.hpp"
#include "transport/ofi/offered_networks.hpp"

namespace oriel {

/// The position of a rank in its node, by which ranks share the node's cards.
struct RankPosition {
  int numa_node = -1;  // -1: unknown
  int number = 0;      // among the ranks of the NUMA node
  int on_node = 0;     // among all ranks of the node

  friend bool operator==(const RankPosition&, const RankPosition&) = default;
};

/// Opens the networks of a process.
class Networks {
 public:
  /// The networks that this process can open. If there are none, `error` is a sentence.
  virtual OfferedNetworks offered(std::string& error) = 0;
  /// Opens the network for which OfferedNetwork::is(choice), at the card that is nearest to this
  /// process. Null if the network cannot be opened; `error` is a sentence then.
  virtual std::unique_ptr<Network> open_network(std::uint64_t choice, const RankPosition& position,
                                                std::string& error) = 0;
  /// Network atomics between the processes that the opened network connects, by an endpoint of
  /// their own. Null if there are none.
  virtual std::unique_ptr<AtomicNetwork> open_atomics() = 0;

 protected:
  ~Networks() = default;
};

}  // namespace oriel
