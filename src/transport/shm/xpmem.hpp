// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace oriel {

/// XPMEM, by which processes of one user map one another's private memory: the library libxpmem,
/// which is loaded at run time, and the exposed address space of this process. XPMEM maps a page at
/// the first access to it and drops it when its owner unmaps it, so one exposure is for all memory
/// that this process will ever have.
class Xpmem {
 public:
  /// A permit to map an exposed address space.
  using Permit = std::int64_t;

  /// Loads the library that ORIEL_XPMEM names; otherwise the system's, if XPMEM's device exists.
  /// Exposes this process's address space. Null: one of these steps has failed.
  static std::unique_ptr<Xpmem> load();
  ~Xpmem();
  Xpmem(const Xpmem&) = delete;
  Xpmem& operator=(const Xpmem&) = delete;

  /// The number of this process's exposed address space, not 0.
  std::uint64_t space() const { return static_cast<std::uint64_t>(space_); }
  /// Gets a permit for an exposed address space. Not positive: refused.
  Permit get(std::uint64_t space) const;
  void release(Permit permit) const { functions_.release(permit); }
  /// Maps whole pages of an address space. Null: refused, or this process has too many mappings.
  std::byte* map(Permit permit, std::uint64_t address, std::uint64_t bytes);
  /// The kernel kills a process that unmaps such a mapping in another way.
  void unmap(std::byte* mapping);

 private:
  /// xpmem_addr of the ABI of libxpmem.so.0.
  struct Address {
    Permit permit;
    off_t offset;
  };
  struct Functions {
    int (*version)() = nullptr;
    std::int64_t (*make)(void* address, std::size_t bytes, int permit_type,
                         void* permit_value) = nullptr;
    int (*remove)(std::int64_t space) = nullptr;
    Permit (*get)(std::int64_t space, int flags, int permit_type, void* permit_value) = nullptr;
    int (*release)(Permit permit) = nullptr;
    void* (*attach)(Address from, std::size_t bytes, void* at) = nullptr;
    int (*detach)(void* mapping) = nullptr;
  };

  Xpmem(const Functions& functions, std::int64_t space) : functions_(functions), space_(space) {}
  static bool find(void* library, Functions& functions);

  Functions functions_;
  std::int64_t space_;
  std::size_t mappings_ = 0;
};

/// The exposed address space of a peer, mapped where its memory is used. A mapping is kept as long
/// as the object, which ends after all windows with the peer. It does not go stale: XPMEM follows
/// the owner's mappings at its addresses. An access to an address that the owner has unmapped, or
/// after the owner's end, is a SIGBUS.
class PeerSpace {
 public:
  PeerSpace(Xpmem& xpmem, std::uint64_t space);
  ~PeerSpace();
  PeerSpace(const PeerSpace&) = delete;
  PeerSpace& operator=(const PeerSpace&) = delete;

  /// The address in this process of the peer's memory. Null: it cannot be mapped.
  std::byte* at(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Mapping {
    std::uint64_t bytes = 0;
    std::byte* data = nullptr;
  };

  Mapping map(std::uint64_t begin, std::uint64_t end, std::uint64_t used);

  Xpmem& xpmem_;
  Xpmem::Permit permit_;
  /// By the first address in the peer; none is within another one. So of those that begin at an
  /// address or before it, the last one ends last.
  std::map<std::uint64_t, Mapping> mappings_;
  std::vector<std::byte*> all_;
};

}  // namespace oriel
