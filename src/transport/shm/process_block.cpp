// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/process_block.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

/// The start time in /proc/<pid>/stat, 0 for a zombie; nullopt if the file cannot be read.
std::optional<std::uint64_t> read_start(std::int32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const int fd = own_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd < 0) return std::nullopt;
  char text[1024];
  const ssize_t bytes = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (bytes <= 0) return std::nullopt;
  text[bytes] = '\0';
  // The second field is the program's name in parentheses and may contain any character.
  const char* rest = std::strrchr(text, ')');
  char state = 0;
  long threads = 0;
  std::uint64_t start = 0;
  if (rest == nullptr ||
      std::sscanf(rest + 1,
                  " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld "
                  "%*d %" SCNu64,
                  &state, &threads, &start) != 3) {
    return std::nullopt;
  }
  // A process whose main thread ended before the others is in state Z too, but has several threads.
  const bool ended = (state == 'Z' || state == 'X') && threads <= 1;
  return ended ? 0 : start;
}

}  // namespace

std::uint64_t process_start(std::int32_t pid) {
  return read_start(pid).value_or(0);
}

bool process_alive(std::int32_t pid, std::uint64_t start) {
  if (const auto now = read_start(pid)) return *now != 0 && (start == 0 || *now == start);
  // The file cannot be read, for example because too many files are open.
  return ::kill(pid, 0) == 0 || errno != ESRCH;
}

}  // namespace oriel
