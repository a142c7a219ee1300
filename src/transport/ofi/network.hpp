// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "core/transport/transport.hpp"
#include "transport/ofi/endpoint_name.hpp"
#include "transport/ofi/lifeline_name.hpp"

namespace oriel {

/// The name by which processes of other nodes find this one. Trivially copyable, like EndpointName.
struct NetworkName {
  EndpointName endpoint;
  LifelineName lifeline;
};
static_assert(std::is_trivially_copyable_v<NetworkName>);

/// The network to processes on other nodes. Processes are numbered in the order in which they are
/// attached. No call blocks. Not thread-safe: the owner serializes the calls.
class Network {
 public:
  /// Null if there is none; `error` is a sentence then.
  static std::unique_ptr<Network> open(std::string& error);
  virtual ~Network() = default;

  virtual const NetworkName& name() const = 0;
  /// The line that `oriel info` prints: provider, version and file of libfabric, capabilities.
  virtual std::string description() const = 0;
  /// The number of the process with this name, always the same for one process. -1 if it cannot be
  /// reached; `error` is a sentence then. Sends nothing.
  virtual int attach(const NetworkName& name, std::string& error) = 0;

  // As in Messages:
  virtual void send(int process, std::span<const std::byte> header,
                    std::span<const std::byte> payload) = 0;
  virtual void push() = 0;
  virtual bool congested(int process) const = 0;
  virtual std::span<const std::byte> receive() = 0;
  virtual bool alive(int process) = 0;
  /// Begins a link to the process with this name: see Lifeline. It need not be attached.
  virtual void watch(const NetworkName& name) = 0;
  virtual std::uint64_t transfer(int process, bool write, std::span<const TransferRun> runs,
                                 std::uint64_t key, std::uint64_t token, Behind* behind) = 0;
  virtual bool finished(Transfer& transfer) = 0;
  virtual bool orders_writes() const = 0;
  /// Returns whether a direct transfer of ours is in flight, or memory is registered for one of
  /// another process.
  virtual bool transferring() const = 0;
  /// Returns whether the provider has direct transfers.
  virtual bool direct() const = 0;
  virtual int register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                              RemoteMemory& registered) = 0;
  virtual void deregister_buffer(int registration) = 0;

  /// Exposes memory to direct transfers. Returns the number for withdraw(); -1 if the provider has
  /// no direct transfers or does not accept the memory: messages are used then.
  virtual int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) = 0;
  virtual void withdraw(int exposure) = 0;

  /// A descriptor that is readable if something may have arrived; -1: the provider has none.
  virtual int wait_descriptor() const = 0;
  /// To be called before sleeping on the descriptor. True if nothing has arrived that it would not
  /// report.
  virtual bool may_wait() = 0;
  /// Returns whether everything sent has left this process, except what was sent to ended
  /// processes.
  virtual bool drained() = 0;
  /// The number of packets that the provider did not accept at once.
  virtual std::uint64_t delayed() const = 0;
};

}  // namespace oriel
