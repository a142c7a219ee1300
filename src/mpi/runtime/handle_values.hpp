// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "mpi/host/host.hpp"

namespace oriel::mpi {

/// The MPI_Win values of Oriel's windows; no window of the host has any of them. With the process
/// lock for changes.
class HandleValues {
 public:
  /// A free value; none if all `most` are in use.
  std::optional<MPI_Win> allocate();
  void release(MPI_Win handle) { free_.push_back(number_of(handle)); }

  /// True if `handle` is, or once was, the handle of a window of Oriel's.
  static bool contains(MPI_Win handle) { return number_of(handle) < most; }
  static constexpr std::uint32_t most = 1u << 17;
  static_assert(most == 131072, "as the sentence says");
  static constexpr const char* all_in_use =
      "the program has 131072 windows, which are all that it can have at a time; free some first";

  // Window handles in Fortran: integers that no window of the host has.
  static bool contains_in_fortran(int handle) {
    return static_cast<std::uint32_t>(handle) - first_number < most;
  }
  static int to_fortran(MPI_Win handle) {
    return static_cast<int>(first_number + number_of(handle));
  }
  static MPI_Win from_fortran(int handle) {
    return handle_of(static_cast<std::uint32_t>(handle) - first_number);
  }

 private:
  /// `most` or more: no handle of Oriel's.
  static std::uint32_t number_of(MPI_Win handle);
  static MPI_Win handle_of(std::uint32_t number);

#if ORIEL_HOST_WINDOWS_ARE_POINTERS
  static constexpr std::uint32_t first_number = 0x40000000;  // the host counts from 0
#else
  /// MPICH's handles of windows are 0xa0000000 and more, or 0xe0000000 and more with 13 bits for a
  /// block and 12 for the window in it. They are equal in C.
  static constexpr std::uint32_t first_number = 0xe2000000;
#endif

  /// A freed value is not reused while at most this many values are free, so that a stale copy of a
  /// handle is detected.
  static constexpr std::size_t min_free = 1024;

  std::uint32_t next_ = 0;
  std::deque<std::uint32_t> free_;  // the oldest first
};

}  // namespace oriel::mpi
