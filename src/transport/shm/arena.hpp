// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/transport/arena_location.hpp"
#include "transport/shm/arena_file.hpp"
#include "transport/shm/buddies.hpp"
#include "transport/shm/fork_copies.hpp"

namespace oriel {

/// All memory that this process shares with the others on its node: control blocks, the memory of
/// windows, MPI_Alloc_mem. One file, so one descriptor, in a few extents of address space, which
/// peers map as a whole the first time they meet a piece of them: windows cost neither descriptors
/// nor mappings, however many there are. An extent is mostly a reservation: the file grows into it,
/// and only pages touched take memory.
///
/// In a child after fork the pieces are still the parent's: nothing is handed out there, and what
/// is freed is only forgotten. Of a piece of the program's own that peers do not use the child has
/// a copy (ForkCopies). The owner serializes calls; any thread may
/// fork.
class Arena final : ForkCopies {
 public:
  /// `first_extent`: bytes of the first one, a power of two; later ones double.
  explicit Arena(std::uint64_t first_extent = usual_extent());
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Zeroed memory of at least `bytes` bytes at a multiple of `alignment` (a power of two). Null on
  /// failure, and `error` is a sentence.
  std::byte* allocate(std::uint64_t bytes, std::uint64_t alignment, std::string& error);
  /// The same for memory of the program's own (MPI_Alloc_mem), which peers may come to use.
  std::byte* allocate_for_program(std::uint64_t bytes, std::uint64_t alignment, std::string& error);
  /// Peers use the piece at that place, from here to end_use(). Calls are counted.
  void begin_use(const ArenaLocation& place) { count_use(place, 1); }
  void end_use(const ArenaLocation& place) { count_use(place, -1); }
  /// The memory goes back to the system, or is kept, zeroed, if it is less than a page. False, and
  /// nothing done, if the pointer did not come from allocate() or is free already.
  bool free(void* pointer);
  /// As free(), but the place is not used again: somebody may still touch it.
  bool retire(void* pointer);
  /// Where the range lies, if it lies in one piece of ours.
  std::optional<ArenaLocation> find(const void* address, std::uint64_t bytes) const;
  /// The reverse, of a piece of ours.
  std::byte* at(const ArenaLocation& place);
  /// Bytes of all pieces that have not been freed.
  std::uint64_t allocated() const;
  /// What peers open. After the first allocate().
  ArenaName name() const { return file_.name(); }

  /// So much that most programs never need a second one, and a thousand processes can map each
  /// other's; less where the address space is limited.
  static std::uint64_t usual_extent();

 private:
  struct Extent {
    std::uint64_t begin;  // in the file
    std::uint64_t bytes;
    std::byte* data;
    std::uint64_t grown;  // mapped and in the file so far
  };
  struct Piece {
    std::uint64_t bytes;
    int order;
    bool of_program = false;
    int uses = 0;  // by peers
  };
  using Pieces = std::map<std::uint64_t, Piece>;  // by offset

  bool ours() const;
  bool add_extent(int order, std::string& error);
  bool prepare(std::uint64_t offset, std::uint64_t bytes);
  Extent& extent_at(std::uint64_t offset);
  const Extent* extent_of(const void* address) const;
  Pieces::iterator piece_at(const void* address);
  void clear(std::byte* data, const Piece& piece) const;
  void count_use(const ArenaLocation& place, int change);
  void forget(Pieces::iterator piece);
  void before_fork(std::vector<SharedPages>& copied) override;
  void after_fork(bool) override { mutex_.unlock(); }

  std::uint64_t next_extent_;
  ArenaFile file_;
  std::vector<Extent> extents_;  // by begin
  Buddies free_;
  Pieces pieces_;
  std::mutex mutex_;  // of changes of pieces_; held from before a fork to its end
};

/// A piece that is given back with the object.
struct GiveBack {
  Arena* arena = nullptr;
  void operator()(std::byte* piece) const { arena->free(piece); }
};
using ArenaPiece = std::unique_ptr<std::byte, GiveBack>;

/// A peer's arena as it is seen from here. Its extents stay mapped as long as the object lives.
class PeerArena {
 public:
  explicit PeerArena(const ArenaName& name) : name_(name) {}
  ~PeerArena();
  PeerArena(PeerArena&& other) noexcept = default;
  PeerArena& operator=(PeerArena&&) = delete;

  /// The piece of so many bytes at that place. Null on failure, and `error` is a sentence.
  std::byte* at(const ArenaLocation& place, std::uint64_t bytes, std::string& error);

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
