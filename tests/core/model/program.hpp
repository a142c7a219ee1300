// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace oriel::model {

/// A fault put into the protocols on purpose: into what their words do, not into their code, but
/// where a scene itself has the code that goes with them.
struct Mutation {
  enum class Kind : std::uint8_t {
    none,
    no_fence,   // the seldom side's membarrier is left out
    unrelease,  // stores of the word no longer release
    unacquire,  // loads of the word no longer acquire
    late,       // stores of the word happen after the look that follows them
    skip,       // writes of the word do not happen
    trusting,   // nobody asks whether another rank lives
    code        // the scene does otherwise what `word` names
  };
  Kind kind = Kind::none;
  std::string word;  // by its name, without a rank
  int rank = -1;     // of what this one does to it; -1: all
};

enum class Kind : std::uint8_t {
  load,
  store,
  exchange,
  add,
  compare_exchange,
  read_plain,
  write_plain,
  fence,
  alive,
  sleep,  // futex: while the word has this value
  wake,
  jump,  // the rank's state is that of another place in its program
  over,
  fail
};

/// One step of a rank.
struct Step {
  Kind kind = Kind::over;
  std::uint8_t word = 0;  // alive: the rank
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failing = std::memory_order_relaxed;  // compare_exchange
  std::uint64_t value = 0;     // to store, to add, desired; jump: where to
  std::uint64_t expected = 0;  // compare_exchange, sleep
  bool own = false;            // load: of a word to which no other rank stores
  std::string text{};          // fail: why

  /// What comes next depends on what the memory answers.
  bool asks() const {
    return kind == Kind::load || kind == Kind::exchange || kind == Kind::add ||
           kind == Kind::compare_exchange || kind == Kind::read_plain || kind == Kind::alive;
  }
};

/// The programs of a scenario's ranks, as graphs whose nodes are steps: found by running the real
/// code again and again, each time with what the memory has answered so far, up to the first step
/// that is not known. So where a rank is in its program is a number, and nothing has to be said
/// about its stack.
class Programs {
 public:
  using Code = std::function<void(int rank)>;

  Programs(Code code, Mutation mutation) : code_(std::move(code)), mutation_(std::move(mutation)) {}

  std::uint32_t start(int rank);
  std::uint32_t next(std::uint32_t node, std::uint64_t answer);
  const Step& step(std::uint32_t node) const { return nodes_[node].step; }
  const Mutation& mutation() const { return mutation_; }
  std::size_t nodes() const { return nodes_.size(); }

  /// A word's number; the same for the same address.
  std::uint8_t atomic(const void* address);
  std::uint8_t plain(const void* address);
  void name(const void* address, std::string name) { names_[address] = std::move(name); }
  /// Nobody else will store to the atomic word.
  void give(const void* address, int rank) { owners_[address] = rank; }
  /// -1: all.
  int owner(const void* address) const;
  std::string name(Kind kind, int word) const;
  bool mutated(Mutation::Kind kind, const void* address) const;

 private:
  struct Node {
    int rank = 0;
    Step step;
    std::vector<std::uint64_t> answers;  // that lead here
    std::vector<std::uint32_t> trail;    // through these nodes
    std::vector<std::pair<std::uint64_t, std::uint32_t>> next;
  };
  std::uint32_t discover(int rank, std::vector<std::uint64_t> answers,
                         std::vector<std::uint32_t> trail);

  Code code_;
  Mutation mutation_;
  std::vector<Node> nodes_;
  std::map<std::pair<int, std::uint64_t>, std::uint32_t> places_;  // of jumps
  std::vector<const void*> atomics_, plains_;
  std::map<const void*, std::string> names_;
  std::map<const void*, int> owners_;
};

/// One run of a rank's code, up to the first step without an answer.
class Run {
 public:
  Run(Programs& programs, int rank, const std::vector<std::uint64_t>& answers,
      const std::vector<std::uint32_t>& trail)
      : programs_(programs), rank_(rank), answers_(answers), trail_(trail) {}

  static Run& current() { return *current_; }
  Programs& programs() { return programs_; }
  int rank() const { return rank_; }

  /// The answer, or the end of the run.
  std::uint64_t step(const Step& step);
  /// A store that may be late.
  void store(const Step& step, bool late);
  /// The node at which the run is, and how many answers it has had.
  std::uint32_t place() const;
  std::size_t done() const { return done_; }
  /// The ranks, as bits, that have been found dead since so many answers.
  std::uint32_t found_dead_since(std::size_t done) const;
  [[noreturn]] void fail(const std::string& why);

  /// The first unknown step of the code.
  Step go(const Programs::Code& code);

 private:
  struct Stop {};
  void issue_late();

  inline static Run* current_ = nullptr;
  Programs& programs_;
  int rank_;
  const std::vector<std::uint64_t>& answers_;
  const std::vector<std::uint32_t>& trail_;
  std::size_t done_ = 0;
  bool found_ = false;
  bool stopped_ = false;
  Step found_step_;
  bool late_pending_ = false;
  Step late_;
  std::vector<std::pair<std::size_t, std::uint8_t>> found_dead_;
};

/// A violated expectation of a scenario ends the search.
inline void expect(bool condition, const char* why) {
  if (!condition) Run::current().fail(why);
}

}  // namespace oriel::model
