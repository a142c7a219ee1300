// SPDX-License-Identifier: BSD-3-Clause
#include "core/collective/remote_lanes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "core/collective/packed.hpp"

namespace oriel {

RemoteLanes::RemoteLanes(Region& region, Messages& messages, const Limits& limits, Sender* sender,
                         PlanWrites& writes, const Schedule& schedule, PlanProgress& progress)
    : region_(region),
      messages_(messages),
      limits_(limits),
      sender_(sender),
      writes_(writes),
      progress_(progress),
      registrations_(messages) {
  if (sender == nullptr) return;
  std::vector<int> ranks;
  for (const Schedule::Send& send : schedule.sends) {
    if (!region.mapped(send.to)) ranks.push_back(send.to);
  }
  for (const Schedule::Receive& receive : schedule.receives) {
    if (!region.mapped(receive.from)) ranks.push_back(receive.from);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  for (const int rank : ranks) peers_.push_back({.rank = rank});
  for (const Schedule::Send& send : schedule.sends) {
    if (region.mapped(send.to)) continue;
    Send& made = sends_.emplace_back();
    made.packed = Packed(send.from);
    made.peer = peer_of(send.to);
    made.step = send.step;
  }
  by_peer_.resize(sends_.size());
  std::iota(by_peer_.begin(), by_peer_.end(), 0U);
  std::ranges::stable_sort(by_peer_, {}, [this](std::uint32_t i) { return sends_[i].peer; });
  for (const Schedule::Receive& receive : schedule.receives) {
    if (region.mapped(receive.from)) continue;
    Receive& made = receives_.emplace_back();
    made.packed = Packed(receive.into);
    made.peer = peer_of(receive.from);
    made.step = receive.step;
  }
}

RemoteLanes::~RemoteLanes() {
  // Transfers in flight then find no PlanWrite for their token.
  for (const Send& send : sends_) {
    if (send.write != nullptr) writes_.release(*send.write);
  }
}

std::size_t RemoteLanes::peer_of(int rank) {
  return static_cast<std::size_t>(find_peer(rank) - peers_.data());
}

RemoteLanes::Peer* RemoteLanes::find_peer(int rank) {
  const auto found = std::ranges::lower_bound(peers_, rank, {}, &Peer::rank);
  return found != peers_.end() && found->rank == rank ? &*found : nullptr;
}

void RemoteLanes::send_spaces() {
  std::vector<std::uint32_t> order(peers_.size());
  for (std::uint32_t i = 0; i < receives_.size(); ++i) {
    Receive& receive = receives_[i];
    const Peer& peer = peers_[receive.peer];
    Message message;
    message.kind = MessageKind::plan_space;
    message.word = progress_.plan;
    message.element = order[receive.peer]++;
    message.first = i;
    message.count = receive.packed.bytes();
    message.basic = receive.packed.basic();
    if (message.count == 0) continue;
    if (message.count > limits_.eager && receive.packed.run() != nullptr) {
      receive.registration = registrations_.register_buffer(
          region_.member(peer.rank).process, true, receive.packed.run(), receive.packed.bytes());
    }
    if (receive.registration < 0) {
      sender_->send(peer.rank, message);
      continue;
    }
    const RemoteMemory& registered = registrations_.memory(receive.registration);
    message.data = sizeof registered;
    sender_->send(peer.rank, message, std::as_bytes(std::span(&registered, 1)));
  }
}

PlanFault RemoteLanes::receive_space(const Message& message, std::span<const std::byte> payload) {
  const auto [first, last] =
      std::ranges::equal_range(by_peer_, message.origin, {},
                               [this](std::uint32_t i) { return peers_[sends_[i].peer].rank; });
  if (message.element >= static_cast<std::uint64_t>(last - first)) {
    return {PlanFault::Kind::unmatched, region_.rank(), message.origin, 0, message.count};
  }
  Send& send = sends_[first[static_cast<std::ptrdiff_t>(message.element)]];
  send.space = message.count;
  send.number = static_cast<std::uint32_t>(message.first);
  if (payload.size() == sizeof send.memory && send.packed.run() != nullptr) {
    std::memcpy(&send.memory, payload.data(), sizeof send.memory);
    send.direct = !eager(send);
  }
  if (match_types(send.packed.basic(), message.basic) || send.packed.bytes() == 0) return {};
  return {PlanFault::Kind::types, region_.rank(), message.origin, send.packed.bytes(), send.space};
}

PlanFault RemoteLanes::check() const {
  for (const Send& send : sends_) {
    if (send.packed.bytes() <= send.space) continue;
    return {PlanFault::Kind::truncated, region_.rank(), peers_[send.peer].rank, send.packed.bytes(),
            send.space};
  }
  return {};
}

void RemoteLanes::finalize() {
  by_peer_ = {};
  // A receiver with space is sent a message in each use, even if this rank sends no bytes.
  std::erase_if(sends_, [](const Send& send) { return send.space == 0; });
  for (const Send& send : sends_) {
    peers_[send.peer].hears |= send.step == 0 && eager(send);
    if (send.packed.run() == nullptr) {
      scratch_.resize(std::max(scratch_.size(), std::min(send.packed.bytes(), limits_.fragment)));
    }
  }
  for (const Receive& receive : receives_) {
    peers_[receive.peer].receives |= receive.packed.bytes() != 0;
  }
  sending_.reserve(sends_.size());
}

void RemoteLanes::count_receives(std::vector<std::uint32_t>& by_step) const {
  for (const Receive& receive : receives_) {
    if (receive.packed.bytes() != 0) ++by_step[static_cast<std::size_t>(receive.step)];
  }
}

Message RemoteLanes::header(const Send& send) const {
  Message message;
  message.kind = MessageKind::plan_bytes;
  message.word = progress_.plan;
  message.stamp = progress_.use;
  message.element = send.number;
  return message;
}

void RemoteLanes::start() {
  next_send_ = 0;
  for (const Peer& peer : peers_) {
    // A sender must know that this rank has begun the use.
    if (!peer.receives || peer.hears) continue;
    Message message;
    message.kind = MessageKind::plan_started;
    message.word = progress_.plan;
    message.stamp = progress_.use;
    sender_->send(peer.rank, message);
  }
  for (Receive& receive : receives_) {
    if (!receive.ahead) continue;
    receive.packed.copy_in(0, receive.early.size(), receive.early.data());
    receive.ahead = false;
    arrived(receive, receive.early_error);
  }
}

void RemoteLanes::begin_sends(int step) {
  for (; next_send_ < sends_.size() && sends_[next_send_].step == step; ++next_send_) {
    Send& send = sends_[next_send_];
    send.sent = 0;
    send.stale = progress_.stale;
    progress_.begin_send(peers_[send.peer].rank, send.packed.bytes(), step);
    if (push(send)) {
      progress_.sent(peers_[send.peer].rank, send.packed.bytes(), step);
      continue;
    }
    sending_.push_back(static_cast<std::uint32_t>(next_send_));
  }
}

bool RemoteLanes::push(Send& send) {
  const std::uint64_t started = peers_[send.peer].started;
  if (started + (eager(send) ? 1 : 0) < progress_.use) return false;
  if (send.stale) {
    push_stale(send);
    return true;
  }
  if (!send.direct) return push_by_messages(send);
  push_directly(send);
  return false;  // written() handles the end of the write
}

bool RemoteLanes::push_by_messages(Send& send) {
  const int rank = peers_[send.peer].rank;
  const std::uint64_t total = send.packed.bytes();
  while (true) {
    if (!eager(send) && sender_->congested(rank)) return false;
    const std::uint64_t bytes = std::min(total - send.sent, limits_.fragment);
    Message message = header(send);
    message.first = send.sent;
    message.data = static_cast<std::uint32_t>(bytes);
    message.last = send.sent + bytes == total ? 1 : 0;
    const std::byte* from = send.packed.run();
    if (from != nullptr) {
      from += send.sent;
    } else {
      send.packed.copy_out(send.sent, bytes, scratch_.data());
      from = scratch_.data();
    }
    sender_->send(rank, message, {from, bytes});
    send.sent += bytes;
    if (message.last != 0) return true;
  }
}

/// Sends the receiver the transfer's end, with an error and no bytes.
void RemoteLanes::push_stale(Send& send) {
  Message message = header(send);
  message.last = 1;
  message.error = Error::system;
  sender_->send(peers_[send.peer].rank, message);
}

void RemoteLanes::push_directly(Send& send) {
  const int rank = peers_[send.peer].rank;
  const std::uint64_t total = send.packed.bytes();
  if (send.write == nullptr) {
    send.write = &writes_.acquire();
    send.write->lanes = this;
    send.write->send = static_cast<std::uint32_t>(&send - sends_.data());
  }
  PlanWrite& write = *send.write;
  while (write.begun < total) {
    const std::array<TransferRun, 1> run{
        {{send.packed.run() + write.begun, send.memory.address + write.begun,
          total - write.begun}}};
    Message notification = header(send);
    notification.last = 1;
    sender_->address(rank, notification);
    Behind behind{notification.trim()};
    // A piece in flight may still fail, so the message may then not be sent with this one.
    const bool may_announce = messages_.orders_writes() && write.over == write.begun;
    const std::uint64_t accepted =
        messages_
            .transfer(region_.member(rank).process, true, run, send.memory.key,
                      PlanWrites::token(write), may_announce ? &behind : nullptr)
            .bytes;
    if (accepted == 0) return;
    write.begun += accepted;
    write.announced = behind.went;
  }
}

void RemoteLanes::written(PlanWrite& write, const Transfer& transfer) {
  Send& send = sends_[write.send];
  const int rank = peers_[send.peer].rank;
  write.over += transfer.bytes;
  write.error = first_of(write.error, transfer.error);
  if (write.over < write.begun) return;
  if (write.begun < send.packed.bytes() && write.error == Error::none) return;
  if (write.error != Error::none) progress_.fail({write.error, rank, true});
  if (!write.announced) {
    Message notification = header(send);
    notification.last = 1;
    notification.error = write.error;
    sender_->send(rank, notification);
  }
  writes_.release(write);
  send.write = nullptr;
  const auto index = static_cast<std::uint32_t>(&send - sends_.data());
  if (std::erase(sending_, index) != 0) progress_.sent(rank, send.packed.bytes(), send.step);
}

bool RemoteLanes::advance() {
  return remove_over(sending_, [&](std::uint32_t i) {
           const Send& send = sends_[i];
           if (!push(sends_[i])) return false;
           progress_.sent(peers_[send.peer].rank, send.packed.bytes(), send.step);
           return true;
         }) != 0;
}

bool RemoteLanes::receive_started(const Message& message) {
  Peer* peer = find_peer(message.origin);
  if (peer == nullptr || message.stamp > progress_.use + 1) return false;
  peer->started = std::max(peer->started, message.stamp);
  return true;
}

bool RemoteLanes::receive_bytes(const Message& message, std::span<const std::byte> payload) {
  Peer* peer = find_peer(message.origin);
  if (peer == nullptr || message.element >= receives_.size() || payload.size() != message.data) {
    return false;
  }
  Receive& receive = receives_[message.element];
  const std::uint64_t space = receive.packed.bytes();
  if (&peers_[receive.peer] != peer || message.first > space ||
      payload.size() > space - message.first || message.stamp != receive.use + 1) {
    return false;
  }
  const bool now = progress_.active && message.stamp == progress_.use;
  const bool next = !now && message.stamp == progress_.use + 1;
  if (!now && (!next || receive.ahead || message.first != 0 || message.last == 0)) return false;
  peer->started = std::max(peer->started, message.stamp);
  if (next) {
    receive.early.assign(payload.begin(), payload.end());
    receive.early_error = message.error;
    receive.ahead = true;
    return true;
  }
  if (!payload.empty()) receive.packed.copy_in(message.first, payload.size(), payload.data());
  if (message.last != 0) arrived(receive, message.error);
  return true;
}

void RemoteLanes::arrived(Receive& receive, Error error) {
  if (error != Error::none) progress_.fail({error, peers_[receive.peer].rank, false});
  receive.use = progress_.use;
  progress_.received(peers_[receive.peer].rank, receive.packed.bytes(), receive.step);
}

int RemoteLanes::lost_peer() const {
  for (const std::uint32_t i : sending_) {
    const int rank = peers_[sends_[i].peer].rank;
    if (!region_.alive(rank)) return rank;
  }
  for (const Receive& receive : receives_) {
    const int rank = peers_[receive.peer].rank;
    if (receive.packed.bytes() != 0 && receive.use != progress_.use && !region_.alive(rank)) {
      return rank;
    }
  }
  return -1;
}

void RemoteLanes::abandon() {
  sending_.clear();
}

}  // namespace oriel
