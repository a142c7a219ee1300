// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

namespace oriel {

/// Moves a descriptor that has just been opened to a number from 10 up, and returns its number
/// there; it is closed by exec. The lowest free numbers are the program's: it may print to 1 and 2
/// though it has closed them, and it names numbers up to 9 itself, as `exec 3>file` and dup2 do.
/// Every descriptor that Oriel opens goes through this function (scripts/check-calls). Between open
/// and move the descriptor has its first number, for less than a microsecond.
/// -1, with errno: `opened` is -1, or the limit on descriptors leaves no number above 2.
int own_descriptor(int opened);

/// A pipe, its reading end first, by own_descriptor(). False, with errno: `ends` is unchanged.
bool own_pipe(std::array<int, 2>& ends);

/// Keeps the numbers 0 to 2 from descriptors that a library opens at any time, such as libfabric's
/// connections. Those of them that are closed are taken by descriptors that can neither be read nor
/// written: what the program prints fails as before. They stay, because the program may replace
/// them at any time.
void occupy_standard_descriptors();

}  // namespace oriel
