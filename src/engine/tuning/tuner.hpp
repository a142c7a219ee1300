// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/tuning/exchange_times.hpp"

namespace oriel {

/// The costs of copies from or to another process by a system call on this machine. They differ
/// between systems by more than a factor of ten: where calls are slow (virtual machines,
/// sandboxes), two copies by the processor may be faster for all lengths. If the system refuses the
/// calls, ranks of one node treat each other as remote, and these costs are not used.
struct CopyCosts {
  /// Copies that are longer than this are faster by one call. Shorter ones may be, too: when two
  /// processes copy twice, each cache line moves between their processors twice. One process alone
  /// cannot measure that, so each transfer tries both ways (CopyTrial).
  std::uint64_t most_copied_twice = 0;
  /// From this length on the time of the call itself is negligible.
  std::uint64_t worth_a_call = 0;
};

/// Chooses by times that were measured with this processor and this MPI: the algorithm of a
/// persistent alltoallv, and the lengths from which one copy by a system call is tried. The times
/// of exchanges are those that `oriel bench alltoallv` has stored, and those of the trials of this
/// process's requests (StartTrial).
class Tuner {
 public:
  /// `mpi`: as the lines of ExchangeTimes have it; empty: unknown.
  Tuner(std::string processor, std::string mpi, ExchangeTimes stored);

  /// A request of an alltoallv, as far as the choice of its algorithm depends on it.
  struct Exchange {
    int ranks = 0;
    bool several_nodes = false;
    bool gathers = false;                 // see ExchangeTimes::Line::cheapest()
    std::uint64_t longest = 0;            // bytes of the longest message
    bool seldom_started = false;          // without `starts`: too few for a trial are expected
    std::optional<std::uint64_t> starts;  // none: unknown
  };
  struct Choice {
    Algorithm algorithm = Algorithm::notified;  // automatic: the first starts are a trial
    std::optional<ExchangeTimes::Line> line;    // the measurement that it is chosen by
  };
  /// The choice by the nearest measurement, or by a trial if there is none. Trials are preferred to
  /// the stored times, because they measured this program, but each is used for requests of about
  /// its length only.
  Choice choose(const Exchange& exchange) const;
  /// Adds the measurement of a trial. All members but `processor` and `mpi` are set.
  void learn(ExchangeTimes::Line line);
  const std::string& mpi() const { return mpi_; }

  /// The costs, measured at the first call, within a millisecond. Thread-safe.
  static const CopyCosts& copy_costs();

 private:
  const ExchangeTimes::Line* nearest(const Exchange& exchange) const;

  std::string processor_;
  std::string mpi_;
  ExchangeTimes stored_;
  ExchangeTimes trials_;
};

}  // namespace oriel
