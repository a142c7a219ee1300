// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/ofi/networks.hpp"

namespace oriel {

struct Card;

/// libfabric's networks: those of a real process.
class OfiNetworks final : public Networks {
 public:
  OfferedNetworks offered(std::string& error) override;
  /// One of those that offered() has returned last.
  std::unique_ptr<Network> open_network(std::uint64_t choice, const RankPosition& position,
                                        std::string& error) override;
  std::unique_ptr<AtomicNetwork> open_atomics() override;

 private:
  std::shared_ptr<const std::vector<Card>> cards_;  // that libfabric has offered last
  std::shared_ptr<const Card> card_;                // of the network that was opened last
};

}  // namespace oriel
