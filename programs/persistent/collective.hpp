// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

namespace persistent {

/// Who makes a persistent request: MPI_..._init or ORIEL_..._init.
enum class Maker { mpi, oriel };

/// A collective with its buffers, and the calls that carry it out.
class Collective {
 public:
  virtual ~Collective() = default;

  /// As in MPI_name.
  virtual const std::string& name() const = 0;

  /// Other contents to send, and none received.
  virtual void renew() = 0;
  /// The last round of a batch sends something else than those before it.
  virtual void renew_last() = 0;
  /// Ends the job unless all that this rank expects has arrived by this variant.
  virtual void check(const std::string& variant) const = 0;

  virtual int blocking() = 0;
  virtual int nonblocking(MPI_Request* request) = 0;
  /// Whether there is such a call: in the library, or preloaded.
  virtual bool has(Maker maker) const = 0;
  virtual int init(Maker maker, MPI_Info info, MPI_Request* request) = 0;
};

}  // namespace persistent
