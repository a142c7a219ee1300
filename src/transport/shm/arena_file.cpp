// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/arena_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "core/base/settings.hpp"
#include "transport/shm/descriptors.hpp"

namespace oriel {
namespace {

/// Creates a file in /dev/shm and removes its name at once.
int posix_shm() {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) return -1;
  char name[32];
  std::snprintf(name, sizeof name, "/oriel-%016" PRIx64, random);
  const int fd = own_descriptor(::shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd >= 0) ::shm_unlink(name);
  return fd;
}

}  // namespace

std::string sentence(const std::string& what, int error, const char* advice) {
  return what + ": " + std::strerror(error) + ". " + advice;
}

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

ArenaFile::~ArenaFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool ArenaFile::create(std::string& error) {
  fd_ = setting_bool("ORIEL_MEMFD") ? own_descriptor(::memfd_create("oriel", MFD_CLOEXEC)) : -1;
  // A kernel without memfd_create, or a sandbox that forbids it, may still have /dev/shm.
  limited_ = fd_ < 0;
  if (limited_) fd_ = posix_shm();
  if (fd_ >= 0 && ::fchmod(fd_, 0600) == 0 && read_name(::getpid())) return true;
  error = sentence("Cannot create shared memory", errno, advice(errno));
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  return false;
}

bool ArenaFile::open(const ArenaName& name, std::string& error) {
  const std::string path = "/proc/" + std::to_string(name.pid) + "/fd/" + std::to_string(name.fd);
  const std::string whose = "the shared memory of process " + std::to_string(name.pid);
  // The number may name another file by now: open it without the side effects that opening a
  // terminal or a pipe has, then check which file it is.
  fd_ = own_descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (fd_ < 0) {
    error = sentence("Cannot open " + whose + " through " + path, errno,
                     "It may have ended, run under another user, or be hidden by a container.");
    return false;
  }
  if (read_name(name.pid) && name_.device == name.device && name_.inode == name.inode) return true;
  error = "At " + path + " is not " + whose +
          " that was announced: the number belongs to another process.";
  return false;
}

/// Sets name_ to the file that is open. False if fstat fails.
bool ArenaFile::read_name(std::int32_t pid) {
  struct stat status{};
  if (::fstat(fd_, &status) != 0) return false;
  name_ = {pid, fd_, status.st_dev, status.st_ino};
  return true;
}

std::uint64_t ArenaFile::bytes() const {
  struct stat status{};
  return ::fstat(fd_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool ArenaFile::grow(std::uint64_t bytes) {
  if (bytes <= this->bytes()) return true;
  if (!within_file_limit(bytes)) {
    errno = EFBIG;
    return false;
  }
  return ::ftruncate(fd_, static_cast<off_t>(bytes)) == 0;
}

bool ArenaFile::back(std::uint64_t offset, std::uint64_t bytes) {
  // A memfd is not limited by the size of /dev/shm, which containers often keep at 64 MiB. In
  // /dev/shm, the first touch of a page for which there is no memory is a SIGBUS.
  if (!limited_) return true;
  errno = ::posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  return errno == 0;
}

const char* ArenaFile::advice(int error) const {
  if (error == EFBIG) return "All that a process shares is one file: see `ulimit -f`.";
  if (error == EMFILE) return "See `ulimit -n`.";
  if (!limited_) return "The system has no more memory to share.";
  return setting_bool("ORIEL_MEMFD") ? "Enlarge /dev/shm, or permit memfd_create."
                                     : "Enlarge /dev/shm, or use memfd (ORIEL_MEMFD=1).";
}

}  // namespace oriel
