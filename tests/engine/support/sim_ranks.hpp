// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "engine/host/host_interface.hpp"
#include "engine/windows/window_draft.hpp"
#include "support/sim_networks.hpp"

/// A host of simulated ranks: threads of one program, each with an Engine of its own. Their arenas
/// and node transports are real, so that ranks of a node map one another's memory as processes do.
/// The network between nodes is simulated.
namespace oriel::test {

/// The host of one rank.
class SimHost : public Host {
 public:
  void advance() override { ++advanced; }
  bool waits_sweep() const override { return true; }

  int advanced = 0;  // calls of advance()
};

/// How many collectives a rank has called.
struct SimCounts {
  int barriers = 0;
  int gathers = 0;
  int broadcasts = 0;
  int reductions = 0;
  std::size_t gathered = 0;  // bytes that the rank has given to the last gather
  bool operator==(const SimCounts& other) const {
    return barriers == other.barriers && gathers == other.gathers &&
           broadcasts == other.broadcasts && reductions == other.reductions;
  }
};

/// The memory by which the ranks of a SimComm meet.
class SimGroup {
 public:
  explicit SimGroup(int ranks) : parts_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(parts_.size()); }
  /// Waits until all ranks have called it. Sweeps meanwhile.
  void meet(Engine& engine);
  /// The memory that the rank passed to show() before the last meet().
  const void* part(int rank) const { return parts_[static_cast<std::size_t>(rank)]; }
  void show(int rank, const void* part) { parts_[static_cast<std::size_t>(rank)] = part; }

 private:
  std::vector<const void*> parts_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint64_t> round_{0};
};

/// A communicator of all ranks.
class SimComm : public HostComm {
 public:
  SimComm(SimGroup& group, int rank, Engine& engine)
      : group_(group), rank_(rank), engine_(engine) {}

  int rank() const override { return rank_; }
  int ranks() const override { return group_.ranks(); }
  HostCode take_roll_call(const char*) override { return 0; }
  HostCode barrier() override;
  HostCode allgather(const void* own, std::size_t bytes, void* all) override;
  HostCode broadcast(void* buffer, std::size_t bytes, int root) override;
  HostCode allreduce(std::span<std::uint64_t> words, HostOp op) override;
  HostCode assemble() override { return 0; }
  bool knows_peers(std::uint64_t own_id) const override { return known_.contains(own_id); }
  void note_known_peers(std::uint64_t own_id) override { known_.insert(own_id); }

  void forget_peers() { known_.clear(); }
  /// From now on this rank cannot find the process of rank `other`, and map its memory.
  void hide(int other) { hidden_ = other; }
  /// The collectives since the last call of this.
  SimCounts take_counts() { return std::exchange(counts_, {}); }

 private:
  SimGroup& group_;
  int rank_;
  Engine& engine_;
  std::set<std::uint64_t> known_;
  int hidden_ = -1;
  SimCounts counts_;
};

struct SimRank {
  // Small, because a sanitizer leaves little address space.
  static constexpr std::uint64_t extent = std::uint64_t{1} << 24;

  /// `on`: the node of the rank. `network`: null if there is none.
  SimRank(SimGroup& group, int rank, const Node& on = Node::here(), SimNetwork* network = nullptr)
      : node(on), networks(network, rank, group.ranks()), comm(group, rank, engine) {
    std::string error;
    if (!engine.start(host, networks, rank, error)) throw std::runtime_error(error);
  }
  ~SimRank() {
    engine.agent.stop();
    engine.stop();
  }

  Running& running() const { return *engine.running(); }
  /// A draft of a window on this rank, which has not begun.
  std::unique_ptr<WindowDraft> make_draft(HostComm& on) {
    auto draft = std::make_unique<WindowDraft>(engine, on, "MPI_Win_test");
    draft->mine.node = node;
    draft->rank = on.rank();
    draft->ranks = on.ranks();
    draft->flavor = WindowFlavor::allocated;
    return draft;
  }

  Node node;
  SimHost host;
  SimNetworks networks;
  Engine engine{extent};
  SimComm comm;
};

/// Calls body(rank) on a thread for each rank, and waits for all of them.
template <typename Body>
void run_on_threads(int ranks, Body&& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&body, rank] { body(rank); });
  }
  for (std::thread& thread : threads) thread.join();
}

class SimRanks {
 public:
  /// All ranks are on this node, and there is no network.
  explicit SimRanks(int ranks);
  /// `node_of`: the number of each rank's node. A Courier with this seed and late routes delivers.
  SimRanks(const std::vector<int>& node_of, std::uint64_t seed, Courier::Late late = {});

  SimRank& operator[](int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  int count() const { return group_.ranks(); }
  template <typename Body>
  void run(Body&& body) {
    run_on_threads(count(), body);
  }
  /// Changes a rank's draft before the window is made.
  using Prepare = std::function<void(WindowDraft&)>;
  /// Makes a window on all ranks, which is allocated if `prepare` changes nothing, and returns it
  /// by rank.
  std::vector<Window*> make_windows(const Prepare& prepare = {}, std::uint64_t bytes = 64);
  SimNetwork& network() { return *network_; }
  /// Sets what other nodes find of a rank's process.
  void set_life(int rank, SimNetwork::Life life) {
    network_->set_life(rank, life);
    network_->set_life(count() + rank, life);
  }

 private:
  SimGroup group_;
  std::unique_ptr<SimNetwork> network_;
  std::vector<std::unique_ptr<SimRank>> ranks_;
  std::unique_ptr<Courier> courier_;
};

}  // namespace oriel::test
