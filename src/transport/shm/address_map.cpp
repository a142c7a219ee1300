// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/address_map.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "transport/shm/arena_file.hpp"

namespace oriel {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

}  // namespace

std::vector<Mapping> mappings_in(std::uintptr_t begin, std::uintptr_t end) {
  std::vector<Mapping> found;
  const File file(std::fopen("/proc/self/maps", "re"));
  if (file == nullptr) return found;
  char* line = nullptr;
  std::size_t space = 0;
  while (::getline(&line, &space, file.get()) > 0) {
    Mapping one;
    std::array<char, 5> flags{};
    unsigned major = 0;
    unsigned minor = 0;
    int name = 0;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
                    &one.begin, &one.end, flags.data(), &one.offset, &major, &minor, &one.inode,
                    &name) < 7) {
      continue;
    }
    if (one.end <= begin) continue;
    if (one.begin >= end) break;
    one.writable = flags[0] == 'r' && flags[1] == 'w';
    one.shared = flags[3] == 's';
    one.device = makedev(major, minor);
    one.name = line + name;
    while (!one.name.empty() && one.name.back() == '\n') one.name.pop_back();
    if (one.begin < begin) {
      one.offset += begin - one.begin;
      one.begin = begin;
    }
    one.end = std::min(one.end, end);
    found.push_back(std::move(one));
  }
  std::free(line);
  return found;
}

bool touched_runs(std::byte* begin, std::size_t bytes, std::vector<PageRun>& runs) {
  constexpr std::uint64_t in_memory_or_swapped = std::uint64_t{3} << 62;
  const int fd = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const std::size_t page = page_size();
  std::array<std::uint64_t, 4096> entries;
  bool known = true;
  for (std::size_t done = 0; known && done < bytes;) {
    const std::size_t count = std::min(entries.size(), (bytes - done) / page);
    const std::size_t wanted = count * sizeof entries[0];
    const std::uintptr_t number = (reinterpret_cast<std::uintptr_t>(begin) + done) / page;
    known = ::pread(fd, entries.data(), wanted, static_cast<off_t>(number * sizeof entries[0])) ==
            static_cast<ssize_t>(wanted);
    for (std::size_t i = 0; known && i < count; ++i, done += page) {
      if ((entries[i] & in_memory_or_swapped) == 0) continue;
      if (!runs.empty() && runs.back().begin + runs.back().bytes == begin + done) {
        runs.back().bytes += page;
      } else {
        runs.push_back({begin + done, page});
      }
    }
  }
  ::close(fd);
  return known;
}

}  // namespace oriel
