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

/// The times of alltoall exchanges that `oriel bench alltoallv` stores in a file. The file has one
/// line for each measurement, with fields separated by tabs. A line that begins with # is a
/// comment. A malformed line is ignored.
class Measured {
 public:
  /// The algorithms that may be chosen. Of equally fast ones the first is chosen.
  enum class Choice : std::uint8_t { notified, notified_hierarchy, two_sided, fence, lock };
  static constexpr std::size_t choices = 5;

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
    std::array<Cost, choices> costs;

    Cost& of(Choice choice) { return costs.at(static_cast<std::size_t>(choice)); }
    const Cost& of(Choice choice) const { return costs.at(static_cast<std::size_t>(choice)); }
    /// The cheapest algorithm for a program that makes a request, starts it `starts` times and
    /// frees it. Without `starts` the number of starts is unknown, and the time of making does not
    /// count. `gathers`: notified_hierarchy differs from notified, because there are several nodes
    /// and some of them have several ranks.
    Choice cheapest(bool gathers, std::optional<std::uint64_t> starts = {}) const;
    /// Returns whether the line holds for a request whose longest message has `longest` bytes: at
    /// most twice or half the line's length.
    bool like(std::uint64_t longest) const;
  };

  static Measured parse(std::string_view text);
  /// If the path is empty, the result has no lines.
  static Measured read(const std::string& path);

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

/// The value of the info key.
const char* name_of(Measured::Choice choice);

/// The path of the file: that of ORIEL_MEASURED if it is set, otherwise a path in the user's cache.
/// Empty: no file.
std::string measured_path();
/// The processor's model name as the kernel reports it.
std::string processor_model();

}  // namespace oriel
