// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/address_map.hpp"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/base/descriptors.hpp"
#include "transport/shm/arena_file.hpp"

namespace oriel {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

}  // namespace

std::optional<std::vector<Mapping>> mappings_in(std::uintptr_t begin, std::uintptr_t end,
                                                std::string_view others) {
  const File file(std::fopen("/proc/self/maps", "re"));
  if (file == nullptr) return std::nullopt;
  std::vector<Mapping> found;
  std::array<char, 32768> buffer;  // the kernel makes a page at a time: few calls are enough
  std::setvbuf(file.get(), buffer.data(), _IOFBF, buffer.size());
  char* line = nullptr;
  std::size_t space = 0;
  while (::getline(&line, &space, file.get()) > 0) {
    // Of lines outside the range only the two addresses are parsed.
    char* rest = nullptr;
    const std::uintptr_t from = std::strtoull(line, &rest, 16);
    const std::uintptr_t to = *rest == '-' ? std::strtoull(rest + 1, &rest, 16) : 0;
    const bool inside = to > begin && from < end;
    if (from >= end && others.empty()) break;
    if (!inside &&
        (others.empty() || std::string_view(rest).find(others) == std::string_view::npos))
      continue;
    Mapping one;
    std::array<char, 5> flags{};
    unsigned major = 0;
    unsigned minor = 0;
    int name = 0;
    if (std::sscanf(rest, " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", flags.data(), &one.offset,
                    &major, &minor, &one.inode, &name) < 5) {
      continue;
    }
    one.begin = from;
    one.end = to;
    one.writable = flags[0] == 'r' && flags[1] == 'w';
    one.executable = flags[2] == 'x';
    one.shared = flags[3] == 's';
    one.device = makedev(major, minor);
    one.name = rest + name;
    while (!one.name.empty() && one.name.back() == '\n') one.name.pop_back();
    if (inside && from < begin) {
      one.offset += begin - from;
      one.begin = begin;
    }
    if (inside) one.end = std::min(to, end);
    found.push_back(std::move(one));
  }
  std::free(line);
  return found;
}

bool touched_runs(std::byte* begin, std::size_t bytes, std::vector<PageRun>& runs) {
  constexpr std::uint64_t in_memory_or_swapped = std::uint64_t{3} << 62;
  const int fd = own_descriptor(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
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

bool new_pages_lie_where(std::byte* begin, std::size_t bytes) {
  int policy = 0;
  if (::syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) != 0 || policy != MPOL_DEFAULT)
    return false;
  unsigned cpu = 0;
  unsigned here = 0;
  std::vector<PageRun> runs;
  if (::getcpu(&cpu, &here) != 0 || !touched_runs(begin, bytes, runs)) return false;
  std::array<void*, 1024> pages;
  std::array<int, pages.size()> nodes;
  for (const PageRun& run : runs) {
    for (std::size_t done = 0; done < run.bytes;) {
      std::size_t count = 0;
      for (; count < pages.size() && done < run.bytes; done += page_size()) {
        pages[count++] = run.begin + done;
      }
      if (::syscall(SYS_move_pages, 0, count, pages.data(), nullptr, nodes.data(), 0) != 0)
        return false;
      const auto elsewhere = [&](int node) { return node >= 0 && node != static_cast<int>(here); };
      if (std::any_of(nodes.begin(), nodes.begin() + count, elsewhere)) return false;
    }
  }
  return true;
}

}  // namespace oriel
