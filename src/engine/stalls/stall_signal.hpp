// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// The signal that requests a report of what a rank waits for (ORIEL_STALL_SIGNAL).
namespace stall_signal {

/// Installs the handler if the setting names a signal. It also calls the handler that the program
/// had installed before; a handler that the program installs later replaces it.
void start();
/// The number of signals received so far. A wait compares it with the number that it has answered.
std::uint32_t asked();
/// Adds `change` to the number of waits that check asked(). If there is none, the handler itself
/// prints an answer.
void count_waits(int change);

}  // namespace stall_signal

}  // namespace oriel
