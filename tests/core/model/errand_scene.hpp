// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios.hpp"
#include "transport/shm/errand_cell.hpp"

namespace oriel::model {

/// The last rank carries out errands that the others leave for it: each adds one to what the rank
/// has for its origin, and brings the sum back; or to each of several chunks.
class ErrandScene final : public Scene {
 public:
  /// Of each origin: p: an errand that it waits for; w: one that it withdraws if it can; c: one in
  /// chunks.
  using Scripts = std::vector<std::string>;

  /// `declined`: so many errands, and chunks, the owner declines at first.
  ErrandScene(Scripts scripts, std::uint32_t declined);

  std::string description() const override;

 private:
  static constexpr std::size_t most_origins = most_ranks - 1;
  static constexpr std::uint32_t chunks = 2;
  using Cell = BasicErrandCell<Words, std::uint32_t, std::uint32_t>;
  static constexpr std::uint32_t no_chunk = Cell::no_chunk;

  int ranks() const override { return static_cast<int>(scripts_.size()) + 1; }
  int owner() const { return ranks() - 1; }
  void name_words(Programs& programs) override;
  void play(int rank) override;
  std::string check_end(State& state, Programs& programs) override;

  void send(std::size_t origin);
  /// False: the owner has died, and with it the origin's memory there.
  bool add(std::size_t origin, bool patient, std::uint32_t& sum);
  bool answered();
  bool add_to_chunks(std::size_t origin);
  void add_to_chunk(std::size_t origin, std::uint32_t number) { chunk_sums_[origin][number] += 1; }
  bool end_chunks();
  void serve();
  void serve_chunk(std::uint32_t& taken);
  bool all_over();

  Scripts scripts_;
  std::uint32_t declined_;
  std::vector<Sharers> sharers_;
  Cell cell_;
  std::array<Plain<std::uint32_t>, most_origins> sums_;
  std::array<std::array<Plain<std::uint32_t>, chunks>, most_origins> chunk_sums_;
  std::array<Atomic<std::uint32_t>, most_origins> over_;
};

}  // namespace oriel::model
