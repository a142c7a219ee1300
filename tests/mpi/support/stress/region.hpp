// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "oriel/oriel.h"
#include "support/stress/area.hpp"
#include "support/stress/shape.hpp"

namespace stress {

/// What kind of epoch a window has open for a phase: one for all ranks, locks of single ranks, or
/// one of active target synchronization.
enum class Epoch { everybody, single, fence, exposed };

constexpr bool passive(Epoch epoch) {
  return epoch == Epoch::everybody || epoch == Epoch::single;
}

/// A handle of a window. Handles are told apart by their numbers: values are given again.
struct Handle {
  MPI_Win win = MPI_WIN_NULL;
  bool ordered = false;
  long number = 0;
};

struct Window {
  Epoch epoch = Epoch::everybody;
  std::vector<Handle> handles;  // the first is the one that it was made with

  MPI_Win first() const { return handles.front().win; }
};

using Memory = std::unique_ptr<std::byte, void (*)(std::byte*)>;

/// Zero, and private or of what peers map.
inline Memory zeroed(bool mapped, MPI_Aint bytes) {
  void* memory = nullptr;
  if (mapped) {
    MUST(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory));
  } else {
    memory = std::malloc(static_cast<std::size_t>(bytes));
  }
  std::memset(memory, 0, static_cast<std::size_t>(bytes));
  return {static_cast<std::byte*>(memory), mapped ? [](std::byte* gone) { MPI_Free_mem(gone); }
                                                  : [](std::byte* gone) { std::free(gone); }};
}

/// One kind of memory: an area of each rank, and how windows reach it.
struct Region {
  using Name = std::array<unsigned char, ORIEL_MAX_MEMHANDLE_SIZE>;

  const char* name;
  int window;  // in whose epochs it is accessed
  Area area;
  int unit = 1;
  std::vector<MPI_Aint> bases{};  // of each rank, in bytes
  std::byte* own = nullptr;
  bool mapped = false;  // of a dynamic window: memory that peers map
  Memory memory{nullptr, nullptr};
  // Through memory handles: theirs, and windows from them, of each rank.
  bool by_handle = false;
  std::vector<Name> names{};
  std::vector<std::vector<Handle>> views{};
  // What our threads have made of their lots, as MPI_Alltoall takes it: by rank and thread.
  Bytes model{};

  MPI_Aint displacement(int rank, MPI_Aint offset) const {
    return MPI_Aint_add(bases[static_cast<std::size_t>(rank)], offset) / unit;
  }
};

}  // namespace stress
