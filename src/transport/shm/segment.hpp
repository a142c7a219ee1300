// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace oriel {

/// Where a segment of some process on this node is found. Plain bytes, to travel through the host's
/// collectives.
struct SegmentName {
  std::int32_t pid = 0;
  std::int32_t fd = -1;  // in that process
  std::uint64_t bytes = 0;
  // Which file that descriptor is: a number that the process has reused since is noticed.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
static_assert(std::is_trivially_copyable_v<SegmentName> && sizeof(SegmentName) == 32);

/// Memory that peers on the node can map, as long as its creator holds it. It has no name in any
/// file system: peers come through the creator's open descriptor, and the kernel frees it with the
/// last process that maps it, however that process ended. Pages never touched take no memory.
class Segment {
 public:
  Segment() = default;
  ~Segment();
  Segment(Segment&& other) noexcept { swap(other); }
  Segment& operator=(Segment&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Zeroed memory of at least `bytes` bytes. Empty on failure, and `error` is a sentence.
  static Segment create(std::size_t bytes, std::string& error);
  /// Maps a segment that its creator still holds.
  static Segment open(const SegmentName& name, std::string& error);

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// What a peer opens; only of segments that this process created.
  SegmentName name() const { return name_; }

 private:
  bool map(int fd, std::size_t bytes, std::string& error);
  void swap(Segment& other) noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  SegmentName name_;  // with our descriptor when we are the creator
};

}  // namespace oriel
