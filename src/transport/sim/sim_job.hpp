// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "core/process.hpp"
#include "transport/sim/sim_transport.hpp"

namespace oriel {

/// The properties of a simulated window.
struct SimWindowSpec {
  std::uint64_t bytes = 0;  // on every rank
  std::uint64_t disp_unit = 1;
  std::uint64_t misalign = 0;  // bytes from the start of a cache line to the window
  std::vector<Path> memory;    // by rank: the path of its node peers to it; empty: all are mapped
  /// Memory of Path::system_call is of exposed address spaces: the ranks that can map private
  /// memory (SimTransport::set_maps_private) map it.
  bool exposed = false;
  Reorder reorder;
  bool no_locks = false;
  bool shared = false;  // a shared window: ranks load and store peers' memory without a call
  bool direct = false;  // memory of remote ranks is exposed to direct transfers
  AtomicSet atomics;    // those that the network has
  Atomicity atomicity;  // of accumulates
  /// The number of pieces in which the memory of each rank is attached to the window, which is then
  /// dynamic; 0: it is not dynamic. If a rank's memory is Path::system_call, every second piece is
  /// private, and the others are shared. Displacements are addresses, and there are no network
  /// atomics. With `direct`, long operations are rendezvous.
  std::uint64_t pieces = 0;
};

/// An MPI job of simulated ranks in one program. Ranks on one node are mapped to each other: their
/// control blocks and, as the window specifies, their memory. Ranks on different nodes use messages
/// only.
class SimJob {
 public:
  /// `node_of`: the node of each rank. `immediate`: see SimNetwork.
  explicit SimJob(std::vector<int> node_of, bool immediate = false, const Limits& limits = {});

  int create_window(const SimWindowSpec& spec);
  const SimWindowSpec& spec(int window) const { return windows_[at(window)].spec; }

  int ranks() const { return static_cast<int>(node_of_.size()); }
  bool same_node(int a, int b) const { return node_of_[at(a)] == node_of_[at(b)]; }
  SimNetwork& network() { return network_; }
  SimTransport& transport(int rank) { return *ranks_[at(rank)].transport; }
  Process& process(int rank) { return *ranks_[at(rank)].process; }
  Doorbell& doorbell(int rank) { return *ranks_[at(rank)].doorbell; }
  Window& window(int rank, int window = 0) { return *windows_[at(window)].sides[at(rank)].window; }
  /// Returns whether some ranks of the window are remote to each other.
  bool remote(int window) const { return windows_[at(window)].remote; }
  std::byte* memory(int rank, int window = 0) {
    return windows_[at(window)].sides[at(rank)].memory;
  }
  /// The displacement of the byte number `bytes` of the rank's memory.
  std::int64_t displacement(int rank, int window, std::uint64_t bytes);
  /// If the window is dynamic, attaches or detaches memory that no operation uses, as a call of the
  /// rank.
  void churn(int rank, int window);

  /// One round: all messages in flight arrive, and all ranks sweep. True if anything moved.
  bool round();
  /// Runs rounds until nothing moves, and returns the number of those in which something moved.
  int run_until_idle();

 private:
  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete[](memory, std::align_val_t{cache_line});
    }
  };
  using Memory = std::unique_ptr<std::byte[], Free>;

  struct Rank {
    std::unique_ptr<SimTransport> transport;
    std::unique_ptr<Doorbell> doorbell;
    std::unique_ptr<InvariantChecks> checks;  // outlive the process
    std::unique_ptr<Process> process;
  };
  struct Side {
    Memory window_memory;
    Memory control_memory;
    std::byte* memory = nullptr;
    ControlBlock* control = nullptr;
    Window* window = nullptr;
    std::uint32_t number = 0;
    std::unique_ptr<SharedPieces> pieces;   // if the window is dynamic
    std::array<std::byte, 32> scrap;        // see churn()
    std::array<bool, 32> scrap_attached{};  // for each byte
    std::size_t churned = 0;
  };
  struct SimWindow {
    SimWindowSpec spec;
    std::vector<Side> sides;
    bool remote = false;
  };
  /// The path from one rank of a window to another. A rank of the node with Path::messages is
  /// remote in both directions, like a rank of another node.
  static Path path(const SimWindowSpec& spec, bool same_node, int from, int to);
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  static Memory zeroed(std::size_t bytes);
  Member member(const SimWindow& made, int viewer, int rank);
  static MemoryRange range_of(const SimWindowSpec& spec, const std::byte* memory,
                              std::uint64_t bytes, bool is_private);
  static void attach(const SimWindowSpec& spec, Side& side, bool some_private);

  std::vector<int> node_of_;
  SimNetwork network_;
  std::deque<SimWindow> windows_;  // outlive the processes that point into them
  std::vector<Rank> ranks_;
};

}  // namespace oriel
