// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/lifeline.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "transport/ofi/tcp_socket.hpp"
#include "transport/shm/clock.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

// The time between two attempts to connect, and the time after which an unused question is closed.
constexpr std::uint64_t patience = 1'000'000'000;
// The maximal number of connections that one call of poll() accepts.
constexpr int most_accepted = 128;
// The maximal number of losses sent on one connection. They fit into any receive buffer, so a peer
// that does not read for a long time does not appear to be silent.
constexpr std::size_t most_sent = 512;

void set_option(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

/// Sets the connection to fail if data or probes are unanswered for longer than the timeout.
void keep_alive(int socket, int timeout_s) {
  const int interval = std::max(1, timeout_s / 4);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, interval);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, timeout_s * 1000);
}

/// The address without the port.
LifelineName::Words node_of(const sockaddr_storage& address) {
  LifelineName::Words node{};
  if (address.ss_family == AF_INET) {
    node[0] = reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr;
  } else {
    std::memcpy(node.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr,
                sizeof node);
  }
  return node;
}

/// Returns whether the other end's kernel has acknowledged `bytes` bytes, so that it has the
/// connection.
bool was_acknowledged(int socket, std::size_t bytes) {
  tcp_info info{};
  socklen_t length = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
         info.tcpi_bytes_acked >= bytes;
}

}  // namespace

Lifeline::Lifeline(std::span<const std::byte> near, int timeout_s) : timeout_s_(timeout_s) {
  listen(near);
}

Lifeline::~Lifeline() {
  for (auto& line : lines_) {
    close(line.second);
    line.second.probe.end();
  }
  for (Line& line : accepted_) close(line);
  if (socket_ >= 0) ::close(socket_);
  if (refusing_ >= 0) ::close(refusing_);
}

void Lifeline::listen(std::span<const std::byte> near) {
  sockaddr_storage address{};
  if (near.size() < sizeof(sa_family_t) || near.size() > name_.address.size()) return;
  std::memcpy(&address, near.data(), near.size());
  auto length = static_cast<socklen_t>(near.size());
  // TCP needs an IPv4 or IPv6 address.
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return;
  set_port(address, 0);
  socket_ = open_socket(address);
  if (socket_ < 0) return;
  if (::getrandom(&name_.token, sizeof name_.token, 0) != sizeof name_.token ||
      ::bind(socket_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(socket_, SOMAXCONN) != 0) {
    return;
  }
  length = sizeof address;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length) != 0) return;
  std::memcpy(name_.address.data(), &address, std::min<std::size_t>(length, name_.address.size()));
  name_.address_bytes = static_cast<std::uint32_t>(length);
  name_.node = node_of(address);
  open_refusing_port(address);
}

void Lifeline::open_refusing_port(sockaddr_storage address) {
  socklen_t length = name_.address_bytes;
  set_port(address, 0);
  refusing_ = open_socket(address);
  if (refusing_ >= 0 && ::bind(refusing_, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
      ::getsockname(refusing_, reinterpret_cast<sockaddr*>(&address), &length) == 0) {
    name_.refusing_port = port_of(address);
  }
}

void Lifeline::close(Line& line) {
  if (line.socket >= 0) ::close(line.socket);
  line.socket = -1;
  line.open = false;
}

bool Lifeline::lost(const LifelineName& peer) const {
  return ended_.contains(peer.token) || silent_.contains(peer.node);
}

/// Records a loss. A loss that another process reports may be known already, or be of this process.
void Lifeline::record_loss(const Word& loss) {
  const bool ended = loss.kind == Word::Kind::ended;
  if (ended ? loss.process == name_.token : loss.node == name_.node) return;
  if (ended ? ended_.insert(loss.process).second : silent_.insert(loss.node).second) {
    losses_.push_back(loss);
  }
}

void Lifeline::watch(const LifelineName& peer) {
  if (peer.address_bytes == 0 || socket_ < 0 || peer.token == name_.token || lost(peer)) return;
  const auto [at, added] = lines_.try_emplace(peer.token);
  Line& line = at->second;
  if (!added && line.link) return;
  if (!added) {
    // The first word of a connection says whether it is a link or a question, so a question cannot
    // become a link: a new connection replaces it.
    close(line);
    --questions_;
    line = Line();
  }
  line.link = true;
  line.peer = peer;
  connect(line);
  line.probe.begin(peer, line.since);
}

bool Lifeline::alive(const LifelineName& peer) {
  if (peer.address_bytes == 0 || socket_ < 0) return true;
  poll();
  if (lost(peer)) return false;
  auto at = lines_.find(peer.token);
  if (at == lines_.end()) {
    if (questions_ == most_questions) return true;
    ++questions_;
    at = lines_.try_emplace(peer.token).first;
    at->second.peer = peer;
    connect(at->second);
  }
  Line& line = at->second;
  if (line.open) line.since = polled_;
  advance(line);
  return !lost(peer);
}

void Lifeline::connect(Line& line) {
  line.since = nanoseconds_now();
  line.open = line.known = false;
  line.sent = line.received = 0;
  sockaddr_storage address{};
  std::memcpy(&address, line.peer.address.data(), line.peer.address_bytes);
  line.socket = open_socket(address);
  if (line.socket < 0) return;
  keep_alive(line.socket, timeout_s_);
  if (::connect(line.socket, reinterpret_cast<sockaddr*>(&address),
                static_cast<socklen_t>(line.peer.address_bytes)) == 0) {
    greet(line);
  } else if (errno != EINPROGRESS) {
    if (errno == ECONNREFUSED) record_loss({Word::Kind::ended, {}, line.peer.token, {}});
    close(line);
  }
}

/// Advances a connection that was begun here.
void Lifeline::advance(Line& line) {
  if (line.socket >= 0 && !line.open) {
    const int error = outcome_of_connect(line.socket);
    if (error < 0) return;
    if (error == 0) {
      greet(line);
    } else {
      if (error == ECONNREFUSED) record_loss({Word::Kind::ended, {}, line.peer.token, {}});
      close(line);
    }
  }
  if (line.socket >= 0) receive(line);
}

/// Probes the node of a link until the node's kernel has acknowledged the first word. From then on
/// keep-alive probes watch the link.
void Lifeline::probe_node(Line& line) {
  if (line.known || (line.open && was_acknowledged(line.socket, sizeof(Word)))) {
    line.probe.end();
  } else if (line.probe.finds_silence(line.peer, polled_, timeout())) {
    record_loss({Word::Kind::silent, {}, {}, line.peer.node});
  }
}

/// Sends the first word of a connection. The socket has space for it.
void Lifeline::greet(Line& line) {
  line.open = true;
  const Word first{line.link ? Word::Kind::link : Word::Kind::question, line.peer.token,
                   name_.token, name_.node};
  ::send(line.socket, &first, sizeof first, MSG_DONTWAIT | MSG_NOSIGNAL);
}

Lifeline::Read Lifeline::read_word(Line& line, Word& word) {
  const ssize_t got = ::recv(line.socket, line.word.data() + line.received,
                             sizeof word - line.received, MSG_DONTWAIT);
  if (got < 0) {
    if (errno == ECONNRESET || errno == EPIPE) return Read::reset;
    return shows_silence(errno) ? Read::silent : Read::nothing;
  }
  if (got == 0) return Read::closed;
  line.received += static_cast<std::size_t>(got);
  if (line.received < sizeof word) return Read::nothing;
  line.received = 0;
  std::memcpy(&word, line.word.data(), sizeof word);
  return Read::word;
}

/// Receives the other end's words, and detects that it has ended.
void Lifeline::receive(Line& line) {
  while (line.socket >= 0) {
    Word word;
    const Read read = read_word(line, word);
    if (read == Read::nothing) break;
    if (read == Read::word && handle_word(line, word)) continue;
    const bool held = line.known || was_acknowledged(line.socket, sizeof(Word));
    bool ended = false;
    switch (read) {
      case Read::word:
        ended = !line.accepted && word.kind != Word::Kind::refused;
        break;
      case Read::closed:
      case Read::reset:
        // The process that began a question may close it.
        ended = (!line.accepted || line.link) && (held || read == Read::closed);
        break;
      default:
        if (held) record_loss({Word::Kind::silent, {}, {}, line.peer.node});
    }
    if (ended) record_loss({Word::Kind::ended, {}, line.peer.token, {}});
    // A refused question or link is repeated after ORIEL_PEER_TIMEOUT.
    if (read == Read::word && !line.accepted) {
      line.since = polled_ + timeout();
    }
    close(line);
  }
  if (line.socket >= 0 && line.known) send_losses(line);
}

/// Handles a received word. False if the connection must be closed.
bool Lifeline::handle_word(Line& line, const Word& word) {
  if (line.known) {
    if (word.kind != Word::Kind::ended && word.kind != Word::Kind::silent) return false;
    record_loss(word);
    return true;
  }
  const bool first = word.kind == Word::Kind::link || word.kind == Word::Kind::question;
  if (!first || word.token != name_.token) return false;
  line.known = true;
  if (!line.accepted) return true;
  line.link = word.kind == Word::Kind::link;
  line.peer.token = word.process;
  line.peer.node = word.node;
  greet(line);
  return true;
}

void Lifeline::send_losses(Line& line) {
  const std::size_t end = std::min(losses_.size(), most_sent);
  while (line.sent < end && ::send(line.socket, &losses_[line.sent], sizeof(Word),
                                   MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(Word)) {
    ++line.sent;
  }
}

void Lifeline::refuse(Line& line) {
  Word refused;
  refused.kind = Word::Kind::refused;
  ::send(line.socket, &refused, sizeof refused, MSG_DONTWAIT | MSG_NOSIGNAL);
  close(line);
}

void Lifeline::accept() {
  for (int i = 0; i < most_accepted; ++i) {
    Line line;
    line.socket =
        own_descriptor(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (line.socket < 0) return;
    keep_alive(line.socket, timeout_s_);
    line.since = polled_;
    line.open = line.accepted = true;
    receive(line);
    if (line.socket >= 0) accepted_.push_back(line);
  }
}

/// Refuses connections that are not proved within the timeout, and unproved connections and
/// questions beyond their limits. Links have no limit, because the number of watchers bounds them.
void Lifeline::bound_accepted() {
  std::size_t strangers = 0;
  std::size_t answered = 0;
  for (auto line = accepted_.rbegin(); line != accepted_.rend(); ++line) {
    if (!line->known) {
      const bool late = polled_ - line->since > timeout();
      if (++strangers > most_strangers || late) refuse(*line);
    } else if (!line->link && ++answered > most_answered) {
      refuse(*line);
    }
  }
  std::erase_if(accepted_, [](const Line& line) { return line.socket < 0; });
}

void Lifeline::poll() {
  const std::uint64_t now = nanoseconds_now();
  if (socket_ < 0 || now - polled_ < peer_check_interval) return;
  polled_ = now;
  accept();
  for (Line& line : accepted_) receive(line);
  bound_accepted();
  for (auto at = lines_.begin(); at != lines_.end();) {
    Line& line = at->second;
    advance(line);
    if (line.link && !lost(line.peer)) probe_node(line);
    const std::uint64_t age = now - std::min(line.since, now);
    const bool unanswered = !line.open && age > timeout();
    const bool unasked = line.open && age > patience;
    const bool gone = line.socket < 0 && (lost(line.peer) || age > patience);
    if (lost(line.peer) || (!line.link && (gone || unanswered || unasked))) {
      close(line);
      line.probe.end();
      if (!line.link) --questions_;
      at = lines_.erase(at);
      continue;
    }
    if (gone) connect(line);
    ++at;
  }
}

Watchers::Watchers(std::span<const std::uint64_t> nodes) {
  std::unordered_map<std::uint64_t, std::size_t> numbers;
  positions_.reserve(nodes.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const std::size_t node = numbers.try_emplace(nodes[rank], nodes_.size()).first->second;
    if (node == nodes_.size()) nodes_.emplace_back();
    positions_.push_back({node, nodes_[node].size()});
    nodes_[node].push_back(static_cast<int>(rank));
  }
}

std::vector<int> Watchers::watched_by(int rank) const {
  const Position own_position = positions_[static_cast<std::size_t>(rank)];
  const std::vector<int>& own = nodes_[own_position.node];
  std::vector<int> watched;
  for (std::size_t distance = 1; distance < nodes_.size(); distance *= 2) {
    const std::vector<int>& node = nodes_[(own_position.node + distance) % nodes_.size()];
    if (own_position.number < node.size()) watched.push_back(node[own_position.number]);
  }
  for (std::size_t distance = 1; distance < own.size(); distance *= 2) {
    watched.push_back(own[(own_position.number + distance) % own.size()]);
  }
  return watched;
}

}  // namespace oriel
