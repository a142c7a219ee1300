// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/counters.hpp"
#include "support/nonblocking.hpp"
#include "support/notified.hpp"

namespace fuzz {

inline const support::Nonblocking& nonblocking() {
  static const support::Nonblocking calls;
  return calls;
}
inline const support::Notified& notified() {
  static const support::Notified calls;
  return calls;
}
inline const support::Counters& counters() {
  static const support::Counters calls;
  return calls;
}

}  // namespace fuzz
