// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/lock/control.hpp"
#include "core/lock/lock_line.hpp"
#include "core/lock/update.hpp"
#include "core/mapped/fence_words.hpp"
#include "core/transport/doorbell.hpp"
#include "search.hpp"
#include "transport/shm/mailbox_ring.hpp"
#include "words.hpp"

namespace oriel::model {

/// A control block and its ranks' slots and nodes, laid out as in shared memory.
class Control {
 public:
  using Block = BasicControlBlock<Words>;

  explicit Control(int ranks)
      : memory_(Block::bytes(static_cast<std::size_t>(ranks)) / sizeof(Line) + 1) {
    block_ = Block::create(memory_.data(), static_cast<std::uint32_t>(ranks), 1);
    for (int rank = 0; rank < ranks; ++rank) {
      new (block_->slots() + rank) Block::Slot;
      new (block_->nodes() + rank) Block::LockNode;
    }
  }
  Block& block() { return *block_; }

 private:
  struct alignas(cache_line) Line {
    std::array<std::byte, cache_line> bytes{};
  };
  std::vector<Line> memory_;
  Block* block_ = nullptr;
};

/// What the ranks of a search do.
class Scene {
 public:
  virtual ~Scene() = default;

  /// `kills`: so many ranks are killed, at any step.
  Result search(const Mutation& mutation, int kills, std::uint64_t most_states);
  /// The search begins behind these steps.
  void begin(std::vector<Lead> leads) { leads_ = std::move(leads); }
  virtual std::string description() const = 0;

 protected:
  virtual int ranks() const = 0;
  virtual void name_words(Programs& programs) = 0;
  virtual void play(int rank) = 0;
  /// What is wrong when all have finished, and nobody was killed.
  virtual std::string check_end(State& state, Programs& programs) = 0;

 private:
  std::vector<Lead> leads_;
};

/// One lock, and a word that it protects.
class LockScene final : public Scene {
 public:
  /// What one rank does: each letter takes the lock and gives it back. x: exclusively; s: shared;
  /// j: shared, as a lock_all epoch does, which joins; e: leaves a piggybacked operation if it has
  /// to wait.
  using Scripts = std::vector<std::string>;

  /// `asymmetric`: the seldom side fences, see store_before_load().
  LockScene(Scripts scripts, bool asymmetric);

  std::string description() const override;

 private:
  using LockLine = BasicLockLine<Words>;
  using LockNode = BasicLockNode<Words>;

  int ranks() const override { return static_cast<int>(scripts_.size()); }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  void turn(int rank, std::size_t number, char what);
  /// False: somebody has died, and this rank need not be granted the lock any more.
  bool granted(int rank);
  void write();

  Scripts scripts_;
  Control control_;
  std::vector<int> all_;
  std::deque<Sharers> sharers_;
  Plain<std::uint32_t> data_;
};

/// Accumulates to the memory of one rank.
class UpdateScene final : public Scene, public Threads {
 public:
  /// Each letter is an update. Of an origin: e, one element; a, whole. Of a thread in its line,
  /// with the lock of its process: k, one element; l, whole; without, given up if it is not
  /// permitted: w, one element; v, whole. A script of the last two is that of another thread of the
  /// first rank.
  using Scripts = std::vector<std::string>;

  UpdateScene(Scripts scripts, bool asymmetric);

  std::string description() const override;

 private:
  using Update = BasicUpdate<Words>;
  using HotUpdate = BasicHotUpdate<Words>;

  int ranks() const override { return static_cast<int>(scripts_.size()); }
  std::span<const Line> of_rank(int rank) const override;
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  Line& line_of(int rank);
  void update(int rank, char what);
  void update_unlocked(int rank, bool whole);
  void count(bool alone);

  Scripts scripts_;  // those of threads come last
  int threads_;      // so many
  Control control_;
  std::vector<int> sharing_;
  std::deque<Sharers> sharers_;
  std::unique_ptr<Line[]> lines_;  // by script, but those of threads behind the first one
  Atomic<std::uint32_t> element_;
  Atomic<std::uint32_t> given_up_;
};

/// The last rank's process sleeps, in one thread or in several, until each of the other ranks has
/// stored its words and rung where it had to.
class SleepScene final : public Scene {
 public:
  SleepScene(int storers, int words, int sleepers);

  std::string description() const override;

 private:
  int ranks() const override { return storers_ + sleepers_; }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  void store(int storer, std::uint32_t value);
  void await(int storer, std::uint32_t value);

  int storers_;
  int words_;
  int sleepers_;
  BasicDoorbell<Words> bell_;
  Sharers sleeper_;
  struct Stored {
    Atomic<std::uint32_t> word;
    std::array<Plain<std::uint32_t>, 4> data;  // that the values of the word announce
  };
  std::array<Stored, most_ranks> stored_;
};

/// Ranks come to closing fences that a tree counts, in groups of two, and leave it for good.
class TreeScene final : public Scene {
 public:
  TreeScene(int ranks, int fences);

  std::string description() const override;

 private:
  using Tree = BasicFenceTree<Words, 2>;

  int ranks() const override { return ranks_; }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State&, Programs&) override { return {}; }
  Tree tree() { return {memory_.data(), static_cast<std::size_t>(ranks_)}; }

  static constexpr int most_fences = 3;
  struct alignas(cache_line) Line {
    std::array<std::byte, cache_line> bytes{};
  };
  int ranks_;
  int fences_;
  std::array<Line, 8> memory_;
  std::array<std::array<Plain<std::uint32_t>, most_ranks>, most_fences + 1> written_;  // before
  Plain<std::uint32_t> mapped_;  // until the tree's owner frees it
};

/// The first rank announces a number once, all others need it, and sleep at doorbells of their own.
class WatchScene final : public Scene {
 public:
  explicit WatchScene(int watchers);

  std::string description() const override;

 private:
  using Watched = BasicWatchedWord<Words>;

  int ranks() const override { return static_cast<int>(sharers_.size()); }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  void announce();
  void await(std::size_t rank);

  Watched::Number number_;
  Watched::Watchers watchers_;
  Plain<std::uint32_t> data_;
  std::array<BasicDoorbell<Words>, most_ranks> bells_;
  std::deque<Sharers> sharers_;
};

/// The last rank reads what the others send it. A killed producer costs its record only.
/// `numbered`: all records are one cell long, and the reader zeroes none, as in a queue of
/// notifications.
template <bool numbered>
class MailboxScene final : public Scene {
 public:
  /// Of each producer: the cells of its records, a digit each.
  using Scripts = std::vector<std::string>;

  explicit MailboxScene(Scripts scripts);

  std::string description() const override;

 private:
  using Word = Atomic<std::uint64_t>;
  static constexpr std::size_t count = numbered ? 2 : 4;
  static constexpr std::size_t most_producers = most_ranks - 1;
  struct Cells {
    static constexpr bool laps = numbered;

    std::array<Word, count>* words;

    static std::uint64_t cells_for(std::uint32_t bytes) { return numbered ? 1 : bytes; }
    Word& first_word(std::uint64_t position) const { return (*words)[position % count]; }
  };
  using Ring = BasicMailboxRing<Words, Cells>;

  int ranks() const override { return static_cast<int>(scripts_.size()) + 1; }
  int reader() const { return ranks() - 1; }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  Ring ring() { return {ends_, Cells{&first_}, count, 1}; }
  /// `head`: where the producer has seen the reader last.
  void send(std::size_t producer, std::size_t record, std::uint64_t& head);
  /// Whose record comes next; none if the dead have left nothing more.
  std::optional<std::size_t> next(const std::array<std::size_t, most_producers>& taken);
  std::size_t take(Ring& ring, std::uint64_t state,
                   const std::array<std::size_t, most_producers>& taken);
  bool over(Ring& ring, const std::array<std::size_t, most_producers>& taken);

  Scripts scripts_;
  std::deque<Sharers> sharers_;
  BasicMailboxEnds<Words> ends_;
  std::array<Word, count> first_;
  std::array<Plain<std::uint32_t>, count> data_;
  std::array<BasicMailboxClaim<Words>, most_producers> claims_;
};

}  // namespace oriel::model
