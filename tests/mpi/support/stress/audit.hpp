// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/stress/job.hpp"

namespace stress {

/// Compares our memory with what all ranks' threads have done to it. Between epochs; collective.
class Audit {
 public:
  explicit Audit(Job& job) : job_(job) {
    for (int i = 0; i < job.regions(); ++i) examine(i);
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  void examine(int index) {
    Region& region = job_.region(index);
    const std::vector<Tally> done = tallies(index);
    MUST(MPI_Win_lock(MPI_LOCK_SHARED, job_.rank(), 0, job_.window_of(index).first()));
    words(region, done);
    row(region, done);
    tickets(region, done);
    lots(region);
    MUST(MPI_Win_unlock(job_.rank(), job_.window_of(index).first()));
  }

  /// Of our threads, for each rank.
  std::vector<Tally> tallies(int index) {
    std::vector<Tally> done(static_cast<std::size_t>(job_.ranks()));
    for (int target = 0; target < job_.ranks(); ++target) {
      for (int thread = 0; thread < job_.threads(); ++thread) {
        done[static_cast<std::size_t>(target)].add(job_.tally(thread, {index, target}));
      }
    }
    return done;
  }

  /// What all ranks have done to ours.
  template <class Value, class Take>
  std::vector<Value> combined(const std::vector<Tally>& done, int each, MPI_Datatype type,
                              MPI_Op op, Take&& take) {
    std::vector<Value> sent;
    for (const Tally& tally : done) take(tally, sent);
    std::vector<Value> ours(static_cast<std::size_t>(each));
    MPI_Reduce_scatter_block(sent.data(), ours.data(), each, type, op, MPI_COMM_WORLD);
    return ours;
  }

  void words(const Region& region, const std::vector<Tally>& done) {
    const auto sums = combined<std::int64_t>(
        done, 4, MPI_INT64_T, MPI_SUM, [](const Tally& tally, std::vector<std::int64_t>& sent) {
          const auto taken = static_cast<std::int64_t>(tally.tickets.size());
          sent.insert(sent.end(), {tally.sum, tally.guarded, tally.excluded, taken});
        });
    expect_word(region, Area::sum, "sum", sums[0]);
    expect_word(region, Area::guarded, "count under the program's lock", sums[1]);
    expect_word(region, Area::excluded, "count under exclusive locks", sums[2]);
    expect_word(region, Area::ticket, "tickets", sums[3]);
    expect_word(region, Area::lock, "the program's lock", 0);
    const auto greatest = combined<std::int64_t>(
        done, 1, MPI_INT64_T, MPI_MAX, [](const Tally& tally, std::vector<std::int64_t>& sent) {
          sent.push_back(tally.greatest);
        });
    expect_word(region, Area::greatest, "maximum", greatest[0]);
    const auto parity = combined<std::int64_t>(
        done, 1, MPI_INT64_T, MPI_BXOR,
        [](const Tally& tally, std::vector<std::int64_t>& sent) { sent.push_back(tally.parity); });
    expect_word(region, Area::parity, "exclusive or", parity[0]);
  }
  static void expect_word(const Region& region, Area::Word word, const char* what,
                          std::int64_t expected) {
    std::int64_t found = 0;
    std::memcpy(&found, region.own + Area::word(word), sizeof found);
    here().operation = region.name;
    expect(what, found, expected);
  }

  void row(const Region& region, const std::vector<Tally>& done) {
    const auto sums =
        combined<std::int32_t>(done, Area::row_words, MPI_INT32_T, MPI_SUM,
                               [](const Tally& tally, std::vector<std::int32_t>& sent) {
                                 sent.insert(sent.end(), tally.row.begin(), tally.row.end());
                               });
    for (int i = 0; i < Area::row_words; ++i) {
      std::int32_t found = 0;
      std::memcpy(&found, region.own + Area::row(i), sizeof found);
      here().operation = region.name;
      expect(("word " + std::to_string(i) + " of the row").c_str(), found,
             sums[static_cast<std::size_t>(i)]);
    }
  }

  /// Each has been drawn once, and none left out.
  void tickets(const Region& region, const std::vector<Tally>& done) {
    std::int64_t drawn = 0;
    std::memcpy(&drawn, region.own + Area::word(Area::ticket), sizeof drawn);
    std::int64_t most = 0;
    MPI_Allreduce(&drawn, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (most == 0) return;
    const auto times = combined<int>(done, static_cast<int>(most), MPI_INT, MPI_SUM,
                                     [&](const Tally& tally, std::vector<int>& sent) {
                                       const std::size_t first = sent.size();
                                       sent.resize(first + static_cast<std::size_t>(most));
                                       for (const std::int64_t ticket : tally.tickets) {
                                         if (ticket < 0 || ticket >= most)
                                           fail("no such ticket: " + std::to_string(ticket));
                                         ++sent[first + static_cast<std::size_t>(ticket)];
                                       }
                                     });
    for (std::int64_t i = 0; i < drawn; ++i) {
      here().operation = region.name;
      expect(("times that ticket " + std::to_string(i) + " was drawn").c_str(),
             times[static_cast<std::size_t>(i)], 1);
    }
  }

  void lots(Region& region) {
    Bytes expected(region.model.size());
    const auto each = static_cast<int>(job_.threads() * region.area.lot_bytes());
    MPI_Alltoall(region.model.data(), each, MPI_BYTE, expected.data(), each, MPI_BYTE,
                 MPI_COMM_WORLD);
    for (int origin = 0; origin < job_.ranks(); ++origin) {
      for (int thread = 0; thread < job_.threads(); ++thread) {
        const MPI_Aint at = region.area.lot(origin, thread);
        here().operation = "audit";
        expect_bytes(std::string(region.name) + ", lot of thread " + std::to_string(thread) +
                         " of rank " + std::to_string(origin),
                     region.own + at, expected.data() + (at - region.area.lots()),
                     static_cast<std::size_t>(region.area.lot_bytes()));
      }
    }
  }

  Job& job_;
};

}  // namespace stress
