// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/nonblocking.hpp"
#include "support/remote_completion.hpp"
#include "support/windows.hpp"

namespace stress {

inline const support::Windows& oriel() {
  static const support::Windows calls;
  return calls;
}
inline const support::RemoteCompletion& remote_completion() {
  static const support::RemoteCompletion calls;
  return calls;
}
inline const support::Nonblocking& nonblocking() {
  static const support::Nonblocking calls;
  return calls;
}

}  // namespace stress
