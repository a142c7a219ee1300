// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "scenarios.hpp"
#include "transport/shm/mailbox_ring.hpp"

namespace oriel::model {

/// The last rank takes notifications, of which some carry a store into its memory that the others
/// take back when they flush.
class LadenScene final : public Scene {
 public:
  /// Of each producer: c: a record whose store it has made; i: one whose store is inlined; f: a
  /// flush of all before.
  using Scripts = std::vector<std::string>;

  /// `overwrites`: the reader's program stores to the same memory once it has been notified; else
  /// the producers' look there after their flushes.
  LadenScene(Scripts scripts, bool overwrites, bool asymmetric);

  std::string description() const override;

 private:
  using Word = Atomic<std::uint64_t>;
  static constexpr std::size_t count = 2;
  static constexpr std::size_t most_producers = most_ranks - 1;
  static constexpr std::size_t most_records = 4;
  struct Cells {
    static constexpr bool laps = true;

    std::array<Word, count>* words;

    static std::uint64_t cells_for(std::uint32_t /*bytes*/) { return 1; }
    Word& first_word(std::uint64_t position) const { return (*words)[position % count]; }
  };
  using Ring = BasicLadenRing<Words, Cells>;
  /// Of each producer, how many of its records are through.
  using Taken = std::array<std::size_t, most_producers>;

  int ranks() const override { return static_cast<int>(scripts_.size()) + 1; }
  int reader() const { return ranks() - 1; }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;
  Ring ring() { return {ends_, Cells{&states_}, count, 1}; }
  std::size_t records_of(std::size_t producer) const;

  void produce(std::size_t producer);
  /// Its position; none: the reader has died.
  std::optional<std::uint64_t> send(std::size_t producer, std::size_t record, bool inlined,
                                    std::uint64_t& head);
  bool flush(std::size_t producer, const std::vector<std::uint64_t>& laden, std::size_t records);
  void consume();
  /// Takes the next record; false: the dead have left nothing more.
  bool take_next(Taken& taken);
  void take(Ring& ring, bool inlined, Taken& taken);
  bool over(Ring& ring, const Taken& taken);

  Scripts scripts_;
  bool overwrites_;
  std::deque<Sharers> sharers_;
  BasicMailboxEnds<Words> ends_;
  std::array<Word, count> states_;
  std::array<Plain<std::uint32_t>, count> lines_;
  std::array<std::array<Plain<std::uint32_t>, most_records>, most_producers> memory_;
  std::array<BasicMailboxClaim<Words>, most_producers> claims_;
  std::array<Plain<std::uint32_t>, most_producers> published_;  // records, for who outlives it
};

}  // namespace oriel::model
