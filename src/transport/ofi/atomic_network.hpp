// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "core/operation/atomic_set.hpp"
#include "core/transport/transport.hpp"
#include "transport/ofi/endpoint_name.hpp"

namespace oriel {

/// Atomics on memory of any process, those of our node and our own included: a network's are atomic
/// with one another, not with those of CPUs. No call blocks. Not thread-safe: the owner serializes.
class AtomicNetwork {
 public:
  /// Null if there is none to be had.
  static std::unique_ptr<AtomicNetwork> open();
  virtual ~AtomicNetwork() = default;

  virtual const EndpointName& name() const = 0;
  /// The types on which it has all of `ops` that MPI has for them.
  virtual TypeSet types(OpSet ops) const = 0;
  /// Number of the process of that name; -1 when it is not to be reached.
  virtual int attach(const EndpointName& name) = 0;

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
