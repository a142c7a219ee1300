// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/transport/transport.hpp"
#include "transport/ofi/networks.hpp"
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
  /// Network::by_card() of the network that was opened last. For threads without the process's
  /// lock: the network may be closed meanwhile.
  bool by_card() const { return by_card_.load(std::memory_order_relaxed); }
  /// The networks that this process can use: the open one, or those that it can open. If there are
  /// none, `error` is a sentence.
  OfferedNetworks offered_networks(std::string& error) {
    return network_ != nullptr ? open_ : networks_.offered(error);
  }
  /// network(), which is opened if none is open (Networks::open_network()). `offered`: what
  /// offered_networks() has returned. `choice`: 0 if the network was open before. Null if it cannot
  /// be opened, or if another thread has opened another one since; `error` is a sentence then.
  Network* open_network(const OfferedNetworks& offered, std::uint64_t choice,
                        const RankPosition& position, std::string& error) {
    if (network_ != nullptr) {
      if (choice != 0 && open_.find(choice) == nullptr) {
        error = std::string("another thread has opened ") + open_.names.data() +
                " for a window of its own";
        return nullptr;
      }
      ++openings_;
      return network();
    }
    network_ = networks_.open_network(choice, position, error);
    open_ = {};
    open_.node = offered.node;
    if (const OfferedNetwork* chosen = offered.find(choice); chosen != nullptr) {
      open_.add(*chosen, network_ != nullptr ? network_->name().endpoint.provider.data() : "");
    }
    openings_ = network_ != nullptr ? 1 : 0;
    if (network_ != nullptr) by_card_.store(network_->by_card(), std::memory_order_relaxed);
    return network();
  }
  /// Takes one open_network() back, which has returned a network to which no process has been
  /// attached since by the caller. The last one closes the network: other threads may have opened
  /// it for windows of theirs.
  void close_network() {
    if (--openings_ != 0) return;
    atomics_ = nullptr;
    atomic_endpoint_.reset();
    network_.reset();
  }
  /// Null until a window requests network atomics, and if there are none.
  AtomicNetwork* atomics() { return atomics_; }
  /// atomics(), which the first call opens: those of the network, which must be open, else those of
  /// another endpoint.
  AtomicNetwork* open_atomics() {
    if (atomics_ == nullptr) atomics_ = network_->atomics();
    if (atomics_ == nullptr) {
      atomic_endpoint_ = networks_.open_atomics();
      atomics_ = atomic_endpoint_.get();
    }
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
  Accepted transfer(int process, bool write, std::span<const TransferRun> runs, std::uint64_t key,
                    std::uint64_t token, Behind* behind) override {
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
  bool delivers_writes() const override { return network_->delivers_writes(); }
  int register_buffer(int process, bool to_be_written, void* memory, std::uint64_t bytes,
                      RemoteMemory& registered) override {
    return process < first_elsewhere
               ? -1
               : network_->register_buffer(to_be_written, memory, bytes, registered);
  }
  void deregister_buffer(int registration) override { network_->deregister_buffer(registration); }
  /// Returns whether everything that was sent to the process has left this process's send queues,
  /// and the network has finished all sends to it. True if the process has ended.
  bool drained(int process) {
    return process < first_elsewhere ? !shm_->backlogged(process)
                                     : network_->drained(process - first_elsewhere);
  }
  /// Network::links_answered(). True without a network.
  bool links_answered() { return network_ == nullptr || network_->links_answered(); }
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
  std::size_t openings_ = 0;  // callers of open_network() that have not closed network_
  OfferedNetworks open_;      // network_ alone
  std::atomic<bool> by_card_ = false;
  AtomicNetwork* atomics_ = nullptr;  // of network_, or atomic_endpoint_
  std::unique_ptr<AtomicNetwork> atomic_endpoint_;
};

}  // namespace oriel
