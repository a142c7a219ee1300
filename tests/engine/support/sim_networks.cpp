// SPDX-License-Identifier: BSD-3-Clause
#include "support/sim_networks.hpp"

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace oriel::test {
namespace {

EndpointName name_of(int process) {
  EndpointName name;
  name.id = static_cast<std::uint64_t>(process) + 1;
  std::strcpy(name.provider.data(), "sim");
  return name;
}

int process_of(const EndpointName& name) {
  return static_cast<int>(name.id) - 1;
}

/// A process's end of a SimNetwork, as libfabric's network would be.
class SimEnd final : public Network {
 public:
  SimEnd(SimNetworks& networks, SimNetwork& network, int rank)
      : networks_(networks), transport_(network, rank), direct_(networks.direct) {
    name_.endpoint = name_of(rank);
  }

  const NetworkName& name() const override { return name_; }
  std::string description() const override { return "simulated"; }
  int attach(const NetworkName& name, std::string& error) override {
    const int process = process_of(name.endpoint);
    if (!networks_.unreachable.contains(process)) return process;
    error = "its node does not answer.";
    return -1;
  }
  void send(int process, std::span<const std::byte> header,
            std::span<const std::byte> payload) override {
    transport_.send(process, header, payload);
  }
  void push() override { transport_.push(); }
  bool congested(int process) const override { return transport_.congested(process); }
  std::span<const std::byte> receive() override { return transport_.receive(); }
  bool alive(int process) override { return transport_.alive(process); }
  void watch(const NetworkName&) override {}
  std::uint64_t transfer(int process, bool write, std::span<const TransferRun> runs,
                         std::uint64_t key, std::uint64_t token, Behind* behind) override {
    ++transfers_;
    return transport_.transfer(process, write, runs, key, token, behind);
  }
  bool finished(Transfer& transfer) override {
    if (!transport_.finished(transfer)) return false;
    --transfers_;
    return true;
  }
  bool orders_writes() const override { return transport_.orders_writes(); }
  bool transferring() const override { return transfers_ + registered_ != 0; }
  bool direct() const override { return direct_; }
  int register_buffer(bool to_be_written, void* memory, std::uint64_t bytes,
                      RemoteMemory& registered) override {
    if (!direct_) return -1;
    const int number = transport_.register_buffer(0, to_be_written, memory, bytes, registered);
    if (number >= 0) ++registered_;
    return number;
  }
  void deregister_buffer(int registration) override {
    transport_.deregister_buffer(registration);
    --registered_;
  }
  int expose(void* memory, std::uint64_t bytes, RemoteMemory& exposed) override {
    if (!direct_ || bytes == 0) return -1;
    exposed.address = reinterpret_cast<std::uintptr_t>(memory);
    return networks_.exposures++;
  }
  void withdraw(int) override { --networks_.exposures; }
  int wait_descriptor() const override { return -1; }
  bool may_wait() override { return true; }
  bool drained() override { return transport_.drained(); }
  std::uint64_t delayed() const override { return 0; }

 private:
  SimNetworks& networks_;
  SimTransport transport_;
  bool direct_;
  NetworkName name_;
  int transfers_ = 0;
  int registered_ = 0;
};

/// Has all ops on 64-bit unsigned integers.
class SimAtomics final : public AtomicNetwork {
 public:
  SimAtomics(SimNetworks& networks, SimNetwork& network, int process)
      : networks_(networks), transport_(network, process), name_(name_of(process)) {}

  const EndpointName& name() const override { return name_; }
  TypeSet types(OpSet) const override { return bit(Basic::u64); }
  int attach(const EndpointName& name) override { return process_of(name); }
  int expose(void* memory, std::uint64_t, RemoteMemory& exposed) override {
    exposed.address = reinterpret_cast<std::uintptr_t>(memory);
    return networks_.exposures++;
  }
  void withdraw(int) override { --networks_.exposures; }
  std::uint64_t begin(int process, const Atomic& atomic, const RemoteMemory& remote,
                      std::uint64_t token) override {
    return transport_.atomic(process, atomic, remote, token);
  }
  void progress() override {}
  bool finished(Transfer& transfer) override { return transport_.finished(transfer); }
  int wait_descriptor() const override { return -1; }
  bool may_wait() override { return true; }

 private:
  SimNetworks& networks_;
  SimTransport transport_;
  EndpointName name_;
};

}  // namespace

OfferedNetworks SimNetworks::offered(std::string& error) {
  OfferedNetworks all;
  if (network_ == nullptr) error = "the simulation has no network";
  for (const OfferedNetwork& offer : offers) {
    if (network_ != nullptr) all.add(offer, "sim " + std::to_string(offer.network));
  }
  return all;
}

std::unique_ptr<Network> SimNetworks::open_network(std::uint64_t choice, int number,
                                                   std::string& error) {
  chosen.push_back(choice);
  numbers.push_back(number);
  if (given != nullptr) return std::move(given);
  if (!refused.contains(choice)) return std::make_unique<SimEnd>(*this, *network_, rank_);
  error = "network " + std::to_string(choice) + " is broken";
  return nullptr;
}

std::unique_ptr<AtomicNetwork> SimNetworks::open_atomics() {
  if (network_ == nullptr || !atomics) return nullptr;
  return std::make_unique<SimAtomics>(*this, *network_, ranks_ + rank_);
}

Courier::Courier(SimNetwork& network, std::uint64_t seed)
    : network_(network), thread_([this, seed] { run(seed); }) {}

Courier::~Courier() {
  stopping_ = true;
  thread_.join();
}

void Courier::run(std::uint64_t seed) {
  Random random(seed);
  while (!stopping_) {
    const std::vector<SimNetwork::Route> routes = network_.under_way();
    if (!routes.empty()) network_.deliver(random.pick(routes));
    if (routes.empty() || random.chance(30)) std::this_thread::yield();
  }
}

}  // namespace oriel::test
