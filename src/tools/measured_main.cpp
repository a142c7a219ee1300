// SPDX-License-Identifier: BSD-3-Clause
// Prints as JSON the measured times of exchanges that the library knows: for `oriel info`, and for
// `oriel bench alltoallv`, which adds to them.
#include <cstddef>
#include <cstdio>
#include <string>

#include "core/collective/measured.hpp"

using oriel::Measured;

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
  const std::string path = oriel::measured_path();
  const Measured measured = Measured::read(path);
  std::printf("{\"file\": %s, \"processor\": %s, \"fault\": %s, \"lines\": [", quoted(path).c_str(),
              quoted(oriel::processor_model()).c_str(), quoted(measured.fault()).c_str());
  const char* separator = "";
  for (const Measured::Line& line : measured.lines()) {
    std::printf(
        "%s\n  {\"processor\": %s, \"mpi\": %s, \"ranks\": %d, \"nodes\": %d, \"bytes\": %llu, ",
        separator, quoted(line.processor).c_str(), quoted(line.mpi).c_str(), line.ranks, line.nodes,
        static_cast<unsigned long long>(line.bytes));
    for (std::size_t at = 0; at < Measured::choices; ++at) {
      const Measured::Cost& cost = line.costs.at(at);
      if (cost.start <= 0) continue;
      const char* name = oriel::name_of(static_cast<Measured::Choice>(at));
      std::printf("\"%s\": %.9g, \"%s_making\": %.9g, ", name, cost.start, name, cost.making);
    }
    std::printf("\"choice\": \"%s\"}", oriel::name_of(line.cheapest(true)));
    separator = ",";
  }
  std::printf("\n]}\n");
  return 0;
}
