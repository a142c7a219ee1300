// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oriel {

/// What exchanges of all with all have taken, as `oriel bench alltoallv` keeps it in a file: a line
/// each, whose fields tabs part. A line that begins with # is a comment. A line with something
/// wrong counts as nothing.
class Measured {
 public:
  /// What is chosen by it.
  enum class Choice : std::uint8_t { notified, two_sided, notified_hierarchy };

  struct Line {
    std::string processor;  // the model's name
    std::string mpi;        // its name and version, as in "mpich 5.0.2"
    int ranks = 0;
    int nodes = 0;
    std::uint64_t bytes = 0;  // from each rank to each
    // Microseconds: of an exchange, and of making a request and freeing it.
    double notified = 0;
    double two_sided = 0;
    double notified_making = 0;
    double two_sided_making = 0;
    double notified_hierarchy = 0;  // 0: it was not measured, and the line ends before it
    double notified_hierarchy_making = 0;

    /// How often a program will start its request nobody knows, so the making has no say in it.
    /// `several`: there are several nodes, and nodes with several ranks; else notified_hierarchy is
    /// notified.
    Choice fastest(bool several) const;
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

 private:
  void add(Line line);

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
