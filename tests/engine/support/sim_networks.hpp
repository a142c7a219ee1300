// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "transport/ofi/networks.hpp"
#include "transport/sim/sim_transport.hpp"

namespace oriel::test {

/// The networks of one simulated rank, over a SimNetwork with two processes for each rank: the
/// ranks come first, then their ends of the network atomics.
class SimNetworks final : public Networks {
 public:
  /// `network`: null if there is none.
  SimNetworks(SimNetwork* network, int rank, int ranks)
      : network_(network), rank_(rank), ranks_(ranks) {}

  OfferedNetworks offered(std::string& error) override;
  std::unique_ptr<Network> open_network(std::uint64_t choice, const RankPosition& position,
                                        std::string& error) override;
  std::unique_ptr<AtomicNetwork> open_atomics() override;

  bool direct = true;              // the network has direct transfers
  bool atomics = true;             // there are network atomics
  bool one_endpoint = false;       // the network atomics are those of the messages' endpoint
  std::set<int> unreachable;       // ranks that cannot be attached
  int exposures = 0;               // the present number of exposures
  std::unique_ptr<Network> given;  // if not null: what open_network() returns
  std::vector<OfferedNetwork> offers{{1, 2}};
  std::set<int> watched;                 // ranks of Network::watch()
  std::set<int> expected;                // and of Network::expect()
  std::function<bool()> links_answered;  // Network::links_answered(); null: always true
  std::set<std::uint64_t> of_cards;      // networks with direct transfers of every length
  std::set<std::uint64_t> refused;       // networks that cannot be opened
  std::vector<std::uint64_t> chosen;     // choices with which open_network() has been called
  std::vector<RankPosition> positions;   // and the rank's positions

 private:
  /// Network atomics with the name of this process.
  std::unique_ptr<AtomicNetwork> make_atomics(int named);

  SimNetwork* network_;
  int rank_;
  int ranks_;
};

/// A thread that delivers the items of a SimNetwork, from routes that it chooses at random.
class Courier {
 public:
  /// Chooses the late routes. If there are any, the Courier delivers their items only when nothing
  /// else has been in flight for a while.
  using Late = std::function<bool(const SimNetwork::Route&)>;
  Courier(SimNetwork& network, std::uint64_t seed, Late late = {});
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

 private:
  void run(std::uint64_t seed);

  SimNetwork& network_;
  Late late_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace oriel::test
