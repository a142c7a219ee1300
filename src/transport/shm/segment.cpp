// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/settings.hpp"

namespace oriel {
namespace {

std::string sentence(const std::string& what, int error, const char* advice) {
  return what + ": " + std::strerror(error) + ". " + advice;
}

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes == 0 ? page : (bytes + page - 1) / page * page;
}

/// An anonymous file of the given size, or -1 with errno. memfd is not limited by the size of
/// /dev/shm, which containers often keep at 64 MiB.
int memfd(std::size_t bytes) {
  const int fd = ::memfd_create("oriel", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (::fchmod(fd, 0600) == 0 && ::ftruncate(fd, static_cast<off_t>(bytes)) == 0) return fd;
  const int saved = errno;
  ::close(fd);
  errno = saved;
  return -1;
}

/// The same from /dev/shm, without a name from the moment it exists. The pages are allocated here,
/// because a full /dev/shm is otherwise a SIGBUS at the first touch.
int posix_shm(std::size_t bytes) {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) return -1;
  char name[32];
  std::snprintf(name, sizeof name, "/oriel-%016" PRIx64, random);
  const int fd = ::shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  ::shm_unlink(name);
  const int failure = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (failure == 0) return fd;
  ::close(fd);
  errno = failure;
  return -1;
}

}  // namespace

Segment::~Segment() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
  if (name_.fd >= 0) ::close(name_.fd);
}

void Segment::swap(Segment& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(name_, other.name_);
}

bool Segment::map(int fd, std::size_t bytes, std::string& error) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    error =
        sentence("Cannot map a shared memory segment of " + std::to_string(bytes) + " bytes", errno,
                 "The limits on address space (ulimit -v) or on mappings may be too low.");
    return false;
  }
  data_ = static_cast<std::byte*>(address);
  bytes_ = bytes;
  return true;
}

Segment Segment::create(std::size_t wanted, std::string& error) {
  const std::size_t bytes = whole_pages(wanted);
  const bool use_memfd = setting_bool("ORIEL_MEMFD");
  // Beyond what a file offset can say (or wrapped around by the rounding): no kernel call needed.
  const bool absurd = bytes < wanted || bytes > static_cast<std::size_t>(PTRDIFF_MAX);
  int fd = -1;
  if (absurd) {
    errno = ENOMEM;
  } else {
    fd = use_memfd ? memfd(bytes) : posix_shm(bytes);
  }
  if (fd < 0) {
    error = sentence(
        "Cannot create a shared memory segment of " + std::to_string(wanted) + " bytes", errno,
        use_memfd ? "If memfd_create is not permitted here, set ORIEL_MEMFD=0."
                  : "Enlarge /dev/shm, or use memfd segments (ORIEL_MEMFD=1).");
    return {};
  }
  Segment segment;
  segment.name_.fd = fd;
  struct stat status{};
  ::fstat(fd, &status);
  segment.name_.pid = ::getpid();
  segment.name_.bytes = bytes;
  segment.name_.device = status.st_dev;
  segment.name_.inode = status.st_ino;
  if (!segment.map(fd, bytes, error)) return {};
  return segment;
}

Segment Segment::open(const SegmentName& name, std::string& error) {
  const std::string path = "/proc/" + std::to_string(name.pid) + "/fd/" + std::to_string(name.fd);
  // The descriptor could be anything by now: open it without the effects that opening a terminal or
  // a pipe has, and look what it is.
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    error = sentence(
        "Cannot open the shared memory of process " + std::to_string(name.pid) + " through " + path,
        errno,
        "It may have ended, run under another user, or be hidden by a container; its "
        "windows are then reached by messages.");
    return {};
  }
  Segment segment;
  struct stat status{};
  if (::fstat(fd, &status) != 0 || status.st_dev != name.device || status.st_ino != name.inode ||
      static_cast<std::uint64_t>(status.st_size) < name.bytes) {
    error = "The shared memory of process " + std::to_string(name.pid) + " at " + path +
            " is not what it announced: it has freed it, or the number now belongs to another "
            "process.";
  } else {
    segment.map(fd, name.bytes, error);
  }
  ::close(fd);
  return segment;
}

}  // namespace oriel
