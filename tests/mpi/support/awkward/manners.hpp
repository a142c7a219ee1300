// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>

namespace awkward {

using Clock = std::chrono::steady_clock;

/// Returns whether ORIEL_TEST_FABRIC names this manner.
bool has(const char* manner);
/// Says on stderr, once, that the manner has made a difference.
void met(const std::string& manner);
/// Ends the process: Oriel has done what the provider that is played does not permit.
[[noreturn]] void refuse(const char* sentence);
/// Returns true so often of a hundred times.
bool chance(unsigned percent);

/// Returns whether writes keep no order towards messages, because the provider says so.
bool keeps_no_order();

void* real_symbol(const char* name);
/// A function of the real library: of the one that the host has loaded, else of the system's.
template <typename Function>
Function* real(Function* /*of this type*/, const char* name) {
  return reinterpret_cast<Function*>(real_symbol(name));
}

/// The table of functions of the provider's objects of one kind, and our table, which replaces it
/// in the objects.
template <typename Functions, typename Object>
struct Table {
  static inline Functions* provider = nullptr;
  static inline Functions ours{};

  static Functions& replace(Functions*& table) {
    if (table == &ours) return ours;
    provider = table;
    std::memcpy(&ours, table, std::min(table->size, sizeof ours));
    ours.size = std::min(table->size, sizeof ours);
    table = &ours;
    return ours;
  }
};

}  // namespace awkward
