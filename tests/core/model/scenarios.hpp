// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/lock/lock_line_inline.hpp"
#include "core/lock/update_inline.hpp"
#include "core/transport/doorbell.hpp"
#include "search.hpp"
#include "words.hpp"

namespace oriel::model {

/// A control block and its ranks' slots and nodes, laid out as in shared memory.
class Control {
 public:
  using Block = BasicControlBlock<Words>;

  explicit Control(int ranks)
      : memory_(Block::bytes(static_cast<std::size_t>(ranks)) / sizeof(Line) + 1) {
    block_ = Block::create(memory_.data(), static_cast<std::uint32_t>(ranks));
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
  virtual std::string description() const = 0;

 protected:
  virtual int ranks() const = 0;
  virtual void name_words(Programs& programs) = 0;
  virtual void play(int rank) = 0;
  /// What is wrong when all have finished, and nobody was killed.
  virtual std::string check_end(State& state, Programs& programs) = 0;
};

/// One lock, and a word that it protects.
class LockScene final : public Scene {
 public:
  /// What one rank does: each letter takes the lock and gives it back. x: exclusively; s: shared;
  /// j: shared, as a lock_all epoch does, which joins; e: leaves an errand if it has to wait.
  using Scripts = std::vector<std::string>;

  /// `asymmetric`: the seldom side fences, see store_before_look().
  LockScene(Scripts scripts, bool asymmetric);

  std::string description() const override;

 private:
  using LockLine = BasicLockLine<Words>;
  using LockNode = BasicLockNode<Words>;

  int ranks() const override { return static_cast<int>(scripts_.size()); }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  void turn(int rank, char what);
  /// False: somebody has died, and this rank need not be granted the lock any more.
  bool granted(int rank);
  void write();

  Scripts scripts_;
  Control control_;
  std::deque<Sharers> sharers_;
  Plain<std::uint32_t> data_;
};

/// Accumulates to one element of one rank.
class UpdateScene final : public Scene {
 public:
  /// Each letter is an update. e: one element; a: alone.
  using Scripts = std::vector<std::string>;

  UpdateScene(Scripts scripts, bool asymmetric);

  std::string description() const override;

 private:
  using Update = BasicUpdate<Words>;

  int ranks() const override { return static_cast<int>(scripts_.size()); }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  void update(int rank, bool alone);

  Scripts scripts_;
  Control control_;
  std::deque<Sharers> sharers_;
  Atomic<std::uint32_t> element_;
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

}  // namespace oriel::model
