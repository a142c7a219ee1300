// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sim/sim_transport.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace oriel {
namespace {

constexpr std::size_t packet_bytes = 4096;

}  // namespace

SimNetwork::SimNetwork(int processes, bool immediate)
    : processes_(static_cast<std::size_t>(processes)),
      immediate_(immediate),
      routes_(2 * processes_ * processes_),
      inboxes_(processes_),
      finished_(processes_) {}

SimNetwork::Queue& SimNetwork::queue(const Route& route) {
  const std::size_t first = route.transfers ? processes_ * processes_ : 0;
  return routes_[first + static_cast<std::size_t>(route.from) * processes_ +
                 static_cast<std::size_t>(route.to)];
}

void SimNetwork::send(int from, int to, std::vector<std::byte> packet) {
  const std::lock_guard guard(mutex_);
  if (immediate_) {
    inboxes_[static_cast<std::size_t>(to)].push_back({std::move(packet), {}});
    return;
  }
  queue({from, to}).push_back({std::move(packet), {}});
  ++moving_;
}

void SimNetwork::begin(int from, int to, const Direct& direct) {
  const std::lock_guard guard(mutex_);
  if (immediate_) return carry_out(from, direct);
  queue({from, to, !orders_writes_}).push_back({{}, direct});
  ++moving_;
}

void SimNetwork::carry_out(int from, const Direct& direct) {
  if (direct.write) {
    std::memcpy(direct.remote, direct.local, direct.transfer.bytes);
  } else {
    std::memcpy(direct.local, direct.remote, direct.transfer.bytes);
  }
  finished_[static_cast<std::size_t>(from)].push_back(direct.transfer);
}

bool SimNetwork::finished(int process, Transfer& transfer) {
  const std::lock_guard guard(mutex_);
  std::deque<Transfer>& queue = finished_[static_cast<std::size_t>(process)];
  if (queue.empty()) return false;
  transfer = queue.front();
  queue.pop_front();
  return true;
}

bool SimNetwork::receive(int process, std::vector<std::byte>& packet) {
  const std::lock_guard guard(mutex_);
  Queue& inbox = inboxes_[static_cast<std::size_t>(process)];
  if (inbox.empty()) return false;
  packet = std::move(inbox.front().bytes);
  inbox.pop_front();
  return true;
}

std::vector<SimNetwork::Route> SimNetwork::under_way() const {
  const std::lock_guard guard(mutex_);
  std::vector<Route> routes;
  if (moving_ == 0) return routes;
  const std::size_t pairs = processes_ * processes_;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    if (routes_[i].empty()) continue;
    routes.push_back(
        {static_cast<int>(i % pairs / processes_), static_cast<int>(i % processes_), i >= pairs});
  }
  return routes;
}

bool SimNetwork::deliver(const Route& route) {
  const std::lock_guard guard(mutex_);
  Queue& waiting = queue(route);
  if (waiting.empty()) return false;
  if (waiting.front().bytes.empty()) {
    carry_out(route.from, waiting.front().direct);
  } else {
    inboxes_[static_cast<std::size_t>(route.to)].push_back(std::move(waiting.front()));
  }
  waiting.pop_front();
  --moving_;
  return true;
}

void SimTransport::send(int process, std::span<const std::byte> header,
                        std::span<const std::byte> payload) {
  ++messages_;
  const std::size_t bytes = header.size() + payload.size();
  Collected& collected = collected_[process];
  if (!collected.packet.empty() && !collected.packet.fits(bytes)) send_packet(process, collected);
  if (collected.packet.empty()) {
    collected.buffer.resize(
        std::max(packet_bytes, sizeof(PacketHeader) + PacketWriter::room_for(bytes)));
    collected.packet = PacketWriter(collected.buffer);
  }
  collected.packet.add(header, payload);
}

void SimTransport::send_packet(int process, Collected& collected) {
  const auto packet = collected.packet.close(static_cast<std::uint64_t>(self_), ++packets_);
  network_.send(self_, process, {packet.begin(), packet.end()});
  collected.packet = PacketWriter();
}

void SimTransport::push() {
  for (auto& [process, collected] : collected_) {
    if (!collected.packet.empty()) send_packet(process, collected);
  }
}

std::span<const std::byte> SimTransport::receive() {
  while (true) {
    if (const auto message = reader_.next(); !message.empty()) return message;
    if (!network_.receive(self_, arrived_)) return {};
    reader_ = PacketReader(arrived_);
  }
}

Error SimTransport::copy(int /*process*/, bool write, std::span<const Run> runs) {
  // The simulated peer lives in this program: its private memory is at its address.
  for (const Run& run : runs) {
    auto* remote = reinterpret_cast<void*>(static_cast<std::uintptr_t>(run.remote));
    if (write) {
      std::memcpy(remote, run.local, run.bytes);
    } else {
      std::memcpy(run.local, remote, run.bytes);
    }
  }
  return Error::none;
}

bool SimTransport::transfer(int process, bool write, void* local, std::uint64_t bytes,
                            const RemoteMemory& remote, std::uint64_t token) {
  auto* address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(remote.address));
  network_.begin(self_, process, {write, local, address, {token, bytes, Error::none}});
  return true;
}

void SimTransport::ring(Doorbell& doorbell) {
  doorbell.rings.fetch_add(1, std::memory_order_relaxed);
  doorbell.sleeping.store(0, std::memory_order_relaxed);
}

void SimTransport::relax() {
  std::this_thread::yield();
}

}  // namespace oriel
