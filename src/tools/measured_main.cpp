// SPDX-License-Identifier: BSD-3-Clause
// Prints as JSON what the library knows of exchanges that were measured here: for `oriel info`, and
// for `oriel bench alltoallv`, which adds to it.
#include <cstdio>
#include <string>

#include "core/collective/measured.hpp"

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
  const oriel::Measured measured = oriel::Measured::read(path);
  std::printf("{\"file\": %s, \"processor\": %s, \"fault\": %s, \"lines\": [", quoted(path).c_str(),
              quoted(oriel::processor_model()).c_str(), quoted(measured.fault()).c_str());
  const char* separator = "";
  for (const oriel::Measured::Line& line : measured.lines()) {
    std::printf(
        "%s\n  {\"processor\": %s, \"mpi\": %s, \"ranks\": %d, \"nodes\": %d, \"bytes\": %llu, "
        "\"notified\": %.9g, \"two_sided\": %.9g, \"notified_making\": %.9g, "
        "\"two_sided_making\": %.9g, ",
        separator, quoted(line.processor).c_str(), quoted(line.mpi).c_str(), line.ranks, line.nodes,
        static_cast<unsigned long long>(line.bytes), line.notified, line.two_sided,
        line.notified_making, line.two_sided_making);
    if (line.notified_hierarchy > 0) {
      std::printf("\"notified_hierarchy\": %.9g, \"notified_hierarchy_making\": %.9g, ",
                  line.notified_hierarchy, line.notified_hierarchy_making);
    }
    std::printf("\"choice\": \"%s\"}", oriel::name_of(line.fastest(true)));
    separator = ",";
  }
  std::printf("\n]}\n");
  return 0;
}
