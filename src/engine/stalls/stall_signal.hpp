// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace oriel {

/// The signal that asks a rank what it waits for (ORIEL_STALL_SIGNAL).
namespace stall_signal {

/// Installs the handler if the setting names a signal. The program's own handler of it is called as
/// well; one that it installs later takes our place.
void start();
/// The number of signals received so far. A wait looks whether there are more than it has answered.
std::uint32_t asked();
/// One more, or one less, of the waits that look. With none, the handler itself says so.
void count_waits(int change);

}  // namespace stall_signal

}  // namespace oriel
