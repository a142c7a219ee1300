// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/transport/transport.hpp"
#include "transport/ofi/network.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel {

/// The transport of a real process: shared memory to processes of its node, the network to all
/// others. Processes of other nodes are numbered from `first_elsewhere` on.
class CompositeTransport final : public Transport, public Messages {
 public:
  static constexpr int first_elsewhere = 1 << 24;

  /// `networks` must exist as long as this object.
  CompositeTransport(std::unique_ptr<ShmTransport> shm, Networks& networks)
      : Transport(*shm, *this), shm_(std::move(shm)), networks_(networks) {}

  /// The shared-memory transport, by its own type.
  ShmTransport& shm() { return *shm_; }
  /// Null until a window spans nodes.
  Network* network() { return network_.get(); }
  /// The networks that this process can use: the open one, or those that it can open. If there are
  /// none, `error` is a sentence.
  OfferedNetworks offered_networks(std::string& error) {
    return network_ != nullptr ? open_ : networks_.offered(error);
  }
  /// network(), which is opened if none is open (Networks::open_network()). `offered`: what
  /// offered_networks() has returned. Null if it cannot be opened; `error` is a sentence then.
  Network* open_network(const OfferedNetworks& offered, std::uint64_t choice, int number,
                        std::string& error) {
    if (network_ != nullptr) return network();
    network_ = networks_.open_network(choice, number, error);
    open_ = {};
    if (const OfferedNetwork* chosen = offered.find(choice); chosen != nullptr) {
      open_.add(*chosen, network_ != nullptr ? network_->name().endpoint.provider.data() : "");
    }
    return network();
  }
  /// Closes network(), to which no process may have been attached.
  void close_network() { network_.reset(); }
  /// Null until a window requests network atomics, and if there are none.
  AtomicNetwork* atomics() { return atomics_.get(); }
  /// atomics(), which the first call opens.
  AtomicNetwork* open_atomics() {
    if (atomics_ == nullptr) atomics_ = networks_.open_atomics();
    return atomics();
  }
  Networks& networks() const { return networks_; }

  void send(int process, std::span<const std::byte> header,
            std::span<const std::byte> payload) override {
    if (process < first_elsewhere) return shm_->send(process, header, payload);
    network_->send(process - first_elsewhere, header, payload);
  }
  void push() override {
    if (network_ != nullptr) network_->push();
  }
  bool congested(int process) const override {
    if (process < first_elsewhere) return shm_->congested(process);
    return network_->congested(process - first_elsewhere);
  }
  std::span<const std::byte> receive() override {
    if (const auto message = shm_->receive(); !message.empty()) return message;
    if (network_ == nullptr) return {};
    const auto message = network_->receive();
    if (message.empty() && atomics_ != nullptr) atomics_->progress();
    return message;
  }
  std::uint64_t transfer(int process, bool write, std::span<const TransferRun> runs,
                         std::uint64_t key, std::uint64_t token, Behind* behind) override {
    return network_->transfer(process - first_elsewhere, write, runs, key, token, behind);
  }
  /// Used for processes of our node and for this process, too.
  std::uint64_t atomic(int process, const Atomic& atomic, const RemoteMemory& remote,
                       std::uint64_t token) override {
    return atomics_->begin(process, atomic, remote, token);
  }
  bool finished(Transfer& transfer) override {
    return (network_ != nullptr && network_->finished(transfer)) ||
           (atomics_ != nullptr && atomics_->finished(transfer));
  }
  bool orders_writes() const override { return network_->orders_writes(); }
  int register_buffer(int process, bool to_be_written, void* memory, std::uint64_t bytes,
                      RemoteMemory& registered) override {
    return process < first_elsewhere
               ? -1
               : network_->register_buffer(to_be_written, memory, bytes, registered);
  }
  void deregister_buffer(int registration) override { network_->deregister_buffer(registration); }
  bool alive(int process) override {
    return process < first_elsewhere ? shm_->alive(process)
                                     : network_->alive(process - first_elsewhere);
  }
  std::string loss_reason(int process) const override {
    return process < first_elsewhere ? std::string()
                                     : network_->loss_reason(process - first_elsewhere);
  }

 private:
  std::unique_ptr<ShmTransport> shm_;
  Networks& networks_;
  std::unique_ptr<Network> network_;
  OfferedNetworks open_;  // network_ alone
  std::unique_ptr<AtomicNetwork> atomics_;
};

}  // namespace oriel
