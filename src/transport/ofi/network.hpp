// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "core/operation/atomicity.hpp"
#include "core/transport/transport.hpp"

namespace oriel {

/// The name by which other processes find an endpoint. Trivially copyable, because it is sent
/// through the host's collectives.
struct EndpointName {
  std::uint64_t id = 0;                 // random; 0: there is no endpoint
  std::array<char, 32> provider{};      // the provider's name in libfabric
  std::array<std::byte, 64> address{};  // libfabric's address
  std::uint32_t address_bytes = 0;
  std::uint32_t reserved = 0;
};
static_assert(std::is_trivially_copyable_v<EndpointName>);

/// The name by which processes of other nodes find a process's lifeline. Trivially copyable, like
/// EndpointName.
struct LifelineName {
  using Words = std::array<std::uint64_t, 2>;
  std::array<std::byte, 32> address{};  // of its socket
  std::uint32_t address_bytes = 0;      // 0: there is none
  /// A port of `address` that is bound and at which no socket listens; 0: there is none.
  std::uint32_t refusing_port = 0;
  /// Random. Processes of the job receive it by the host's collectives; others do not know it.
  Words token{};
  /// The address of the process's node.
  Words node{};
};
static_assert(std::is_trivially_copyable_v<LifelineName>);

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
  /// Advances atomics in flight, also those that others have begun on our memory.
  virtual void progress() = 0;
  virtual bool finished(Transfer& transfer) = 0;

  // As in Network:
  virtual int wait_descriptor() const = 0;
  virtual bool may_wait() = 0;
};

/// A network that a process can open: the endpoints of one provider and one fabric of libfabric.
struct OfferedNetwork {
  std::uint64_t network = 0;   // hash of the names of both; 0: none
  std::uint64_t provider = 0;  // hash of the provider's name

  /// `choice`: a hash of either kind.
  bool is(std::uint64_t choice) const { return choice == network || choice == provider; }
};

/// The networks that a process can open, the preferred ones first. Trivially copyable, because it
/// is sent through the host's collectives.
struct OfferedNetworks {
  static constexpr std::size_t most = 16;
  std::array<OfferedNetwork, most> networks{};
  std::array<char, 128> names{};  // of as many of them as fit, for sentences

  bool none() const { return networks.front().network == 0; }
  /// The network for which OfferedNetwork::is(choice); null: it is not offered.
  const OfferedNetwork* find(std::uint64_t choice) const;
  /// Does nothing if the network is there already, or if there is no room.
  void add(const OfferedNetwork& offered, const std::string& name);
};
static_assert(std::is_trivially_copyable_v<OfferedNetworks>);

/// The network that all ranks open: the first one of the lowest rank that all others offer, too. If
/// there is none, the first provider that all offer (OfferedNetwork::is()), because routers may
/// connect its fabrics. 0: there is no such provider either. Those of `refused` do not count, and
/// neither do ranks that offer nothing: they have failed.
std::uint64_t common_network(std::span<const OfferedNetworks> by_rank,
                             std::span<const std::uint64_t> refused);

/// Opens the networks of a process.
class Networks {
 public:
  /// The networks that this process can open. If there are none, `error` is a sentence.
  virtual OfferedNetworks offered(std::string& error) = 0;
  /// Opens the network for which OfferedNetwork::is(choice), at the card that is nearest to this
  /// process. `number`: of this rank among those of its node. Null if the network cannot be opened;
  /// `error` is a sentence then.
  virtual std::unique_ptr<Network> open_network(std::uint64_t choice, int number,
                                                std::string& error) = 0;
  /// Null if there is none.
  virtual std::unique_ptr<AtomicNetwork> open_atomics() = 0;

 protected:
  ~Networks() = default;
};

/// libfabric's networks: those of a real process.
class OfiNetworks final : public Networks {
 public:
  OfferedNetworks offered(std::string& error) override;
  std::unique_ptr<Network> open_network(std::uint64_t choice, int number,
                                        std::string& error) override;
  std::unique_ptr<AtomicNetwork> open_atomics() override;
};

}  // namespace oriel
