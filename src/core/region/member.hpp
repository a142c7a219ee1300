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
  system_call,  // one system call at the call
  messages      // carried out by the target's Server
};

/// What a region knows about one of its ranks.
struct Member {
  int process = 0;           // number in the transport
  std::uint32_t window = 0;  // the window's number there
  Path path = Path::load_store;
  bool private_memory = false;  // peers do not map it, so no CPU atomics serve accumulates
  std::byte* base = nullptr;    // mapped: address here; our own rank: always our own address
  std::uint64_t address = 0;    // vm: address in the peer's process
  std::uint64_t size = 0;       // bytes
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

  /// Its memory is this range. `own`: it is ours, and begins there; null: it begins at `shared` in
  /// our address space; null: it is not mapped. `alone`: the window has no other rank.
  void set_memory(const MemoryRange& range, std::byte* own, std::byte* shared, bool alone) {
    address = range.address;
    size = range.bytes;
    private_memory = size != 0 && !range.location.shared() && !alone;
    base = own != nullptr ? own : shared;
    if (base == nullptr && size != 0) path = Path::system_call;
  }
  /// Whether we load and store its memory.
  bool loadable() const { return path == Path::load_store; }
  /// The address here of the byte at `offset`, where it is loadable().
  std::byte* at_offset(std::uint64_t offset) const {
    return at(base, static_cast<std::int64_t>(offset));
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
