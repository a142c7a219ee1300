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
      reported_(processes_),
      half_done_(processes_),
      lives_(processes_) {
  for (std::size_t i = 0; i < processes_; ++i) {
    notifications_.push_back(std::make_unique<Notifications>());
    threads_.push_back(std::make_unique<ThreadLines>());
  }
}

SimNetwork::Queue& SimNetwork::queue(const Route& route) {
  const std::size_t first = route.transfers ? processes_ * processes_ : 0;
  return routes_[first + static_cast<std::size_t>(route.from) * processes_ +
                 static_cast<std::size_t>(route.to)];
}

void SimNetwork::send(const Route& route, Packet packet) {
  const std::lock_guard guard(mutex_);
  if (lives_[static_cast<std::size_t>(route.from)] == Life::ended) return;
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
    if (!lost_.contains({route.to, route.from})) {
      inboxes_[to].push_back({std::move(*bytes), 0, route.from});
    }
  } else if (auto* direct = std::get_if<Direct>(&packet)) {
    return carry_out(route, *direct);
  } else {
    auto& remote = std::get<Remote>(packet);
    const Remote*& half_done = half_done_[to];
    if (lives_[to] != Life::alive) {
      if (half_done == &remote) half_done = nullptr;
      remote.transfer.error = Error::peer_lost;
      finished_[static_cast<std::size_t>(route.from)].push_back(remote.transfer);
      return true;
    }
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

void SimNetwork::set_life(int process, Life life) {
  const std::lock_guard guard(mutex_);
  lives_[static_cast<std::size_t>(process)] = life;
}

bool SimNetwork::alive(int asks, int process) {
  const std::lock_guard guard(mutex_);
  if (lives_[static_cast<std::size_t>(process)] != Life::ended) return true;
  lost_.emplace(asks, process);
  std::erase_if(inboxes_[static_cast<std::size_t>(asks)],
                [process](const Arrival& one) { return one.from == process; });
  return false;
}

bool SimNetwork::congested(int from, int to) {
  const std::lock_guard guard(mutex_);
  return queue({from, to}).size() + queue({from, to, true}).size() >= congesting_;
}

bool SimNetwork::finished_sends(int from, int to) {
  const std::lock_guard guard(mutex_);
  return lives_[static_cast<std::size_t>(to)] == Life::ended ||
         (queue({from, to}).empty() &&
          std::ranges::none_of(inboxes_[static_cast<std::size_t>(to)], [from](const Arrival& one) {
            return one.from == from && !one.packet.empty();
          }));
}

std::uint64_t SimNetwork::register_buffer(int process, bool to_be_written, const void* memory,
                                          std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  const auto used = std::ranges::count_if(
      registrations_, [process](const auto& one) { return one.second.process == process; });
  if (static_cast<std::size_t>(used) >= most_registered) return 0;
  registrations_[++keys_] = {process, to_be_written, reinterpret_cast<std::uintptr_t>(memory),
                             bytes};
  return keys_;
}

void SimNetwork::deregister_buffer(std::uint64_t key) {
  const std::lock_guard guard(mutex_);
  registrations_.erase(key);
}

std::size_t SimNetwork::registered() const {
  const std::lock_guard guard(mutex_);
  return registrations_.size();
}

std::uint64_t SimNetwork::registrations_made() const {
  const std::lock_guard guard(mutex_);
  return keys_;
}

/// Windows are exposed with key 0.
bool SimNetwork::permitted(int process, const Direct& direct) const {
  if (direct.key == 0) return true;
  const auto found = registrations_.find(direct.key);
  if (found == registrations_.end()) return false;
  const BufferRegistration& registration = found->second;
  return registration.process == process && registration.to_be_written == direct.write &&
         std::ranges::all_of(direct.runs, [&](const TransferRun& run) {
           const std::uint64_t first = run.remote - registration.address;
           return first <= registration.bytes && run.bytes <= registration.bytes - first;
         });
}

/// Copies the bytes of a write, once.
void SimNetwork::Direct::copy() {
  if (!copied.empty()) return;
  for (const TransferRun& run : runs) {
    copied.insert(copied.end(), run.local, run.local + run.bytes);
  }
}

/// True if the transfer has been handled completely.
bool SimNetwork::carry_out(const Route& route, Direct& direct) {
  if (direct.accepted) {
    store(route, direct);
    return true;
  }
  const bool chosen = failing_after_ && (*failing_after_)-- == 0;
  if (chosen) failing_after_.reset();
  const bool gone = lives_[static_cast<std::size_t>(route.to)] != Life::alive;
  if (failing_ || chosen || gone || !permitted(route.to, direct)) {
    direct.transfer.error = gone ? Error::peer_lost : Error::system;
    direct.runs.clear();
    direct.immediate.reset();
  }
  if (direct.write) {
    direct.copy();
  } else {
    for (const TransferRun& run : direct.runs) {
      std::memcpy(run.local, reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(run.remote)),
                  run.bytes);
    }
  }
  direct.accepted = direct.write && !writes_.delivered && direct.transfer.error == Error::none;
  if (!direct.accepted) store(route, direct);
  finished_[static_cast<std::size_t>(route.from)].push_back(direct.transfer);
  return !direct.accepted;
}

/// Stores the bytes of a write at the target, and reports its immediate data there.
void SimNetwork::store(const Route& route, const Direct& direct) {
  if (lives_[static_cast<std::size_t>(route.to)] != Life::alive) return;
  const std::byte* from = direct.copied.data();
  for (const TransferRun& run : direct.runs) {
    if (!direct.write) break;
    std::memcpy(reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(run.remote)), from,
                run.bytes);
    from += run.bytes;
  }
  if (direct.immediate) {
    inboxes_[static_cast<std::size_t>(route.to)].push_back({{}, *direct.immediate, route.from});
  }
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
  reported_[static_cast<std::size_t>(process)] = transfer;
  return true;
}

void SimNetwork::repeat_report(int process) {
  const std::lock_guard guard(mutex_);
  const auto index = static_cast<std::size_t>(process);
  finished_[index].push_back(reported_[index]);
}

bool SimNetwork::receive(int process, Arrival& arrival) {
  const std::lock_guard guard(mutex_);
  auto& inbox = inboxes_[static_cast<std::size_t>(process)];
  if (inbox.empty()) return false;
  auto chosen = inbox.begin();
  if (arrival_order_ != ArrivalOrder::in_order) {
    const bool immediate = arrival_order_ == ArrivalOrder::immediate_first;
    chosen =
        std::ranges::find(inbox, immediate, [](const Arrival& one) { return one.packet.empty(); });
    if (chosen == inbox.end()) chosen = inbox.begin();
  }
  arrival = std::move(*chosen);
  inbox.erase(chosen);
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
  if (const auto* direct = std::get_if<Direct>(&waiting.front());
      direct != nullptr && direct->accepted) {
    arrive(route, waiting.front());
    waiting.pop_front();
    --moving_;
    if (waiting.empty()) return false;
  }
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
  collect(process, header, payload, 0);
}

void SimTransport::collect(int process, std::span<const std::byte> header,
                           std::span<const std::byte> payload, std::uint32_t code) {
  ++messages_;
  const std::size_t bytes = header.size() + payload.size();
  Peer& peer = peers_[process];
  if (!peer.packet.empty() && !peer.packet.fits(bytes)) send_packet(process, peer);
  if (peer.packet.empty()) {
    peer.buffer.resize(
        std::max(packet_bytes, sizeof(PacketHeader) + PacketWriter::space_for(bytes)));
    peer.packet = PacketWriter(peer.buffer);
  }
  peer.packet.add(header, payload, code);
}

void SimTransport::send_packet(int process, Peer& peer) {
  ++packets_;
  const auto packet = peer.packet.close(static_cast<std::uint64_t>(self_), ++peer.sent,
                                        static_cast<std::uint32_t>(process));
  network_.send(self_, process, {packet.begin(), packet.end()});
  peer.packet = PacketWriter();
}

void SimTransport::push() {
  for (auto& [process, peer] : peers_) {
    if (!peer.packet.empty()) send_packet(process, peer);
  }
}

std::span<const std::byte> SimTransport::receive() {
  while (true) {
    if (const auto named = std::exchange(named_message_, {}); !named.empty()) return named;
    if (const auto message = reader_.next(); !message.empty()) {
      if (reader_.code() == 0) return message;
      sender_->received_codes.keep(reader_.code(), message);
    } else if (!next_arrival()) {
      return {};
    }
  }
}

bool SimTransport::drained(int process) const {
  const auto peer = peers_.find(process);
  return (peer == peers_.end() || peer->second.packet.empty()) &&
         network_.finished_sends(self_, process);
}

bool SimTransport::drained() const {
  return std::ranges::all_of(peers_, [this](const auto& peer) { return drained(peer.first); });
}

bool SimTransport::next_arrival() {
  if (sender_ != nullptr) {
    if (auto next = sender_->order.next()) {
      begin(std::move(*next));
      return true;
    }
  }
  for (SimNetwork::Arrival arrival; network_.receive(self_, arrival);) {
    if (due(arrival)) return true;
  }
  return false;
}

bool SimTransport::due(SimNetwork::Arrival& arrival) {
  const ImmediateFormat& format = network_.immediate_format();
  const PacketReader packet(arrival.packet);
  if (!packet.valid() && !arrival.packet.empty()) return false;
  const ImmediateData data = format.unpack(arrival.immediate);
  sender_ =
      &peers_[packet.valid() ? static_cast<int>(packet.source()) : static_cast<int>(data.sender)];
  const std::uint32_t sequence = packet.valid()
                                     ? packet.sequence()
                                     : format.sequence_after(sender_->order.taken(), data.sequence);
  if (sender_->order.offer(sequence, arrival) != InOrder<SimNetwork::Arrival>::Turn::now) {
    return false;
  }
  begin(std::move(arrival));
  return true;
}

void SimTransport::begin(SimNetwork::Arrival arrival) {
  if (arrival.packet.empty()) {
    const ImmediateData data = network_.immediate_format().unpack(arrival.immediate);
    named_message_ = sender_->received_codes.message(data.code);
    return;
  }
  arrived_ = std::move(arrival.packet);
  reader_ = PacketReader(arrived_);
  sender_->self = reader_.receiver();
}

std::byte* SimTransport::share(std::uint64_t bytes, ArenaLocation& location) {
  if (refused_shares_ > 0) {
    --refused_shares_;
    return nullptr;
  }
  auto made = std::make_unique<Line[]>(bytes / sizeof(Line) + 1);
  auto* memory = reinterpret_cast<std::byte*>(made.get());
  location = location_of(memory);
  shared_.emplace(memory, std::move(made));
  return memory;
}

void SimTransport::unshare(std::byte* memory) {
  shared_.erase(memory);
}

Error SimTransport::copy_own(bool write, const Run& run) {
  if (unmapped_) return Error::system;
  auto* const own = reinterpret_cast<void*>(static_cast<std::uintptr_t>(run.remote));
  std::memcpy(write ? own : run.local, write ? run.local : own, run.bytes);
  return Error::none;
}

Error SimTransport::copy(int process, bool write, std::span<const Run> runs) {
  copies_.fetch_add(1, std::memory_order_relaxed);
  now_.fetch_add(copy_nanoseconds_, std::memory_order_relaxed);
  if (process == ended_) return Error::peer_lost;
  if (refuses_) return Error::system;
  // The simulated peer is in this program, so its private memory is at its own address.
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

bool SimTransport::ask(int process, Errand& errand) {
  if (process == ended_ || nanoseconds() % 10 >= network_.serving()) return false;
  errands_.fetch_add(1, std::memory_order_relaxed);
  errand.carry_out();  // the simulated peer is in this program
  return true;
}

std::optional<Error> SimTransport::carry_out_with(int process, const ChunkedOperation& operation,
                                                  ChunkWork& ours) {
  if (process == ended_ || network_.serving() == 0) return {};
  errands_.fetch_add(1, std::memory_order_relaxed);
  std::array<std::byte, ChunkedOperation::most_combined> space;
  const auto transfer = [](bool write, std::byte* here, std::uint64_t there, std::uint64_t bytes) {
    auto* const origin = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(there));
    std::memcpy(write ? origin : here, write ? here : origin, bytes);
    return true;
  };
  for (std::uint32_t number = 0; number < operation.chunks(); ++number) {
    const Chunk chunk = operation.chunk(number);
    if (nanoseconds() % 10 < network_.serving()) {
      operation.carry_out(chunk, space.data(), transfer);
    } else if (const Error error = ours.carry_out(chunk); error != Error::none) {
      return error;
    }
  }
  return Error::none;
}

Accepted SimTransport::transfer(int process, bool write, std::span<const TransferRun> runs,
                                std::uint64_t key, std::uint64_t token, Behind* behind) {
  // Like a provider with short vectors.
  if (runs.size() > most_vector) {
    runs = runs.first(most_vector);
    behind = nullptr;
  }
  SimNetwork::Direct direct{write, key, {}, {token, 0, Error::none}, {}};
  std::uint64_t& accepted_bytes = direct.transfer.bytes;
  for (TransferRun run : runs) {
    const std::uint64_t space = network_.longest_transfer() - accepted_bytes;
    if (run.bytes > space) {
      run.bytes = space;
      behind = nullptr;
    }
    accepted_bytes += run.bytes;
    if (run.bytes != 0) direct.runs.push_back(run);
  }
  if (accepted_bytes == 0) return {};
  const Accepted accepted{accepted_bytes, write && accepted_bytes <= network_.longest_copied()};
  if (accepted.copied) direct.copy();
  if (behind != nullptr) {
    direct.immediate = immediate_for(process, behind->message);
    behind->went = direct.immediate.has_value();
    if (behind->went) {
      ++peers_[process].sent;
      ++named_;
    }
  }
  network_.begin(self_, process, std::move(direct));
  return accepted;
}

/// As PacketSender::immediate_for().
std::optional<std::uint64_t> SimTransport::immediate_for(int process,
                                                         std::span<const std::byte> message) {
  const ImmediateFormat& format = network_.immediate_format();
  Peer& peer = peers_[process];
  if (!format.usable() || !peer.self || !format.names(*peer.self) || !SentCodes::fits(message)) {
    return std::nullopt;
  }
  const SentCodes::Code code = peer.sent_codes.code_of(message);
  if (!code.known) collect(process, message, {}, code.number);
  if (!peer.packet.empty()) send_packet(process, peer);
  return format.pack({*peer.self, peer.sent + 1, code.number});
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

NotifyOutcome SimTransport::notify(int process, const NotifyRecord& record,
                                   const NotifyStore& store) {
  return notifications(process).put(network_.notifications(self_).claim, self_,
                                    notify_senders_[process], record, store);
}

bool SimTransport::begin_recall(int process, std::uint32_t window, RecallFor reason) {
  return notifications(process).begin_recall(self_, notify_senders_[process], window, reason);
}

bool SimTransport::finish_recall(int process, StoreMaker& maker) {
  Sharers sharers(*this, self_, [](int sharer) { return sharer; });
  return notifications(process).finish_recall(self_, notify_senders_[process], sharers,
                                              static_cast<std::uint32_t>(process), maker);
}

void SimTransport::ring(Doorbell& doorbell) {
  doorbell.rings.fetch_add(1, std::memory_order_relaxed);
  doorbell.sleeping.store(0, std::memory_order_relaxed);
}

void SimTransport::relax() {
  std::this_thread::yield();
}

std::uint64_t SimTransport::nanoseconds() {
  // The steps are pseudo-random, and equal in each run of a program.
  constexpr std::uint64_t multiplier = 6364136223846793005;
  const std::uint64_t step = 1 + (now_.load(std::memory_order_relaxed) * multiplier >> 61);
  return now_.fetch_add(step, std::memory_order_relaxed) + step;
}

}  // namespace oriel
