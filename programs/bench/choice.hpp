// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What a program is to measure: the names that an option gave it, each time one, or all where the
/// option is not there.
class Choice {
 public:
  void add(std::string_view name) { names_.emplace_back(name); }
  bool includes(std::string_view name) const {
    return names_.empty() || std::find(names_.begin(), names_.end(), name) != names_.end();
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace bench
