// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace oriel {

/// The failure of a step of the engine: the error, and the reason, which is the second half of a
/// sentence. Error::none: the step has succeeded. The MPI layer translates an EngineFailure to a
/// Failure, which has the host's error class.
struct EngineFailure {
  Error error = Error::none;
  const char* reason = "";

  explicit operator bool() const { return error != Error::none; }
};

/// An EngineFailure whose reason is `sentence`. The reason is valid until this thread's next call
/// of said().
inline EngineFailure said(Error error, std::string sentence) {
  static thread_local std::string reason;
  reason = std::move(sentence);
  return {error, reason.c_str()};
}

}  // namespace oriel
