// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oriel {

/// The algorithms of a persistent alltoallv: the values of the info key ORIEL_ALLTOALLV. Those
/// before fence_hierarchy may be chosen by measurements, of equally fast ones the first.
enum class Algorithm : std::uint8_t {
  notified,
  notified_hierarchy,
  two_sided,
  fence,
  lock,
  fence_hierarchy,
  lock_hierarchy,
  automatic
};
inline constexpr std::size_t measured_algorithms = 5;
inline constexpr std::size_t algorithms = 8;

/// The value of the info key.
const char* name_of(Algorithm algorithm);

/// The times of alltoall exchanges that `oriel bench alltoallv` stores in a file. The file has one
/// line for each measurement, with fields separated by tabs. A line that begins with # is a
/// comment. A malformed line is ignored.
class ExchangeTimes {
 public:
  /// Microseconds.
  struct Cost {
    double start = 0;   // of one exchange; 0: not measured
    double making = 0;  // of making a request; the benchmark's times include freeing it
  };

  struct Line {
    std::string processor;  // the model's name
    std::string mpi;        // name and version, such as "mpich 5.0.2"
    int ranks = 0;
    int nodes = 0;
    std::uint64_t bytes = 0;  // from each rank to each other one
    std::array<Cost, measured_algorithms> costs;

    Cost& of(Algorithm algorithm) { return costs.at(static_cast<std::size_t>(algorithm)); }
    const Cost& of(Algorithm algorithm) const {
      return costs.at(static_cast<std::size_t>(algorithm));
    }
    /// The cheapest algorithm for a program that makes a request, starts it `starts` times and
    /// frees it. Without `starts` the number of starts is unknown, and the time of making does not
    /// count. `gathers`: notified_hierarchy differs from notified, because there are several nodes
    /// and some of them have several ranks.
    Algorithm cheapest(bool gathers, std::optional<std::uint64_t> starts = {}) const;
    /// Returns whether the line holds for a request whose longest message has `longest` bytes: at
    /// most twice or half the line's length.
    bool like(std::uint64_t longest) const;
    /// The measured times of a start, as text.
    std::string times() const;
  };

  static ExchangeTimes parse(std::string_view text);
  /// If the path is empty, the result has no lines.
  static ExchangeTimes read(const std::string& path);
  /// The path of the file: that of ORIEL_MEASURED if it is set, otherwise a path in the user's
  /// cache. Empty: no file.
  static std::string path();

  /// The lines; of several with one key the last.
  const std::vector<Line>& lines() const { return lines_; }
  /// The first error in the file, as a sentence; empty: no error.
  const std::string& fault() const { return fault_; }

  /// The line of this processor and MPI, for one node or for several as here, whose number of ranks
  /// is nearest and within a factor of two; among those the one with the nearest length. Distances
  /// are ratios. Null: there is none.
  const Line* nearest(std::string_view processor, std::string_view mpi, int ranks,
                      bool several_nodes, std::uint64_t bytes) const;

  /// Adds a line, or replaces the line with its key.
  void add(Line line);

 private:
  std::vector<Line> lines_;
  std::string fault_;
};

/// The processor's model name as the kernel reports it.
std::string processor_model();

}  // namespace oriel
