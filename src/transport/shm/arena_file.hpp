// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace oriel {

/// The name by which peers open the arena's file of a process. Plain bytes, so that the host's
/// collectives can transfer it.
struct ArenaName {
  std::int32_t pid = 0;
  std::int32_t fd = -1;  // in that process
  // The file behind the descriptor: detects a pid of another PID namespace, and a descriptor number
  // that the process has reused since.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
static_assert(std::is_trivially_copyable_v<ArenaName> && sizeof(ArenaName) == 24);

/// A message about a failed system call: `what`, the text of the errno `error`, and `advice`.
std::string sentence(const std::string& what, int error, const char* advice);

/// Bytes of a page: mmap and related calls take multiples of it.
std::size_t page_size();

/// A sparse file without a name in any file system. Peers open it through its creator's open
/// descriptor. The kernel frees it when the last process that maps it has ended, in whatever way.
/// Pages never touched take no memory.
class ArenaFile {
 public:
  ArenaFile() = default;
  ~ArenaFile();
  ArenaFile(const ArenaFile&) = delete;
  ArenaFile& operator=(const ArenaFile&) = delete;

  /// Creates an empty file. On failure returns false and sets `error` to a sentence.
  bool create(std::string& error);
  /// Opens a peer's file, which is possible as long as the peer lives. Fails as create() does.
  bool open(const ArenaName& name, std::string& error);

  explicit operator bool() const { return fd_ >= 0; }
  ArenaName name() const { return name_; }
  int descriptor() const { return fd_; }
  std::uint64_t bytes() const;
  /// Makes the file at least `bytes` bytes long. On failure returns false and sets errno.
  bool grow(std::uint64_t bytes);
  /// Allocates memory for the range if the size of /dev/shm limits the file, so that touching it
  /// causes no SIGBUS. On failure returns false and sets errno.
  bool back(std::uint64_t offset, std::uint64_t bytes);
  /// Advice for an errno of create(), grow() or back().
  const char* advice(int error) const;

 private:
  bool read_name(std::int32_t pid);

  int fd_ = -1;
  bool limited_ = false;  // by the size of /dev/shm
  ArenaName name_;
};

}  // namespace oriel
