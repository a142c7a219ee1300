// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/lock/control.hpp"
#include "core/operation/address.hpp"
#include "core/pieces/shared_pieces.hpp"
#include "core/transport/doorbell.hpp"
#include "core/transport/memory_range.hpp"
#include "core/transport/transport.hpp"

namespace oriel {

/// How this process reaches a rank's memory.
enum class Path : std::uint8_t {
  load_store,   // loads, stores and CPU atomics at the call
  system_call,  // one system call at the call; but loads and stores within a Member's `part`
  messages      // carried out by the target's Server
};

/// The part of a rank's memory that its peers map, where they do not map all of it.
struct SharedPart {
  std::byte* here = nullptr;  // its address in our process
  std::uint64_t first = 0;    // bytes of the rank's memory before it
  std::uint64_t bytes = 0;    // 0: there is no such part
};

/// What a region knows about one of its ranks.
struct Member {
  int process = 0;           // number in the transport
  std::uint32_t window = 0;  // the window's number there
  Path path = Path::load_store;
  /// Peers do not map all of it. CPU atomics serve accumulates within `part` alone.
  bool private_memory = false;
  SharedPart part;            // of private memory
  std::byte* base = nullptr;  // mapped: address here; our own rank: always our own address
  std::uint64_t address = 0;  // vm: address in the peer's process
  std::uint64_t size = 0;     // bytes
  std::uint64_t disp_unit = 1;
  ControlBlock* control = nullptr;  // null exactly when path is served, in both directions
  Doorbell* doorbell = nullptr;     // null exactly when control is
  /// Of a dynamic window: what it has attached, and its memory handles; null when control is. It
  /// has no base and no bytes of its own, and displacements are addresses in its process.
  const SharedPieces* pieces = nullptr;
  /// Served: its memory is exposed to direct transfers; of a dynamic window: it carries out long
  /// operations by direct transfers of its own.
  bool direct = false;
  RemoteMemory memory;  // that is exposed

  // Where the region has an AtomicSet: of every rank, our own included.
  int atomic_process = 0;      // number in the transport for atomics
  RemoteMemory atomic_memory;  // exposed to them

  /// Its memory is this range. `own`: it is ours, and begins there; null: its shared part begins at
  /// `shared` in our address space; null: nothing of it is mapped. `alone`: the window has no other
  /// rank.
  void set_memory(const MemoryRange& range, std::byte* own, std::byte* shared, bool alone) {
    address = range.address;
    size = range.bytes;
    private_memory = size != 0 && !range.wholly_shared() && !alone;
    base = own == nullptr && range.wholly_shared() ? shared : own;
    if (own != nullptr) shared = own + range.head;
    if (private_memory && shared != nullptr) part = {shared, range.head, range.shared_bytes()};
    if (base == nullptr && size != 0) path = Path::system_call;
  }
  /// Whether we load and store so many bytes from `first` on.
  bool loadable(std::uint64_t first, std::uint64_t bytes) const {
    return path == Path::load_store || (path == Path::system_call && part.bytes != 0 &&
                                        within(first - part.first, bytes, part.bytes));
  }
  /// The address here of the byte at `offset` of loadable() ones.
  std::byte* at_offset(std::uint64_t offset) const {
    return path == Path::load_store ? at(base, static_cast<std::int64_t>(offset))
                                    : part.here + (offset - part.first);
  }
  /// Whether peers map so many bytes at that address here, too.
  bool shared(const void* where, std::uint64_t bytes) const {
    return !private_memory ||
           within(static_cast<std::uint64_t>(static_cast<const std::byte*>(where) - part.here),
                  bytes, part.bytes);
  }
  /// Bytes from the start of its window memory, of a displacement that has been checked.
  std::uint64_t offset(std::int64_t displacement) const {
    return static_cast<std::uint64_t>(displacement) * disp_unit;
  }
};

/// Who every rank of a region is, asked when it is first needed: a rank that is never talked to
/// costs nothing but its entry in whatever stands behind this.
class MemberResolver {
 public:
  virtual ~MemberResolver() = default;
  virtual Member find(int rank) = 0;
};

}  // namespace oriel
