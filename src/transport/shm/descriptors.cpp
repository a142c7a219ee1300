// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace oriel {

int own_descriptor(int opened) {
  constexpr int first = 10;
  if (opened < 0 || opened >= first) return opened;
  const int own = ::fcntl(opened, F_DUPFD_CLOEXEC, first);
  const int error = errno == EINVAL ? EMFILE : errno;  // the limit is lower than the first number
  if (own < 0 && opened > STDERR_FILENO) return opened;
  ::close(opened);
  errno = error;
  return own;
}

bool own_pipe(std::array<int, 2>& ends) {
  std::array<int, 2> opened{};
  if (::pipe2(opened.data(), O_CLOEXEC) != 0) return false;
  const std::array own{own_descriptor(opened[0]), own_descriptor(opened[1])};
  if (own[0] >= 0 && own[1] >= 0) {
    ends = own;
    return true;
  }
  const int error = errno;
  for (const int end : own) {
    if (end >= 0) ::close(end);
  }
  errno = error;
  return false;
}

void occupy_standard_descriptors() {
  int opened = 0;
  do {
    opened = ::open("/", O_PATH | O_CLOEXEC);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened >= 0) ::close(opened);
}

bool within_file_limit(std::uint64_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

}  // namespace oriel
