// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "boundary/startup/lifetime.hpp"

namespace oriel::boundary {

/// The engine lives as long as the call.
class EngineHold {
 public:
  EngineHold() : held_(lifetime.hold(error_)) {}
  ~EngineHold() {
    if (held_) lifetime.let_go();
  }
  EngineHold(const EngineHold&) = delete;
  EngineHold& operator=(const EngineHold&) = delete;
  explicit operator bool() const { return held_; }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
  bool held_;
};

}  // namespace oriel::boundary
