// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "transport/ofi/network.hpp"
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
  std::unique_ptr<Network> open_network(std::uint64_t choice, int number,
                                        std::string& error) override;
  std::unique_ptr<AtomicNetwork> open_atomics() override;

  bool direct = true;              // the network has direct transfers
  bool atomics = true;             // there are network atomics
  std::set<int> unreachable;       // ranks that cannot be attached
  int exposures = 0;               // the present number of exposures
  std::unique_ptr<Network> given;  // if not null: what open_network() returns
  std::vector<OfferedNetwork> offers{{1, 2}};
  std::set<std::uint64_t> refused;    // networks that cannot be opened
  std::vector<std::uint64_t> chosen;  // choices with which open_network() has been called
  std::vector<int> numbers;           // and the rank's numbers

 private:
  SimNetwork* network_;
  int rank_;
  int ranks_;
};

/// A thread that delivers the items of a SimNetwork, from routes that it chooses at random.
class Courier {
 public:
  Courier(SimNetwork& network, std::uint64_t seed);
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

 private:
  void run(std::uint64_t seed);

  SimNetwork& network_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace oriel::test
