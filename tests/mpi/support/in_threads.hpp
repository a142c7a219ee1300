// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <thread>
#include <vector>

namespace support {

constexpr int threads = 4;

/// body(number of the thread) in so many threads at once.
template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(body, i);
  for (std::thread& thread : running) thread.join();
}

}  // namespace support
