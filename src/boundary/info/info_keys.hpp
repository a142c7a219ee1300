// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "boundary/host/host.hpp"

namespace oriel::boundary {

/// The name under which the host's info objects keep a key: the key itself, but for the reorder
/// keys that are too long for the host.
#if ORIEL_HOST_SHORT_INFO_KEYS
const char* host_key(const char* key);
#else
inline const char* host_key(const char* key) {
  return key;
}
#endif

}  // namespace oriel::boundary
