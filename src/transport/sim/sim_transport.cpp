// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sim/sim_transport.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace oriel {
namespace {

constexpr std::size_t packet_bytes = 4096;
constexpr std::size_t most_vector = 2;
constexpr std::uint64_t most_atomic = 16;

}  // namespace

SimNetwork::SimNetwork(int processes, bool immediate)
    : processes_(static_cast<std::size_t>(processes)),
      immediate_(immediate),
      routes_(2 * processes_ * processes_),
      inboxes_(processes_),
      finished_(processes_),
      told_(processes_),
      half_done_(processes_) {
  for (std::size_t i = 0; i < processes_; ++i) {
    notifications_.push_back(std::make_unique<Notifications>());
  }
}

SimNetwork::Queue& SimNetwork::queue(const Route& route) {
  const std::size_t first = route.transfers ? processes_ * processes_ : 0;
  return routes_[first + static_cast<std::size_t>(route.from) * processes_ +
                 static_cast<std::size_t>(route.to)];
}

void SimNetwork::send(const Route& route, Packet packet) {
  const std::lock_guard guard(mutex_);
  if (immediate_) {
    while (!arrive(route, packet)) {
    }
    return;
  }
  queue(route).push_back(std::move(packet));
  ++moving_;
}

bool SimNetwork::arrive(const Route& route, Packet& packet) {
  const auto to = static_cast<std::size_t>(route.to);
  if (auto* bytes = std::get_if<std::vector<std::byte>>(&packet)) {
    inboxes_[to].push_back(std::move(*bytes));
  } else if (const auto* direct = std::get_if<Direct>(&packet)) {
    carry_out(route.from, *direct);
  } else {
    auto& remote = std::get<Remote>(packet);
    const Remote*& half_done = half_done_[to];
    if (half_done == nullptr) {
      remote.read.assign(remote.where, remote.where + remote.atomic.bytes);
      half_done = &remote;
      return false;
    }
    carry_out(route.from, remote);
    half_done = nullptr;
  }
  return true;
}

void SimNetwork::carry_out(int from, Direct direct) {
  if (failing_) {
    direct.transfer.error = Error::system;
    direct.runs.clear();
  }
  for (const TransferRun& run : direct.runs) {
    auto* remote = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(run.remote));
    std::memcpy(direct.write ? remote : run.local, direct.write ? run.local : remote, run.bytes);
  }
  finished_[static_cast<std::size_t>(from)].push_back(direct.transfer);
}

void SimNetwork::carry_out(int from, const Remote& remote) {
  const Atomic& atomic = remote.atomic;
  std::vector<std::byte> value = remote.read;
  if (atomic.kind == OperationKind::compare_and_swap) {
    compare_swap_plain(atomic.element, value.data(), remote.operands.data(), remote.compare.data(),
                       atomic.fetched);
  } else {
    Reduction reduction;
    reduction.op = atomic.op;
    reduction.basic = atomic.basic;
    reduction.element = atomic.element;
    reduce_plain(reduction, value.data(), remote.operands.data(), atomic.fetched,
                 atomic.bytes / atomic.element);
  }
  if (atomic.op != Op::no_op) std::memcpy(remote.where, value.data(), value.size());
  finished_[static_cast<std::size_t>(from)].push_back(remote.transfer);
}

bool SimNetwork::finished(int process, Transfer& transfer) {
  const std::lock_guard guard(mutex_);
  std::deque<Transfer>& queue = finished_[static_cast<std::size_t>(process)];
  if (queue.empty()) return false;
  transfer = queue.front();
  queue.pop_front();
  told_[static_cast<std::size_t>(process)] = transfer;
  return true;
}

void SimNetwork::tell_again(int process) {
  const std::lock_guard guard(mutex_);
  const auto place = static_cast<std::size_t>(process);
  finished_[place].push_back(told_[place]);
}

bool SimNetwork::receive(int process, std::vector<std::byte>& packet) {
  const std::lock_guard guard(mutex_);
  auto& inbox = inboxes_[static_cast<std::size_t>(process)];
  if (inbox.empty()) return false;
  packet = std::move(inbox.front());
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
  const auto* remote = std::get_if<Remote>(&waiting.front());
  const Remote* half_done = half_done_[static_cast<std::size_t>(route.to)];
  if (remote != nullptr && half_done != nullptr && half_done != remote) return false;
  if (!arrive(route, waiting.front())) return true;
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
  ++copies_;
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

std::uint64_t SimTransport::transfer(int process, bool write, std::span<const TransferRun> runs,
                                     std::uint64_t, std::uint64_t token) {
  // As a provider whose vectors are short.
  runs = runs.first(std::min(runs.size(), most_vector));
  SimNetwork::Direct direct{write, {runs.begin(), runs.end()}, {token, 0, Error::none}};
  for (const TransferRun& run : runs) direct.transfer.bytes += run.bytes;
  const std::uint64_t taken = direct.transfer.bytes;
  network_.begin(self_, process, std::move(direct));
  return taken;
}

std::uint64_t SimTransport::atomic(int process, const Atomic& atomic, const RemoteMemory& remote,
                                   std::uint64_t token) {
  SimNetwork::Remote made;
  made.atomic = atomic;
  made.atomic.bytes = std::min(atomic.bytes, most_atomic);
  made.where = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(remote.address));
  made.transfer = {token, made.atomic.bytes, Error::none};
  if (atomic.operands != nullptr) {
    made.operands.assign(atomic.operands, atomic.operands + made.atomic.bytes);
  }
  if (atomic.kind == OperationKind::compare_and_swap) {
    const auto* compare = static_cast<const std::byte*>(atomic.compare);
    made.compare.assign(compare, compare + atomic.element);
  }
  network_.begin(self_, process, std::move(made));
  return std::min(atomic.bytes, most_atomic);
}

bool SimTransport::notify(int process, const NotifyRecord& record, const NotifyStore& store) {
  return notifications(process).put(network_.notifications(self_).claim, self_,
                                    notify_heads_[process], record, store);
}

void SimTransport::ring(Doorbell& doorbell) {
  doorbell.rings.fetch_add(1, std::memory_order_relaxed);
  doorbell.sleeping.store(0, std::memory_order_relaxed);
}

void SimTransport::relax() {
  std::this_thread::yield();
}

}  // namespace oriel
