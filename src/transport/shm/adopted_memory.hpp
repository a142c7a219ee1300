// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/transport/memory_range.hpp"
#include "transport/shm/address_map.hpp"
#include "transport/shm/arena.hpp"
#include "transport/shm/fork_copies.hpp"

namespace oriel {

/// When private memory is adopted.
enum class Adoption { never, automatic, always };
/// The meaning of a value of the setting ORIEL_ADOPT; nothing: the setting has no such value.
std::optional<Adoption> adoption_named(const std::string& name);

/// Private memory of the program that has been moved into the arena and is mapped over its own
/// addresses, so that peers map it, too: whole pages, as long as a window uses them. Afterwards
/// they are private again, because allocators count on it: private memory that they give back by
/// madvise reads as zeros. Each time the kernel is asked whether a piece is still mapped at its
/// addresses, as the program may have freed the memory.
///
/// A child after fork gets a copy (ForkCopies). Where several threads run and the system does not
/// permit to hold them up (FrozenPages), nothing is adopted.
///
/// One per process. The owner serializes calls; fork may come from any thread.
class AdoptedMemory final : ForkCopies {
 public:
  AdoptedMemory(Arena& arena, Adoption when);
  ~AdoptedMemory() override;
  AdoptedMemory(const AdoptedMemory&) = delete;
  AdoptedMemory& operator=(const AdoptedMemory&) = delete;

  /// Where the memory is for peers until it is released: its whole pages in the arena, as far as
  /// they can be. Otherwise all of it is private, and `why` is the second half of a sentence.
  MemoryRange adopt(void* memory, std::uint64_t bytes, std::string& why);
  void release(const MemoryRange& range);
  /// Peers may write to this memory by system calls, at any time from now on: it stays as it is.
  void note_private(const void* memory, std::uint64_t bytes);

  /// Pieces that are in use, or could not be made private again.
  std::size_t pieces() const { return pieces_.size(); }

 private:
  struct Piece {
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0;
    std::byte* in_arena = nullptr;
    ArenaLocation location;
    int uses = 0;

    std::uintptr_t end() const { return begin + bytes; }
  };

  Piece* place(const MemoryRange& range, std::string& why);
  Piece* find(std::uintptr_t begin, std::uintptr_t end);
  MemoryRange part_of(const MemoryRange& range, Piece& piece) const;
  bool may_adopt(std::uintptr_t begin, std::uintptr_t end, std::string& why) const;
  bool affordable(std::uint64_t bytes);
  bool move_in(Piece& piece, std::string& why);
  std::optional<std::vector<SharedPages>> still_there(const Piece& piece) const;
  bool is_there(const Piece& piece, std::uintptr_t begin, std::uintptr_t end) const;
  bool told_private(std::uintptr_t begin, std::uintptr_t end) const;
  void use_private(const MemoryRange& range);
  void leave_private(std::uintptr_t address, std::uint64_t bytes);
  void give_back_unused();
  bool give_back(const Piece& piece);

  void before_fork(std::vector<SharedPages>& copied) override;
  void after_fork(bool in_child) override;

  Arena& arena_;
  Adoption when_;
  std::vector<Piece> pieces_;
  std::vector<MemoryRange> private_;                       // in use, that is not in the arena
  std::map<std::uintptr_t, std::uintptr_t> told_private_;  // end by begin; none overlap
  std::uint64_t began_;                                    // when it was made
  std::uint64_t nanoseconds_ = 0;  // spent so far on adopting, refusals, and giving back
  double touch_ns_ = 0;            // see affordable(); 0: not measured yet
  std::mutex mutex_;               // held from before a fork to its end
};

}  // namespace oriel
