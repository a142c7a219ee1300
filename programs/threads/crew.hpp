// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <barrier>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "bench/failure.hpp"

namespace threads {

/// Runs `work` with its number on each of so many threads, which begin together; returns when all
/// are through.
inline void crew(int size, const std::function<void(int)>& work) {
  std::barrier ready(size);
  std::vector<std::jthread> members;
  for (int member = 0; member < size; ++member) {
    try {
      members.emplace_back([&, member] {
        ready.arrive_and_wait();
        work(member);
      });
    } catch (const std::system_error&) {
      bench::fail("the system gives rank 0 only " + std::to_string(member) + " of " +
                  std::to_string(size) + " threads; use fewer by --threads.");
    }
  }
}

}  // namespace threads
