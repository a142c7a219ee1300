// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/collective/measured.hpp"

namespace oriel::boundary {

/// The known times of exchanges with this processor and this MPI: from `oriel bench alltoallv`, and
/// from the trials of this process's requests. With the process lock, except the first get().
class MeasuredHere {
 public:
  /// The only instance. The first call reads a file.
  static MeasuredHere& get();

  /// The nearest measurement; none: no similar exchange was measured. Trials are preferred, because
  /// they measured this program, but each is used for requests of about its length only.
  std::optional<Measured::Line> nearest(int ranks, bool several_nodes, std::uint64_t longest) const;
  /// Adds the measurement of a trial. All members but `processor` and `mpi` are set.
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
