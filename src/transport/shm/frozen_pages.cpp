// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/frozen_pages.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "core/base/descriptors.hpp"

namespace oriel {
namespace {

/// The full one: a thread that would write within a system call has to wait as well.
int open_userfaultfd() {
  const int fd = own_descriptor(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC)));
  if (fd >= 0) return fd;
  const int device = own_descriptor(::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
  if (device < 0) return -1;
  const int opened = own_descriptor(::ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC));
  ::close(device);
  return opened;
}

bool freeze(int fd, std::uint64_t begin, std::uint64_t bytes) {
  // The second one as a number: headers older than Linux 5.19 lack it.
  constexpr std::uint64_t protects_shared_memory = std::uint64_t{1} << 12;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features =
      UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_MISSING_SHMEM | protects_shared_memory;
  if (::ioctl(fd, UFFDIO_API, &api) != 0) return false;
  uffdio_register watched{};
  watched.range = {begin, bytes};
  // Pages that were never touched cannot be protected: there the first touch waits.
  watched.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP;
  if (::ioctl(fd, UFFDIO_REGISTER, &watched) != 0) return false;
  uffdio_writeprotect protection{};
  protection.range = {begin, bytes};
  protection.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  return ::ioctl(fd, UFFDIO_WRITEPROTECT, &protection) == 0;
}

}  // namespace

FrozenPages::FrozenPages(std::byte* begin, std::size_t bytes) : fd_(open_userfaultfd()) {
  if (fd_ < 0) return;
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &signals_);
  if (freeze(fd_, reinterpret_cast<std::uintptr_t>(begin), bytes)) return;
  ::close(std::exchange(fd_, -1));
  ::pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
}

FrozenPages::~FrozenPages() {
  if (fd_ < 0) return;
  // Wakes everybody, and what is still protected no longer is.
  ::close(fd_);
  ::pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
}

std::size_t running_threads() {
  DIR* threads = ::opendir("/proc/self/task");
  if (threads == nullptr) return std::numeric_limits<std::size_t>::max();
  std::size_t count = 0;
  while (const dirent* entry = ::readdir(threads)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(threads);
  return count;
}

}  // namespace oriel
