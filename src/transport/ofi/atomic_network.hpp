// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "core/atomic_set.hpp"
#include "core/transport.hpp"

namespace oriel {

/// How processes find the way to this one's memory by atomics. Plain bytes, to travel through the
/// host's collectives.
struct AtomicName {
  std::uint64_t id = 0;                 // random; 0: there are no atomics
  std::array<char, 32> provider{};      // libfabric's name of it
  std::array<std::byte, 64> address{};  // libfabric's, of our endpoint
};
static_assert(std::is_trivially_copyable_v<AtomicName>);

/// Atomics on memory of any process, those of our node and our own included: a network's are atomic
/// with one another, not with those of CPUs. No call blocks. Not thread-safe: the owner serializes.
class AtomicNetwork {
 public:
  /// Null if there is none to be had.
  static std::unique_ptr<AtomicNetwork> open();
  virtual ~AtomicNetwork() = default;

  virtual const AtomicName& name() const = 0;
  /// The types on which it has all of `ops` that MPI has for them.
  virtual TypeSet types(OpSet ops) const = 0;
  /// Number of the process of that name; -1 when it is not to be reached.
  virtual int attach(const AtomicName& name) = 0;

  /// Exposes memory to atomics. The number to withdraw() it by, or -1.
  virtual int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) = 0;
  virtual void withdraw(int exposure) = 0;

  /// As Transport::atomic().
  virtual std::uint64_t begin(int process, const Atomic& atomic, const RemoteMemory& remote,
                              std::uint64_t token) = 0;
  /// Carries on what is under way, also what others have begun on our memory.
  virtual void progress() = 0;
  virtual bool finished(Transfer& transfer) = 0;

  // As Network has them.
  virtual int wait_descriptor() const = 0;
  virtual bool may_wait() = 0;
};

}  // namespace oriel
