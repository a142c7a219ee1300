// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/operation/atomicity.hpp"
#include "core/transport/messages.hpp"
#include "transport/ofi/endpoint_name.hpp"

namespace oriel {

/// Network atomics on memory of any process, processes of our node and this one included. They are
/// atomic with one another, but not with atomics of CPUs. No call blocks. Not thread-safe: the
/// owner serializes the calls.
class AtomicNetwork {
 public:
  virtual ~AtomicNetwork() = default;

  virtual const EndpointName& name() const = 0;
  /// The types for which the network has all those of `ops` that MPI defines for the type.
  virtual TypeSet types(OpSet ops) const = 0;
  /// The number of the process with this name; -1 if it cannot be reached.
  virtual int attach(const EndpointName& name) = 0;

  /// Exposes memory to atomics. Returns the number for withdraw(), or -1.
  virtual int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) = 0;
  virtual void withdraw(int exposure) = 0;

  /// As Messages::atomic().
  virtual std::uint64_t begin(int process, const Atomic& atomic, const RemoteMemory& remote,
                              std::uint64_t token) = 0;
  /// Advances atomics in flight, also those that others have begun on our memory, unless
  /// Network::receive() does.
  virtual void progress() = 0;
  virtual bool finished(Transfer& transfer) = 0;

  // As in Network:
  virtual int wait_descriptor() const = 0;
  virtual bool may_wait() = 0;
};

}  // namespace oriel
