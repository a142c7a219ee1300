// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/transport/messages.hpp"
#include "transport/ofi/network_name.hpp"

namespace oriel {

class AtomicNetwork;

/// The network to processes on other nodes. Processes are numbered in the order in which they are
/// attached. No call blocks. Not thread-safe: the owner serializes the calls.
class Network {
 public:
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
  virtual std::string loss_reason(int /*process*/) const { return {}; }
  // As in Lifeline, with processes that need not be attached:
  virtual void watch(const NetworkName& name) = 0;
  virtual void expect(const NetworkName& name) = 0;
  virtual bool links_answered() = 0;
  virtual Accepted transfer(int process, bool write, std::span<const TransferRun> runs,
                            std::uint64_t key, std::uint64_t token, Behind* behind) = 0;
  virtual bool finished(Transfer& transfer) = 0;
  virtual bool orders_writes() const = 0;
  virtual bool delivers_writes() const = 0;
  /// Returns whether a direct transfer of ours is in flight, or memory is registered for one of
  /// another process.
  virtual bool transferring() const = 0;
  /// Returns whether the provider has direct transfers.
  virtual bool direct() const = 0;
  /// Returns whether a card carries out direct transfers. A poll then reads completions in memory
  /// instead of making system calls.
  virtual bool by_card() const = 0;
  virtual int register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                              RemoteMemory& registered) = 0;
  virtual void deregister_buffer(int registration) = 0;

  /// Exposes memory to direct transfers. Returns the number for withdraw(); -1 if the provider has
  /// no direct transfers or does not accept the memory: messages are used then.
  virtual int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) = 0;
  virtual void withdraw(int exposure) = 0;

  /// The network atomics of the messages' endpoint, which the first call prepares. Null if its
  /// provider has none. They end with the network.
  virtual AtomicNetwork* atomics() { return nullptr; }

  /// A descriptor that becomes readable when something may have arrived; -1: the provider has none.
  /// Without it one arrival may take many calls of receive().
  virtual int wait_descriptor() const = 0;
  /// To be called before sleeping on the descriptor. True if nothing has arrived that it would not
  /// report.
  virtual bool may_wait() = 0;
  /// Returns whether all sends to the process are finished, so that they need this process no more.
  /// True if the process has ended.
  virtual bool drained(int process) = 0;
  /// drained() of all processes.
  virtual bool drained() = 0;
  /// The number of packets that the provider did not accept at once.
  virtual std::uint64_t delayed() const = 0;
};

}  // namespace oriel
