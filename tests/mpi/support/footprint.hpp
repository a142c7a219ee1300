// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <map>
#include <string>

#include "support/check.hpp"
#include "support/open_descriptors.hpp"

namespace support {

/// What this process holds at one moment. A test takes it after it has warmed up, and asks at its
/// end whether anything has piled up since.
class Footprint {
 public:
  Footprint() : pages_(resident_pages()), descriptors_(open_descriptor_names()) {}

  /// Pages that have come since.
  long growth() const { return resident_pages() - pages_; }
  /// A sentence that names the memory and descriptors that have piled up; empty: no more than
  /// `pages`, which come and go with whatever else goes on in a process.
  std::string piled_up(long pages) const {
    // AddressSanitizer keeps what has been freed for a while.
    const bool keeps = dlsym(RTLD_DEFAULT, "__asan_init") != nullptr;
    const long grown = growth();
    if (!keeps && grown > pages) return std::to_string(grown) + " pages more";
    const auto open = open_descriptor_names();
    if (open.size() <= descriptors_.size()) return {};
    std::string more = std::to_string(open.size() - descriptors_.size()) + " descriptors more, of";
    for (const auto& [number, name] : open) {
      const auto before = descriptors_.find(number);
      if (before == descriptors_.end() || before->second != name) more += " " + number + "=" + name;
    }
    return more;
  }
  void check_flat(long pages) const {
    const std::string more = piled_up(pages);
    if (!more.empty()) fail(__FILE__, __LINE__, more);
  }

 private:
  static long resident_pages() {
    long size = 0;
    long resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    CHECK(file != nullptr && std::fscanf(file, "%ld %ld", &size, &resident) == 2);
    std::fclose(file);
    return resident;
  }

  long pages_;
  std::map<std::string, std::string> descriptors_;
};

/// Carries out rounds until nothing piles up in one of them on any rank: no round ends with
/// more than all rounds before it did. Hosts, and Oriel's arenas, keep memory and connections for
/// later use, and how many depends on how far apart the ranks run: that ends after some rounds,
/// whereas what is never given back grows in each. Oriel also gives memory back when it has not
/// been used for a second, and takes it again. Returns by how many pages this rank grew in the last
/// round.
template <class Round>
long check_settles(int most_rounds, long pages, Round&& round) {
  Footprint highest;
  std::string more;
  int grows = 1;
  long grown = 0;
  for (int i = 0; grows != 0 && i < most_rounds; ++i) {
    round();
    more = highest.piled_up(pages);
    grown = highest.growth();
    if (grown > 0) highest = Footprint();
    grows = more.empty() ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &grows, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  if (!more.empty()) {
    fail(__FILE__, __LINE__, more + ", in the last of " + std::to_string(most_rounds) + " rounds");
  }
  return grown;
}

}  // namespace support
