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

/// How processes of other nodes find this one. Plain bytes, as an EndpointName is.
struct NetworkName {
  EndpointName endpoint;
  LifelineName lifeline;
};
static_assert(std::is_trivially_copyable_v<NetworkName>);

/// The way to processes on other nodes. Processes are numbered in the order in which they are
/// attached. No call blocks. Not thread-safe: the owner serializes.
class Network {
 public:
  /// Null if there is none to be had, and `error` is a sentence.
  static std::unique_ptr<Network> open(std::string& error);
  virtual ~Network() = default;

  virtual const NetworkName& name() const = 0;
  /// What `oriel info` says: provider, version and file of libfabric, what it can do.
  virtual std::string description() const = 0;
  /// Number of the process of that name: always the same for the same process. -1 when it is not to
  /// be reached, and `error` is a sentence. Nothing is sent yet.
  virtual int attach(const NetworkName& name, std::string& error) = 0;

  // As Messages has them.
  virtual void send(int process, std::span<const std::byte> header,
                    std::span<const std::byte> payload) = 0;
  virtual void push() = 0;
  virtual bool congested(int process) const = 0;
  virtual std::span<const std::byte> receive() = 0;
  virtual bool alive(int process) = 0;
  /// Keeps a link to the process of that name: see Lifeline. It need not be attached.
  virtual void watch(const NetworkName& name) = 0;
  virtual std::uint64_t transfer(int process, bool write, std::span<const TransferRun> runs,
                                 std::uint64_t key, std::uint64_t token, Behind* behind) = 0;
  virtual bool finished(Transfer& transfer) = 0;
  virtual bool orders_writes() const = 0;
  /// A direct transfer is under way: one of ours has not finished, or memory is lent for one of
  /// another process's.
  virtual bool transferring() const = 0;
  /// Direct transfers are to be had.
  virtual bool direct() const = 0;
  virtual int register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                              RemoteMemory& registered) = 0;
  virtual void deregister_buffer(int registration) = 0;

  /// Exposes memory to direct transfers. The number to withdraw() it by; -1 where the provider does
  /// not do that or does not take the memory: everything goes by messages then.
  virtual int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) = 0;
  virtual void withdraw(int exposure) = 0;

  /// Readable when something may have come; -1: the provider has no such thing.
  virtual int wait_descriptor() const = 0;
  /// To be asked before sleeping on it: nothing has come that it would not tell of.
  virtual bool may_wait() = 0;
  /// Everything sent has left this process, but for what was sent to processes that have ended.
  virtual bool drained() = 0;
  /// How many packets the provider did not take at once.
  virtual std::uint64_t delayed() const = 0;
};

}  // namespace oriel
