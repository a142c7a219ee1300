// SPDX-License-Identifier: BSD-3-Clause
// Prints as JSON the measured times of exchanges that the library knows: for `oriel info`, and for
// `oriel bench alltoallv`, which adds to them.
#include <cstddef>
#include <cstdio>
#include <string>

#include "engine/tuning/exchange_times.hpp"

using oriel::ExchangeTimes;

namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      constexpr const char* digits = "0123456789abcdef";
      result += "\\u00";
      result += digits[letter >> 4];
      result += digits[letter & 0xf];
    } else {
      result += letter;
    }
  }
  return result + '"';
}

}  // namespace

int main() {
  const std::string path = ExchangeTimes::path();
  const ExchangeTimes times = ExchangeTimes::read(path);
  std::printf("{\"file\": %s, \"processor\": %s, \"fault\": %s, \"lines\": [", quoted(path).c_str(),
              quoted(oriel::processor_model()).c_str(), quoted(times.fault()).c_str());
  const char* separator = "";
  for (const ExchangeTimes::Line& line : times.lines()) {
    std::printf(
        "%s\n  {\"processor\": %s, \"mpi\": %s, \"ranks\": %d, \"nodes\": %d, \"bytes\": %llu, ",
        separator, quoted(line.processor).c_str(), quoted(line.mpi).c_str(), line.ranks, line.nodes,
        static_cast<unsigned long long>(line.bytes));
    for (std::size_t at = 0; at < oriel::measured_algorithms; ++at) {
      const ExchangeTimes::Cost& cost = line.costs.at(at);
      if (cost.start <= 0) continue;
      const char* name = oriel::name_of(static_cast<oriel::Algorithm>(at));
      std::printf("\"%s\": %.9g, \"%s_making\": %.9g, ", name, cost.start, name, cost.making);
    }
    std::printf("\"choice\": \"%s\"}", oriel::name_of(line.cheapest(true)));
    separator = ",";
  }
  std::printf("\n]}\n");
  return 0;
}
