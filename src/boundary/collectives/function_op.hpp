// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "boundary/datatypes/own_ops.hpp"
#include "boundary/host/host.hpp"
#include "core/collective/own_op.hpp"

namespace oriel::boundary {

/// The function of a user-defined op, for elements of one datatype. The op itself may be freed
/// earlier.
class FunctionOp final : public OwnOp {
 public:
  /// `extent`: the extent of the datatype in bytes.
  FunctionOp(const OwnFunction& function, MPI_Datatype type, std::uint64_t extent)
      : function_(function), type_(type), extent_(extent) {}

  bool commutes() const override { return function_.commutes; }
  bool callable() const override;
  void combine(const void* from, void* into, std::uint64_t count) override;

 private:
  OwnFunction function_;
  MPI_Datatype type_;
  std::uint64_t extent_;
};

}  // namespace oriel::boundary
