// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/collective/measured.hpp"

namespace oriel::boundary {

/// The known times of exchanges with this processor and this MPI: from `oriel bench alltoallv`, and
/// from the trials of this process's requests. With the process lock, but for the first get().
class MeasuredHere {
 public:
  /// Made when it is first needed, which reads a file.
  static MeasuredHere& get();

  /// None: nothing like it was measured. Trials come first: they were of this program, but tell of
  /// requests of about their length alone.
  std::optional<Measured::Line> nearest(int ranks, bool several_nodes, std::uint64_t longest) const;
  /// A trial has measured it: all but the processor and the MPI is filled.
  void learn(Measured::Line line);
  const std::string& mpi() const { return mpi_; }

 private:
  MeasuredHere();

  Measured measured_ = Measured::read(measured_path());
  Measured trials_;
  std::string processor_ = processor_model();
  std::string mpi_;
};

}  // namespace oriel::boundary
