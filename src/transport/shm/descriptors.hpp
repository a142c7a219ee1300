// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace oriel {

/// Moves a descriptor that has just been opened to a number from 10 up, and returns that number.
/// The descriptor is closed by exec. The lowest free numbers are the program's: it may print to 1
/// and 2 although it has closed them, and it chooses numbers up to 9 itself, by `exec 3>file` and
/// dup2. Every descriptor that Oriel opens goes through this function (scripts/check-calls).
/// Between open and move the descriptor has its first number, for less than a microsecond. Returns
/// -1, with errno, if `opened` is -1 or the limit on descriptors leaves no number above 2.
int own_descriptor(int opened);

/// Opens a pipe with own_descriptor(); ends[0] is the reading end. False, with errno: `ends` is
/// unchanged.
bool own_pipe(std::array<int, 2>& ends);

/// Keeps the numbers 0 to 2 from descriptors that a library opens at any time, such as libfabric's
/// connections. Each of the three that is closed is occupied by a descriptor that can neither be
/// read nor written, so output of the program still fails as before. These descriptors stay open,
/// because the program may replace them at any time.
void occupy_standard_descriptors();

/// True if a file may have `bytes` bytes. Beyond the limit on file sizes (ulimit -f) the kernel
/// sends a signal instead of returning an error.
bool within_file_limit(std::uint64_t bytes);

}  // namespace oriel
