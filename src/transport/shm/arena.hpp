// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/transport/memory_range.hpp"
#include "transport/shm/arena_file.hpp"

namespace oriel {

/// A buddy allocator: divides a range of addresses into blocks whose sizes are powers of two, at
/// multiples of their size. It stores nothing in the blocks. The order is the logarithm of a size.
class Buddies {
 public:
  static constexpr int smallest = 6;  // a cache line, so that blocks share none
  static constexpr int largest = 47;  // more than the address space of a process

  /// Free blocks of an order below `lasting` are not merged, so that later requests of that order
  /// need not split one.
  explicit Buddies(int lasting) : lasting_(lasting) {}

  static int order_of(std::uint64_t bytes) {
    return bytes <= std::uint64_t{1} << smallest ? smallest
                                                 : static_cast<int>(std::bit_width(bytes - 1));
  }

  /// Allocates a block: of the smallest free blocks that suffice, the one with the lowest address.
  /// Returns its address.
  std::optional<std::uint64_t> allocate(int order) {
    int from = order;
    while (from <= largest && free_of(from).empty()) ++from;
    if (from > largest) return std::nullopt;
    const std::uint64_t block = *free_of(from).begin();
    free_of(from).erase(free_of(from).begin());
    for (; from > order; --from) free_of(from - 1).insert(block + (std::uint64_t{1} << (from - 1)));
    return block;
  }

  /// Frees a block from allocate(), or adds a new one.
  void free(std::uint64_t block, int order) {
    for (; order >= lasting_ && order < largest; ++order) {
      const std::uint64_t buddy = block ^ (std::uint64_t{1} << order);
      if (free_of(order).erase(buddy) == 0) break;
      block &= ~(std::uint64_t{1} << order);
    }
    free_of(order).insert(block);
  }

 private:
  std::set<std::uint64_t>& free_of(int order) {
    return free_[static_cast<std::size_t>(order - smallest)];
  }

  int lasting_;
  std::array<std::set<std::uint64_t>, largest - smallest + 1> free_;
};

/// Whole pages that are mapped shared, and their location in the mapped file.
struct SharedPages {
  std::byte* begin;
  std::uint64_t bytes;
  int file;
  std::uint64_t offset;
};

/// All memory that this process shares with the others on its node: control blocks, the memory of
/// windows, MPI_Alloc_mem. It is one file, so one descriptor, in a few extents of address space. A
/// peer maps a whole extent when it first needs a piece of it, so any number of windows needs
/// neither further descriptors nor mappings. An extent is mostly a reservation: the file grows into
/// it, and only pages touched take memory.
///
/// In the child of a fork the pieces remain the parent's: the child allocates none, and freeing one
/// there only removes its record. The child has a private copy of each piece that the program
/// allocated and that no peer uses, with the contents at the fork. The child makes the copy while
/// the forking thread waits. vfork and posix_spawn run no handlers and need none. The child of a
/// bare clone shares the memory with its parent. The owner serializes calls; any thread may fork.
class Arena {
 public:
  /// `first_extent`: bytes of the first extent, a power of two. Each later extent is twice as
  /// large.
  explicit Arena(std::uint64_t first_extent = usual_extent());
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns zeroed memory of at least `bytes` bytes at a multiple of `alignment` (a power of two).
  /// On failure returns null and sets `error` to a sentence.
  std::byte* allocate(std::uint64_t bytes, std::uint64_t alignment, std::string& error);
  /// allocate() for memory that the program requests (MPI_Alloc_mem); peers may use it later.
  std::byte* allocate_for_program(std::uint64_t bytes, std::uint64_t alignment, std::string& error);
  /// Peers use the piece at `location` until end_use(). Calls are counted.
  void begin_use(const ArenaLocation& location) { count_use(location, 1); }
  void end_use(const ArenaLocation& location) { count_use(location, -1); }
  /// Returns the memory to the system, or zeroes and keeps it if it is less than a page. Does
  /// nothing and returns false if the pointer is not from allocate() or has been freed.
  bool free(void* pointer) { return remove(pointer, true); }
  /// The bytes of the piece that begins at the address; 0: none does.
  std::uint64_t bytes_at(const void* pointer);
  /// As free(), but the memory is not allocated again, because a peer may still access it.
  bool retire(void* pointer) { return remove(pointer, false); }
  /// The location of the range, if one piece of this arena contains it.
  std::optional<ArenaLocation> find(const void* address, std::uint64_t bytes) const;
  /// The address of a location in this arena.
  std::byte* at(const ArenaLocation& location);
  /// Bytes of all pieces that have not been freed.
  std::uint64_t allocated() const;
  /// The name by which peers open the file. Valid after the first allocate().
  ArenaName name() const { return file_.name(); }

  /// The usual bytes of the first extent: most programs never need a second one, and a thousand
  /// processes can map each other's. Less if the address space is limited.
  static std::uint64_t usual_extent();

 private:
  struct Extent {
    std::uint64_t begin;  // in the file
    std::uint64_t bytes;
    std::byte* data;
    std::uint64_t grown;  // bytes mapped and in the file so far
  };
  struct Piece {
    std::uint64_t bytes;
    int order;
    bool of_program = false;
    int uses = 0;  // begin_use() without end_use()
  };
  using Pieces = std::map<std::uint64_t, Piece>;  // by offset

  bool ours() const;
  bool add_extent(int order, std::string& error);
  bool prepare(std::uint64_t offset, std::uint64_t bytes);
  Extent& extent_at(std::uint64_t offset);
  const Extent* extent_of(const void* address) const;
  Pieces::iterator piece_at(const void* address);
  void clear(std::byte* data, const Piece& piece) const;
  void count_use(const ArenaLocation& location, int change);
  bool remove(void* pointer, bool reuse);
  // arena_fork.cpp
  /// Lets the handlers of forks find this arena, until unwatch_forks().
  void watch_forks();
  void unwatch_forks();
  /// Adds the memory to be copied to `copied`, and keeps it allocated until after_fork(). Both are
  /// called in the thread that forks.
  void before_fork(std::vector<SharedPages>& copied);
  void after_fork() { mutex_.unlock(); }
  static void before_any_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  std::uint64_t next_extent_;
  ArenaFile file_;
  std::vector<Extent> extents_;  // by begin
  Buddies free_;
  Pieces pieces_;
  std::mutex mutex_;  // protects changes of pieces_; held from before a fork until it is over
};

/// Frees a piece when its ArenaPiece is destroyed.
struct FreePiece {
  Arena* arena = nullptr;
  void operator()(std::byte* piece) const { arena->free(piece); }
};
using ArenaPiece = std::unique_ptr<std::byte, FreePiece>;

/// A peer's arena, mapped into this process. Its extents stay mapped as long as the object lives.
class PeerArena {
 public:
  explicit PeerArena(const ArenaName& name) : name_(name) {}
  ~PeerArena();
  PeerArena(PeerArena&& other) noexcept = default;
  PeerArena& operator=(PeerArena&&) = delete;

  /// The address of the `bytes` bytes at `location`. On failure returns null and sets `error` to a
  /// sentence.
  std::byte* at(const ArenaLocation& location, std::uint64_t bytes, std::string& error);

 private:
  struct Extent {
    std::uint64_t begin;
    std::uint64_t bytes;
    std::byte* data;
  };
  ArenaName name_;
  std::vector<Extent> extents_;
};

}  // namespace oriel
