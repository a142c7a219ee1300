// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// A user-defined op: a function on elements whose meaning only the program knows.
class OwnOp {
 public:
  OwnOp() = default;
  virtual ~OwnOp() = default;
  OwnOp(const OwnOp&) = delete;
  OwnOp& operator=(const OwnOp&) = delete;

  virtual bool commutes() const = 0;
  /// Returns whether the present sweep may call the function: false on a thread that the program
  /// does not know.
  virtual bool callable() const = 0;
  /// into[i] = from[i] op into[i], for `count` elements in a row.
  virtual void combine(const void* from, void* into, std::uint64_t count) = 0;
};

}  // namespace oriel
