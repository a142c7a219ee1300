// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "transport/ofi/lifeline_name.hpp"
#include "transport/ofi/node_addresses.hpp"
#include "transport/ofi/node_probe.hpp"

namespace oriel {

/// Detects that processes on other nodes have ended. Each process listens on a TCP socket. The
/// kernel answers for a process that only computes, and closes the connections of a process that
/// ends. A node that is cut off does not answer keep-alive probes.
///
/// A process is lost if its node refuses a connection, or if a connection that its kernel holds is
/// closed or reset. All processes of a node are lost if the node stops answering on such a
/// connection, or stops answering probes.
///
/// An address that leads to the wrong node would refuse connections, too. So all this counts only
/// at proved addresses: the endpoint's own, an address at which a process of the node has answered
/// with its token, and an address from which one has connected with this process's token. A
/// failure at another address only leads to the peer's next address. A node is silent only if it is
/// silent at a proved address and answers at none of the others. The making of a window waits until
/// the new links have proved the addresses (links_answered()).
///
/// When the backlog is full, the peer's kernel drops further connections, also ones that this end
/// regards as established. So silence and resets count only after the peer's kernel has
/// acknowledged the first word. Until then a NodeProbe shows whether the node answers.
///
/// - Links (watch()) exist from the creation of a window on. Both ends of a link watch each other.
/// - Questions (alive()) are connections to processes that a call waits for, a few at a time.
/// - Both ends of either send each other the losses that they know of, so a loss is reported to all
///   processes.
/// - Both ends prove by each other's token that they belong to the job. Connections of others are
///   closed, and only a limited number is kept.
class Lifeline {
 public:
  /// Questions at one time; losses of other processes are reported through the links.
  static constexpr std::size_t most_questions = 32;
  /// Accepted questions that are kept. Further ones are refused, which does not count as a loss.
  static constexpr std::size_t most_answered = 64;
  /// Accepted connections that have not yet proved that they belong to the job.
  static constexpr std::size_t most_strangers = 64;

  /// Listens at these addresses, on any port. `timeout_s`: the time in seconds after which a silent
  /// node is lost.
  Lifeline(NodeAddresses own, int timeout_s);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  const LifelineName& name() const { return name_; }
  /// Why it does not listen although it has addresses: errno; 0: it listens, or has none.
  int error() const { return error_; }
  /// Begins a link to a process.
  void watch(const LifelineName& peer);
  /// Called when the process begins a link to this one.
  void expect(const LifelineName& peer);
  /// Returns whether no new link of watch() or expect() waits for the other end's token, without
  /// which its address is not proved. Each is awaited for a second at most, and once. Polls while
  /// there is one. Both ends call it, so neither needs an agent.
  bool links_answered();
  /// False if the process is known to have ended or to be unreachable. A process without an address
  /// counts as alive. Never blocks.
  bool alive(const LifelineName& peer);
  /// Accepts connections, and receives and sends losses; at most once per peer_check_interval.
  void poll();
  /// The number of connections of this process.
  std::size_t connections() const { return lines_.size() + accepted_.size(); }

 private:
  using Words = LifelineName::Words;
  /// The unit of data on a connection, in both directions.
  struct Word {
    enum class Kind : std::uint64_t {
      link,      // the first word of either end of a link, from `process` to the process with the
                 // `token`
      question,  // the first word of either end of a question
      refused,   // the connection is refused, because there are too many
      ended,     // `process` has ended
      silent     // `node` does not answer
    };
    Kind kind = Kind::link;
    Words token{};
    Words process{};
    Words node{};
  };
  static_assert(std::is_trivially_copyable_v<Word> && sizeof(Word) == 7 * sizeof(std::uint64_t));
  /// A connection, or an attempt at one.
  struct Line {
    int socket = -1;
    bool open = false;      // false: connecting
    bool link = false;      // false: a question
    bool accepted = false;  // false: begun here
    bool known = false;     // the other end has proved that it belongs to the job
    LifelineName peer;  // of an accepted connection: set when it is known, without its addresses
    // Of a connection that was begun here, in indices of peer.addresses:
    std::size_t route = 0;    // the address that it leads to
    unsigned failed = 0;      // bit set of those that have failed since the last answer
    bool silent = false;      // the node has been silent at a proved one of them
    std::uint64_t since = 0;  // time when it was begun, accepted, or last asked for
    NodeProbe probe;          // of a link that was begun here
    std::size_t sent = 0;     // number of losses_ sent
    std::size_t received = 0;
    std::array<std::byte, sizeof(Word)> word{};  // the word being received, `received` bytes of it
  };
  enum class Read : std::uint8_t { nothing, word, closed, reset, silent };
  /// The loss that a failed connection shows if its address is proved.
  enum class Evidence : std::uint8_t { none, ended, silent };

  void listen();
  void poll_now(std::uint64_t now);
  bool needs_proof(const LifelineName& peer) const;
  std::optional<std::size_t> next_route(const LifelineName& peer, unsigned failed) const;
  bool has_other_route(const Line& line) const;
  void connect(Line& line);
  void finish_connect(Line& line, int error);
  bool proved(const Line& line) const;
  void abandon_address(Line& line, Evidence evidence);
  Evidence evidence_of(Line& line, Read read);
  void handle_end(Line& line, Read read);
  void advance(Line& line);
  void probe_node(Line& line);
  void greet(Line& line);
  void receive(Line& line);
  Read read_word(Line& line, Word& word);
  bool handle_word(Line& line, const Word& word);
  void send_losses(Line& line);
  void accept();
  void refuse(Line& line);
  static void close(Line& line);
  bool lost(const LifelineName& peer) const;
  std::uint64_t timeout() const { return static_cast<std::uint64_t>(timeout_s_) * 1'000'000'000; }
  void record_loss(const Word& loss);
  void bound_accepted();

  NodeAddresses own_;
  int timeout_s_;
  int socket_ = -1;
  int refusing_ = -1;  // bound, and not listening
  int error_ = 0;
  LifelineName name_;
  std::map<Words, Line> lines_;                   // begun here, by the peer's token
  std::list<Line> accepted_;                      // the oldest first
  std::size_t questions_ = 0;                     // number of questions in lines_
  std::set<std::pair<Words, IpAddress>> proved_;  // nodes with their addresses
  std::set<Words> expected_;  // processes that have begun a link to this one, or that will
  // The ends of links whose tokens links_answered() awaits: tokens of processes, and whether the
  // link was begun here. With the time since when they are awaited; 0: not yet.
  std::map<std::pair<Words, bool>, std::uint64_t> awaited_;
  std::set<Words> ended_;
  std::set<Words> silent_;
  std::vector<Word> losses_;  // in the order in which they became known
  std::uint64_t polled_ = 0;
};

/// The links (Lifeline) between the ranks of a window. Each rank has few, such that the end of a
/// rank, or of a whole node, is detected on other nodes, and a loss that one rank knows reaches all
/// ranks.
///
/// Nodes are numbered from 0 to m - 1, and so are the ranks of each node. Rank p of node i has
/// links to
/// - rank p of the nodes i + 1, i + 2, i + 4, ... modulo m, if they have so many ranks;
/// - ranks p + 1, p + 2, p + 4, ... of its own node, modulo the number of ranks there.
/// So rank 0 of each node is linked from ceil(log2 m) other nodes, and every rank of a node of n
/// ranks from ceil(log2 n) ranks of its own node, however different the nodes are.
class Watchers {
 public:
  /// `nodes`: a number for each rank; equal numbers mean one node.
  explicit Watchers(std::span<const std::uint64_t> nodes);

  /// The ranks to which rank `rank` has links.
  std::vector<int> watched_by(int rank) const { return linked_to(rank, true); }
  /// The ranks that have links to rank `rank`.
  std::vector<int> watchers_of(int rank) const { return linked_to(rank, false); }

 private:
  std::vector<int> linked_to(int rank, bool forward) const;

  struct Position {
    std::size_t node;
    std::size_t number;  // among the ranks of the node
  };
  std::vector<Position> positions_;      // by rank
  std::vector<std::vector<int>> nodes_;  // the ranks of each node
};

}  // namespace oriel
