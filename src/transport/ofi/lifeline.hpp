// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <span>
#include <type_traits>
#include <vector>

#include "transport/ofi/lifeline_name.hpp"

namespace oriel {

/// Detects that processes on other nodes have ended. Each process listens at a TCP socket. The
/// kernel of a node answers for a process that only computes; it closes the connections of a
/// process that ends; a node that is cut off does not answer keep-alive probes.
///
/// A process is lost if its node refuses or resets a connection, if it closes one, and if a node is
/// silent to a connection that was there. No answer to an attempt to connect means nothing: as many
/// connections as the kernel holds may wait to be accepted.
///
/// - Links (watch()) are kept from the making of a window on. Both ends of a link watch each other.
/// - Questions (alive()) are connections to processes that are waited for, a few at a time.
/// - Both ends of either tell each other what they hear of losses: a loss reaches all processes.
/// - Both ends show that they are of the job, by each other's token. Connections of others are
///   closed, and only so many are kept.
class Lifeline {
 public:
  /// Questions at a time; the links tell of the other processes.
  static constexpr std::size_t most_questions = 32;
  /// Questions of others that are kept. Others are refused, and do not take that for a loss.
  static constexpr std::size_t most_answered = 64;
  /// Connections that have not shown yet that they are of the job.
  static constexpr std::size_t most_strangers = 64;

  /// At the address of `near` (a socket address of this node), any port. `timeout_s`: so long may
  /// a node be silent.
  Lifeline(std::span<const std::byte> near, int timeout_s);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  const LifelineName& name() const { return name_; }
  /// Keeps a link to that process.
  void watch(const LifelineName& peer);
  /// False once it is known to have ended, or to be out of reach; without an address it never is.
  /// Never blocks.
  bool alive(const LifelineName& peer);
  /// Accepts connections, and receives and sends losses; at most once per peer_check_interval.
  void look();
  /// How many there are at this process.
  std::size_t connections() const { return lines_.size() + accepted_.size(); }

 private:
  using Words = LifelineName::Words;
  /// The unit of what a connection carries, in both directions.
  struct Word {
    enum class Kind : std::uint64_t {
      link,      // the first word of a link's end, of its `process` to the one with the `token`
      question,  // the first word of either end of a question
      refused,   // there are too many connections
      ended,     // the `process` has
      silent     // the `node` is
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
    bool open = false;        // else connecting
    bool link = false;        // else a question
    bool accepted = false;    // else begun here
    bool known = false;       // the other end has shown that it is of the job
    LifelineName peer;        // of an accepted one: once it is known, without its address
    std::uint64_t since = 0;  // it was begun, accepted, or last asked for
    std::size_t told = 0;     // of losses_
    std::size_t received = 0;
    std::array<std::byte, sizeof(Word)> word{};  // so much of which has been received
  };
  enum class Read : std::uint8_t { nothing, word, closed, silent };

  void listen(std::span<const std::byte> near);
  void connect(Line& line);
  void advance(Line& line);
  void greet(Line& line);
  void receive(Line& line);
  Read read_word(Line& line, Word& word);
  bool take(Line& line, const Word& word);
  void tell(Line& line);
  void accept();
  void refuse(Line& line);
  static void close(Line& line);
  bool lost(const LifelineName& peer) const;
  void note(const Word& loss);
  void bound_accepted();

  int timeout_s_;
  int socket_ = -1;
  LifelineName name_;
  std::map<Words, Line> lines_;  // begun here, by token
  std::list<Line> accepted_;     // the oldest first
  std::size_t questions_ = 0;    // among lines_
  std::set<Words> ended_;
  std::set<Words> silent_;
  std::vector<Word> losses_;  // as they were heard of
  std::uint64_t looked_ = 0;
};

}  // namespace oriel
