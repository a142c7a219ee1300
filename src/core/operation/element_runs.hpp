// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/operation/address.hpp"
#include "core/operation/operation.hpp"

namespace oriel {

/// Walks the elements of an operation by runs that are contiguous in the target, the origin and the
/// result. A buffer that the operation does not have divides no run, and its pointer is null.
class ElementRuns {
 public:
  explicit ElementRuns(const Operation& operation)
      : origin_(operation.origin),
        result_(operation.result),
        target_(*operation.target_layout, operation.target_count),
        from_(cursor(origin_)),
        into_(cursor(result_)) {
    measure();
  }

  /// Bytes of the run; 0 at the end of the walk.
  std::uint64_t bytes() const { return bytes_; }
  /// Offset of the run from the start of the target's first element.
  std::int64_t offset() const { return target_.offset(); }
  std::byte* origin() const {
    return origin_.layout ? at(origin_.address, from_.offset()) : nullptr;
  }
  std::byte* result() const {
    return result_.layout ? at(result_.address, into_.offset()) : nullptr;
  }
  /// Advances by any number of bytes up to the end of the walk.
  void skip(std::uint64_t bytes) {
    target_.skip(bytes);
    if (origin_.layout) from_.skip(bytes);
    if (result_.layout) into_.skip(bytes);
    measure();
  }
  /// Advances to the next run.
  void next() { skip(bytes_); }

 private:
  static BlockCursor cursor(const Buffer& buffer) {
    static const Layout nothing({}, 0, Basic::none);
    return {buffer.layout ? *buffer.layout : nothing, buffer.layout ? buffer.count : 0};
  }
  void measure() {
    bytes_ = target_.finished() ? 0 : target_.run();
    if (origin_.layout) bytes_ = std::min(bytes_, from_.run());
    if (result_.layout) bytes_ = std::min(bytes_, into_.run());
  }

  const Buffer& origin_;
  const Buffer& result_;
  BlockCursor target_;
  BlockCursor from_;
  BlockCursor into_;
  std::uint64_t bytes_ = 0;
};

}  // namespace oriel
