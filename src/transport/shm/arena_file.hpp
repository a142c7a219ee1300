// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace oriel {

/// Where the memory that a process shares is found. Plain bytes, to travel through the host's
/// collectives.
struct ArenaName {
  std::int32_t pid = 0;
  std::int32_t fd = -1;  // in that process
  // Which file that descriptor is: a number of another PID namespace, or one that the process has
  // reused since, is noticed.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
static_assert(std::is_trivially_copyable_v<ArenaName> && sizeof(ArenaName) == 24);

/// A sentence about a failed system call, and what to do about it.
std::string sentence(const std::string& what, int error, const char* advice);

/// Multiples of what mmap and its kind take.
std::size_t page_size();

/// A sparse file without a name in any file system. Peers come through its creator's open
/// descriptor, and the kernel frees it with the last process that maps it, however that process
/// ended. Pages never touched take no memory.
class ArenaFile {
 public:
  ArenaFile() = default;
  ~ArenaFile();
  ArenaFile(const ArenaFile&) = delete;
  ArenaFile& operator=(const ArenaFile&) = delete;

  /// Makes it, empty. False on failure, and `error` is a sentence.
  bool create(std::string& error);
  /// A peer's, as long as that lives.
  bool open(const ArenaName& name, std::string& error);

  explicit operator bool() const { return fd_ >= 0; }
  ArenaName name() const { return name_; }
  int descriptor() const { return fd_; }
  std::uint64_t bytes() const;
  /// At least so many bytes. False with errno.
  bool grow(std::uint64_t bytes);
  /// Makes sure that touching the range finds memory, where that is not so anyway. False with
  /// errno.
  bool back(std::uint64_t offset, std::uint64_t bytes);
  /// Advice for an errno of creating, growing or backing the file.
  const char* advice(int error) const;

 private:
  bool note(std::int32_t pid);

  int fd_ = -1;
  bool limited_ = false;  // by the size of /dev/shm
  ArenaName name_;
};

}  // namespace oriel
