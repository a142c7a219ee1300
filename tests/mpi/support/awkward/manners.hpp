// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rdma/fabric.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

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

/// Our tables of functions of one kind of object, which replace those of providers in the objects:
/// one for each of theirs.
template <typename Functions, typename Object>
class Table {
 public:
  static Functions& replace(Functions*& table) {
    for (const auto& known : all()) {
      if (table == &known->functions || table == known->provider) {
        table = &known->functions;
        return known->functions;
      }
    }
    Ours& made = *all().emplace_back(std::make_unique<Ours>());
    made.provider = table;
    std::memcpy(&made.functions, table, std::min(table->size, sizeof(Functions)));
    made.functions.size = std::min(table->size, sizeof(Functions));
    table = &made.functions;
    return made.functions;
  }
  /// The provider's functions that ours have replaced.
  static const Functions& provider(const Functions* ours) {
    return *reinterpret_cast<const Ours*>(ours)->provider;
  }

 private:
  struct Ours {
    Functions functions{};  // first: the object's pointer is that of Ours
    Functions* provider = nullptr;
  };
  static std::vector<std::unique_ptr<Ours>>& all() {
    static std::vector<std::unique_ptr<Ours>> made;
    return made;
  }
};

}  // namespace awkward
