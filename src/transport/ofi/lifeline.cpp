// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/lifeline.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "transport/ofi/tcp_socket.hpp"
#include "transport/shm/clock.hpp"

namespace oriel {
namespace {

// The time between two attempts to connect, and the time after which an unused question is closed.
constexpr std::uint64_t patience = 1'000'000'000;
// The time after which a peer's next address is tried if nothing answers at one.
constexpr std::uint64_t patience_per_address = 2'000'000'000;
// The time for which the creation of a window waits for the answer to a link.
constexpr std::uint64_t longest_await = 1'000'000'000;
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

/// Returns whether the other end's kernel has acknowledged `bytes` bytes, so that it has the
/// connection.
bool was_acknowledged(int socket, std::size_t bytes) {
  tcp_info info{};
  socklen_t length = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
         info.tcpi_bytes_acked >= bytes;
}

}  // namespace

Lifeline::Lifeline(NodeAddresses own, int timeout_s) : own_(std::move(own)), timeout_s_(timeout_s) {
  if (!own_.all.empty()) listen();
}

Lifeline::~Lifeline() {
  for (auto& line : lines_) {
    close(line.second);
    line.second.probe.end();
  }
  for (Line& line : accepted_) close(line);
  close_socket(socket_);
  close_socket(refusing_);
}

void Lifeline::listen() {
  LifelineName name;
  name.node = own_.node;
  name.of_endpoint = own_.of_endpoint ? 1 : 0;
  const std::size_t count = std::min(own_.all.size(), name.addresses.size());
  bool all_v4 = true;
  for (std::size_t i = 0; i < count; ++i) {
    name.addresses[i] = own_.all[i].address;
    all_v4 = all_v4 && name.addresses[i].is_v4();
  }
  const IpAddress any = all_v4 ? IpAddress::v4(0) : IpAddress();
  const IpAddress& at = own_.of_endpoint ? name.addresses[0] : any;
  socket_ = open_port(at, name.port);
  if (socket_ < 0 || ::listen(socket_, SOMAXCONN) != 0 ||
      ::getrandom(&name.token, sizeof name.token, 0) != sizeof name.token) {
    error_ = errno;
    return;
  }
  refusing_ = open_port(at, name.refusing_port);
  name_ = name;
}

void Lifeline::close(Line& line) {
  close_socket(std::exchange(line.socket, -1));
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
  if (peer.port == 0 || socket_ < 0 || peer.token == name_.token || lost(peer)) return;
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
  if (needs_proof(peer)) awaited_[{peer.token, true}] = 0;
  connect(line);
}

/// Returns whether a loss of the process counts only after a process of its node has shown a token.
bool Lifeline::needs_proof(const LifelineName& peer) const {
  return peer.of_endpoint == 0 && peer.node != name_.node;
}

void Lifeline::expect(const LifelineName& peer) {
  if (peer.port == 0 || socket_ < 0 || lost(peer) || !needs_proof(peer)) return;
  if (expected_.insert(peer.token).second) awaited_[{peer.token, false}] = 0;
}

bool Lifeline::links_answered() {
  if (awaited_.empty()) return true;
  const std::uint64_t now = nanoseconds_now();
  poll_now(now);
  for (auto& [end, since] : awaited_) {
    if (since == 0) since = now;
  }
  std::erase_if(awaited_, [&](const auto& end) { return now - end.second > longest_await; });
  return awaited_.empty();
}

bool Lifeline::alive(const LifelineName& peer) {
  if (peer.port == 0 || socket_ < 0) return true;
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

/// The address to try next, of those that have not failed: a proved one, or else the first one.
std::optional<std::size_t> Lifeline::next_route(const LifelineName& peer, unsigned failed) const {
  std::optional<std::size_t> next;
  for (const std::size_t route : routes_to(peer, own_)) {
    if ((failed >> route & 1) != 0) continue;
    if (proved_.contains({peer.node, peer.addresses[route]})) return route;
    if (!next) next = route;
  }
  return next;
}

/// Returns whether an address of the peer is left to try if the line's one fails.
bool Lifeline::has_other_route(const Line& line) const {
  return next_route(line.peer, line.failed | 1U << line.route).has_value();
}

void Lifeline::connect(Line& line) {
  line.since = nanoseconds_now();
  line.open = line.known = false;
  line.sent = line.received = 0;
  const std::optional<std::size_t> route = next_route(line.peer, line.failed);
  if (!route) return;
  const IpAddress& address = line.peer.addresses[*route];
  if (line.link && (*route != line.route || !line.probe.begun())) {
    line.probe.end();
    line.probe = NodeProbe();
    line.probe.begin(address, line.peer.refusing_port, line.since);
  }
  line.route = *route;
  line.socket = open_socket(address);
  if (line.socket < 0) return;
  keep_alive(line.socket, timeout_s_);
  const int error = begin_connect(line.socket, address, line.peer.port);
  if (error != EINPROGRESS) finish_connect(line, error);
}

void Lifeline::finish_connect(Line& line, int error) {
  if (error == 0) return greet(line);
  abandon_address(line, error == ECONNREFUSED ? Evidence::ended : Evidence::none);
}

/// Returns whether the line's address leads to its peer's node.
bool Lifeline::proved(const Line& line) const {
  return !needs_proof(line.peer) ||
         proved_.contains({line.peer.node, line.peer.addresses[line.route]});
}

/// Closes a connection that has failed, and begins one to the peer's next address.
void Lifeline::abandon_address(Line& line, Evidence evidence) {
  close(line);
  const bool counts = proved(line);
  if (evidence == Evidence::ended && counts) {
    return record_loss({Word::Kind::ended, {}, line.peer.token, {}});
  }
  if (evidence == Evidence::silent && counts) line.silent = true;
  line.failed |= 1U << line.route;
  if (next_route(line.peer, line.failed)) return connect(line);
  if (line.silent) record_loss({Word::Kind::silent, {}, {}, line.peer.node});
  line.failed = 0;
}

/// Advances a connection that was begun here.
void Lifeline::advance(Line& line) {
  if (line.socket >= 0 && !line.open) {
    const int error = outcome_of_connect(line.socket);
    if (error < 0) return;
    finish_connect(line, error);
  }
  if (line.socket >= 0) receive(line);
}

/// Probes the node of a link until the node's kernel has acknowledged the first word. From then on
/// keep-alive probes watch the link.
void Lifeline::probe_node(Line& line) {
  if (line.known || (line.open && was_acknowledged(line.socket, sizeof(Word)))) {
    line.probe.end();
    line.failed = 0;
    if (proved(line)) line.silent = false;
  } else if (line.probe.finds_silence(polled_, timeout()) &&
             (!line.open || (proved(line) && !has_other_route(line)))) {
    // An open connection is not closed without a loss: its peer may receive the first word later.
    abandon_address(line, Evidence::silent);
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
    if (read == Read::word && !line.accepted && word.kind == Word::Kind::refused) {
      // A refused question or link is repeated after ORIEL_PEER_TIMEOUT.
      line.since = polled_ + timeout();
      close(line);
    } else {
      handle_end(line, read);
    }
    return;
  }
  if (line.socket >= 0 && line.known) send_losses(line);
}

/// The loss that the end of this connection shows, if it leads to its peer's node.
Lifeline::Evidence Lifeline::evidence_of(Line& line, Read read) {
  const bool held = line.known || was_acknowledged(line.socket, sizeof(Word));
  // The process that began a question may close it.
  const bool kept = !line.accepted || line.link;
  switch (read) {
    case Read::word:
      return line.accepted ? Evidence::none : Evidence::ended;
    case Read::closed:
      return kept ? Evidence::ended : Evidence::none;
    case Read::reset:
      return kept && held ? Evidence::ended : Evidence::none;
    default:
      return held || line.probe.finds_silence(polled_, timeout()) ? Evidence::silent
                                                                  : Evidence::none;
  }
}

/// Where nodes have several addresses, a node that is silent at one of them may live. Its kernel
/// resets a connection that has failed in the meantime. So such a reset shows nothing, and neither
/// reset nor silence of an accepted connection does: a connection to the peer tells.
void Lifeline::handle_end(Line& line, Read read) {
  const Evidence evidence = evidence_of(line, read);
  const bool unsure = !own_.of_endpoint && read != Read::closed;
  if (!line.accepted) {
    if (!unsure || read != Read::reset || !proved(line)) return abandon_address(line, evidence);
    close(line);
    return connect(line);
  }
  if (evidence == Evidence::ended && !unsure) {
    record_loss({Word::Kind::ended, {}, line.peer.token, {}});
  }
  if (evidence == Evidence::silent && !unsure) {
    record_loss({Word::Kind::silent, {}, {}, line.peer.node});
  }
  close(line);
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
  if (!line.accepted) {
    proved_.emplace(line.peer.node, line.peer.addresses[line.route]);
    awaited_.erase({line.peer.token, true});
    line.failed = 0;
    line.silent = false;
    return true;
  }
  line.link = word.kind == Word::Kind::link;
  if (line.link) {
    expected_.insert(word.process);
    awaited_.erase({word.process, false});
  }
  line.peer.token = word.process;
  line.peer.node = word.node;
  proved_.emplace(word.node, ip_address_of_peer(line.socket));
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
    line.socket = accept_connection(socket_);
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
  if (socket_ >= 0 && now - polled_ >= peer_check_interval) poll_now(now);
}

void Lifeline::poll_now(std::uint64_t now) {
  polled_ = now;
  accept();
  for (Line& line : accepted_) receive(line);
  bound_accepted();
  for (auto at = lines_.begin(); at != lines_.end();) {
    Line& line = at->second;
    advance(line);
    if (line.link && !lost(line.peer)) probe_node(line);
    const std::uint64_t waited = now - std::min(line.since, now);
    if (line.socket >= 0 && !line.open && waited > patience_per_address &&
        (line.silent || has_other_route(line))) {
      abandon_address(line, Evidence::none);
    }
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

/// The ranks at the distances 1, 2, 4, ... from a rank, forward or backward.
std::vector<int> Watchers::linked_to(int rank, bool forward) const {
  const Position own_position = positions_[static_cast<std::size_t>(rank)];
  const std::vector<int>& own = nodes_[own_position.node];
  const auto step = [forward](std::size_t from, std::size_t distance, std::size_t count) {
    return (from + (forward ? distance : count - distance)) % count;
  };
  std::vector<int> linked;
  for (std::size_t distance = 1; distance < nodes_.size(); distance *= 2) {
    const std::vector<int>& node = nodes_[step(own_position.node, distance, nodes_.size())];
    if (own_position.number < node.size()) linked.push_back(node[own_position.number]);
  }
  for (std::size_t distance = 1; distance < own.size(); distance *= 2) {
    linked.push_back(own[step(own_position.number, distance, own.size())]);
  }
  return linked;
}

}  // namespace oriel
