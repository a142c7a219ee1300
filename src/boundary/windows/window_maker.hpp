// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "boundary/host/host.hpp"
#include "boundary/process/node.hpp"
#include "boundary/runtime/bound_window.hpp"
#include "boundary/runtime/own_memory.hpp"
#include "transport/ofi/atomic_network.hpp"
#include "transport/ofi/network.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/process_block.hpp"

namespace oriel::boundary {

struct Engine;

/// What each rank tells all others when a window is made.
struct Announcement {
  Node node;
  ProcessName process;
  Place control;              // of its ControlBlock
  Place memory;               // of the window memory, if peers can map it: see mapped_bytes()
  std::uint64_t address = 0;  // of the window memory in its process
  std::uint64_t size = 0;
  std::uint64_t disp_unit = 1;
  std::uint32_t window = 0;     // this rank's number of the window
  std::uint32_t failed = 0;     // the rank could not prepare its part
  std::uint32_t met = 0;        // has_met() the ranks of the communicator
  std::uint32_t intrinsic = 0;  // its info asks for accumulates by hardware atomics

  bool mappable() const { return memory.shared(); }
};
static_assert(std::is_trivially_copyable_v<Announcement>);

/// What each rank tells the others besides where there are several nodes.
struct NetworkAnnouncement {
  NetworkName name;
  RemoteMemory memory;
  std::uint32_t exposed = 0;  // Member::direct
  std::uint32_t reserved = 0;
  EndpointName atomic_name;
  RemoteMemory atomic_memory;
  AtomicSet atomics;  // what it would leave to the network's atomics
};
static_assert(std::is_trivially_copyable_v<NetworkAnnouncement>);

/// Makes one window: a collective in steps, where every rank takes all steps and learns of any
/// rank's failure, so that all fail together and none hangs. Ranks that have met before are spared
/// the steps that cannot fail any more.
class WindowMaker {
 public:
  WindowMaker(const char* call, MPI_Comm communicator, MPI_Info info);
  ~WindowMaker();

  // As MPI has them; one of them per maker.
  int create(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Win* handle);
  int allocate(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle);
  int allocate_shared(MPI_Aint size, MPI_Aint disp_unit, void* base, MPI_Win* handle);
  int create_dynamic(MPI_Win* handle);

 private:
  /// `outputs`: what is wrong with the call's output arguments.
  int prepare(MPI_Aint size, MPI_Aint disp_unit, const Failure& outputs);
  void give_up(int error_class, std::string reason);
  void take_memory(std::uint64_t memory_bytes);
  Place take(std::uint64_t bytes, std::uint64_t alignment, ArenaPiece& piece);
  int announce();
  bool settled() const;
  int part_strangers();
  bool reaches_its_node();
  int meet_nodes();
  std::string cannot_share(const std::string& others) const;
  void lay_out_contiguously();
  void meet_peers();
  bool meet(int rank, std::string& error);
  bool meet_elsewhere(int rank, std::string& error);
  void expose(NetworkAnnouncement& own);
  void offer_atomics(void* memory, NetworkAnnouncement& own);
  AtomicSet atomics_of_all() const;
  bool intrinsic_by_cpus() const;
  void meet_atomics();
  int agree();
  int fail_together(int error_class);
  void separate();
  bool dynamic() const { return window_->flavor == MPI_WIN_FLAVOR_DYNAMIC; }
  /// Of its memory that peers map: of a dynamic window the words that tell what is attached.
  std::uint64_t mapped_bytes(const Announcement& peer) const {
    return dynamic() ? sizeof(SharedPieces) : peer.size;
  }
  bool elsewhere(int rank) const {
    return all_[static_cast<std::size_t>(rank)].node.id !=
           all_[static_cast<std::size_t>(rank_)].node.id;
  }
  void note_acquaintance() const;
  int finish(MPI_Win* handle);
  int share(void* base, MPI_Win* handle);
  std::shared_ptr<Region> make_region(Engine& engine);
  void describe() const;

  const char* call_;
  MPI_Comm communicator_;
  int rank_ = 0;
  int ranks_ = 0;
  bool holds_ = false;       // the engine, until the window does
  bool contiguous_ = false;  // one piece of rank 0's holds all ranks' memory
  Announcement mine_;
  std::vector<Announcement> all_;
  bool settled_ = false;  // nothing can go wrong once all ranks have announced theirs
  std::string hidden_;    // why we cannot map a peer's memory on our node
  bool several_nodes_ = false;
  bool parted_ = false;                         // some of one node cannot map one another's memory
  bool separated_ = false;                      // some ranks of a node are remote to one another
  std::vector<NetworkAnnouncement> elsewhere_;  // by rank, where there are several nodes
  std::unique_ptr<BoundWindow> window_;
  std::shared_ptr<OwnMemory> own_;  // the region's, once that is made
  WindowSpec spec_;
  std::vector<Member> members_;  // by rank
  AtomicSet atomics_;
  int error_class_ = MPI_SUCCESS;  // what went wrong on this rank
  std::string reason_;
};

}  // namespace oriel::boundary
