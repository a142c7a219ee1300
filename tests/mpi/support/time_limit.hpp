// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "support/check.hpp"

namespace support {

/// No test may outlive its driver's patience, ORIEL_TEST_ALARM in seconds: the process ends then
/// and names the one that did.
inline void limit_time() {
  std::signal(SIGALRM, [](int) {
    const char* name = current_test();
    static const char head[] = "FAILED: out of time in test '";
    static const char tail[] = "'\n";
    if (write(2, head, sizeof head - 1) < 0 || write(2, name, std::strlen(name)) < 0 ||
        write(2, tail, sizeof tail - 1) < 0) {
      _exit(2);
    }
    _exit(2);
  });
  const char* seconds = std::getenv("ORIEL_TEST_ALARM");
  alarm(seconds ? static_cast<unsigned>(std::atoi(seconds)) : 50);
}

}  // namespace support
