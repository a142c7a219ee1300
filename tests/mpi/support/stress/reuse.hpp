// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>

namespace stress {

/// How often a value that has been freed is given again, by Oriel for windows and by the host for
/// datatypes: what stale entries of a cache need.
template <class Handle>
class Reuse {
 public:
  void freed(Handle handle) { freed_.insert(handle); }
  void made(Handle handle) { count_ += freed_.contains(handle); }
  long count() const { return count_; }

 private:
  std::set<Handle> freed_;
  long count_ = 0;
};

}  // namespace stress
