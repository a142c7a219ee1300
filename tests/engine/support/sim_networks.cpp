// SPDX-License-Identifier: BSD-3-Clause
#include "support/sim_networks.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/base/limits.hpp"
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

/// Has all ops on 64-bit unsigned integers.
class SimAtomics final : public AtomicNetwork {
 public:
  SimAtomics(SimNetworks& networks, SimNetwork& network, int process, const EndpointName& name)
      : networks_(networks), transport_(network, process), name_(name) {}

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

/// A process's end of a SimNetwork, as libfabric's network would be.
class SimEnd final : public Network {
 public:
  SimEnd(SimNetworks& networks, SimNetwork& network, int rank, bool of_card,
         std::unique_ptr<AtomicNetwork> atomics)
      : networks_(networks),
        transport_(network, rank),
        direct_(networks.direct),
        by_card_(of_card),
        atomics_(std::move(atomics)) {
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
  void watch(const NetworkName& name) override {
    networks_.watched.insert(process_of(name.endpoint));
  }
  void expect(const NetworkName& name) override {
    networks_.expected.insert(process_of(name.endpoint));
  }
  bool links_answered() override {
    return networks_.links_answered == nullptr || networks_.links_answered();
  }
  Accepted transfer(int process, bool write, std::span<const TransferRun> runs, std::uint64_t key,
                    std::uint64_t token, Behind* behind) override {
    ++transfers_;
    return transport_.transfer(process, write, runs, key, token, behind);
  }
  bool finished(Transfer& transfer) override {
    if (!transport_.finished(transfer)) return false;
    --transfers_;
    return true;
  }
  bool orders_writes() const override { return transport_.orders_writes(); }
  bool delivers_writes() const override { return transport_.delivers_writes(); }
  bool transferring() const override { return transfers_ + registered_ != 0; }
  bool direct() const override { return direct_; }
  bool by_card() const override { return by_card_; }
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
  AtomicNetwork* atomics() override { return atomics_.get(); }
  int wait_descriptor() const override { return -1; }
  bool may_wait() override { return true; }
  bool drained(int process) override { return transport_.drained(process); }
  bool drained() override { return transport_.drained(); }
  std::uint64_t delayed() const override { return 0; }

 private:
  SimNetworks& networks_;
  SimTransport transport_;
  bool direct_;
  bool by_card_;
  std::unique_ptr<AtomicNetwork> atomics_;
  NetworkName name_;
  int transfers_ = 0;
  int registered_ = 0;
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

std::unique_ptr<Network> SimNetworks::open_network(std::uint64_t choice,
                                                   const RankPosition& position,
                                                   std::string& error) {
  chosen.push_back(choice);
  positions.push_back(position);
  if (given != nullptr) return std::move(given);
  if (!refused.contains(choice)) {
    return std::make_unique<SimEnd>(*this, *network_, rank_, of_cards.contains(choice),
                                    one_endpoint ? make_atomics(rank_) : nullptr);
  }
  error = "network " + std::to_string(choice) + " is broken";
  return nullptr;
}

std::unique_ptr<AtomicNetwork> SimNetworks::open_atomics() {
  return one_endpoint ? nullptr : make_atomics(ranks_ + rank_);
}

std::unique_ptr<AtomicNetwork> SimNetworks::make_atomics(int named) {
  if (network_ == nullptr || !atomics) return nullptr;
  return std::make_unique<SimAtomics>(*this, *network_, ranks_ + rank_, name_of(named));
}

Courier::Courier(SimNetwork& network, std::uint64_t seed, Late late)
    : network_(network), late_(std::move(late)), thread_([this, seed] { run(seed); }) {}

Courier::~Courier() {
  stopping_ = true;
  thread_.join();
}

void Courier::run(std::uint64_t seed) {
  constexpr auto a_while = std::chrono::milliseconds(20);
  Random random(seed);
  auto delivered = std::chrono::steady_clock::now();
  while (!stopping_) {
    std::vector<SimNetwork::Route> routes = network_.under_way();
    if (late_) {
      const auto now = std::chrono::steady_clock::now();
      if (std::ranges::all_of(routes, late_)) {
        if (now - delivered < a_while) routes.clear();
      } else {
        std::erase_if(routes, late_);
        delivered = now;
      }
    }
    if (!routes.empty()) network_.deliver(random.pick(routes));
    if (routes.empty() || random.chance(30)) std::this_thread::yield();
  }
}

}  // namespace oriel::test
