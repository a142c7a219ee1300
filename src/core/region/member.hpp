// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/lock/control.hpp"
#include "core/operation/address.hpp"
#include "core/pieces/shared_pieces.hpp"
#include "core/transport/doorbell.hpp"
#include "core/transport/memory_range.hpp"
#include "core/transport/transport.hpp"

namespace oriel {

/// How this process accesses a rank's memory.
enum class Path : std::uint8_t {
  load_store,   // loads, stores and CPU atomics at the call
  system_call,  // one system call at the call
  messages      // carried out by the target's Server
};

/// The data that a region has about one of its ranks.
struct Member {
  int process = 0;           // number in the transport
  std::uint32_t window = 0;  // the window's number in that process
  Path path = Path::load_store;
  bool private_memory = false;  // peers cannot map it, so accumulates do not use CPU atomics
  bool by_space = false;        // private memory that we map by its owner's exposed address space
  bool detached = false;        // a piece that its owner has detached, and perhaps unmapped
  std::byte* base = nullptr;    // address in this process if mapped; our own rank: always set
  std::uint64_t address = 0;    // address in the rank's process
  std::uint64_t size = 0;       // bytes
  std::uint64_t disp_unit = 1;
  ControlBlock* control = nullptr;  // null exactly if `path` is messages, in both directions
  Doorbell* doorbell = nullptr;     // null exactly if `control` is
  /// On a dynamic window: the attached memory and memory handles of the rank; null if `control` is.
  /// Such a member has no base and no bytes, and displacements are addresses in its process.
  const SharedPieces* pieces = nullptr;
  /// For a remote rank: its memory is exposed to direct transfers. On a dynamic window: it carries
  /// out long operations by direct transfers of its own.
  bool direct = false;
  RemoteMemory memory;  // the exposed memory

  // Set for every rank, our own included, if the region has an AtomicSet.
  int atomic_process = 0;      // number in the transport for atomics
  RemoteMemory atomic_memory;  // the memory exposed to network atomics

  /// Sets the member's memory. `own`: its address, if it is our own; otherwise null. `mapped`: its
  /// address if we map it; otherwise null. `alone`: the window has no other rank.
  void set_memory(const MemoryRange& range, std::byte* own, std::byte* mapped, bool alone) {
    address = range.address;
    size = range.bytes;
    private_memory = size != 0 && !range.mappable() && !alone;
    base = own != nullptr ? own : mapped;
    by_space = own == nullptr && mapped != nullptr && !range.location.shared();
    if (base == nullptr && size != 0) path = Path::system_call;
  }
  /// True if the rank's control block is in our address space: protocol steps are stores, and each
  /// of the two ranks maps the lock and update words of the other one.
  bool mapped() const { return control != nullptr; }
  /// True if this process loads and stores the memory directly.
  bool loadable() const { return path == Path::load_store; }
  /// The address in this process of the byte at `offset`; only if loadable().
  std::byte* at_offset(std::uint64_t offset) const {
    return at(base, static_cast<std::int64_t>(offset));
  }
  /// The byte offset of a displacement, which has been checked, in the window memory.
  std::uint64_t offset(std::int64_t displacement) const {
    return static_cast<std::uint64_t>(displacement) * disp_unit;
  }
};

/// The members of a window, as found when the window was made (B8). Mapped ranks, which are few,
/// are stored as Member; all others in the shortest form, from which read_member() makes a Member.
class MemberTable {
 public:
  MemberTable() = default;
  /// `atomics`: each rank has an address for the network's atomics.
  MemberTable(const std::vector<Member>& members, bool atomics);

  Member read_member(int rank) const;
  /// The member of a mapped rank, which exists as long as the table; null: the rank is remote.
  const Member* find_mapped_member(int rank) const;
  /// All mapped ranks, our own included, in ascending order.
  const std::vector<int>& mapped_ranks() const { return mapped_ranks_; }

 private:
  /// A rank that is reached by messages. See Member.
  struct Far {
    std::uint64_t size;
    std::uint64_t disp_unit;
    RemoteMemory memory;
    std::uint32_t window;
    std::uint32_t process : 31;
    std::uint32_t direct : 1;
  };
  static_assert(sizeof(Far) == 40);
  struct Atomics {
    RemoteMemory memory;
    int process;
  };

  std::vector<int> mapped_ranks_;
  std::vector<Member> mapped_;    // of mapped_ranks_
  std::vector<Far> far_;          // of all ranks; empty: all are mapped
  std::vector<Atomics> atomics_;  // of all ranks; empty: the window has none
};

}  // namespace oriel
