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

/// What exchanges of all with all have taken, as `oriel bench alltoallv` keeps it in a file: a line
/// each, whose fields tabs part. A line that begins with # is a comment. A line with something
/// wrong counts as nothing.
class Measured {
 public:
  /// The algorithms that may be chosen; of two that cost the same, the first.
  enum class Choice : std::uint8_t { notified, notified_hierarchy, two_sided, fence, lock };
  static constexpr std::size_t choices = 5;

  /// Microseconds.
  struct Cost {
    double start = 0;   // of an exchange; 0: it was not measured
    double making = 0;  // of making a request; the benchmark's times include freeing it
  };

  struct Line {
    std::string processor;  // the model's name
    std::string mpi;        // its name and version, as in "mpich 5.0.2"
    int ranks = 0;
    int nodes = 0;
    std::uint64_t bytes = 0;  // from each rank to each
    std::array<Cost, choices> costs;

    Cost& of(Choice choice) { return costs.at(static_cast<std::size_t>(choice)); }
    const Cost& of(Choice choice) const { return costs.at(static_cast<std::size_t>(choice)); }
    /// The cheapest one for a program that makes a request, starts it so often and frees it.
    /// `starts`: none where nobody knows; the making does not count then. `gathers`: whether
    /// notified_hierarchy differs from notified here, as there are several nodes, some with several
    /// ranks.
    Choice cheapest(bool gathers, std::optional<std::uint64_t> starts = {}) const;
    /// Whether a request of so many bytes is like it: at most twice as long or as short.
    bool like(std::uint64_t longest) const;
  };

  static Measured parse(std::string_view text);
  /// An empty path: there is nothing.
  static Measured read(const std::string& path);

  /// A line each, the last one where several have the same key.
  const std::vector<Line>& lines() const { return lines_; }
  /// What is wrong with the file, as a sentence; empty: nothing.
  const std::string& fault() const { return fault_; }

  /// What was measured with this processor and MPI, on one node or on several, with the number of
  /// ranks that is nearest and at most twice as large or as small, for the nearest length. Ratios
  /// say what is near. Null: there is none.
  const Line* nearest(std::string_view processor, std::string_view mpi, int ranks,
                      bool several_nodes, std::uint64_t bytes) const;

  /// In place of what was measured before with the same key.
  void add(Line line);

 private:
  std::vector<Line> lines_;
  std::string fault_;
};

/// As the info key has it.
const char* name_of(Measured::Choice choice);

/// Where the file is: as ORIEL_MEASURED says, else in the user's cache. Empty: there is none.
std::string measured_path();
/// The processor's model, as the kernel names it.
std::string processor_model();

}  // namespace oriel
