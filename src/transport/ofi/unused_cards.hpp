// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace oriel {

/// A sentence that names a card of the node, the provider that would use it, and what to set. To be
/// said of a network whose writes the target's software carries out. Empty: there is no card whose
/// link is up. `classes`: the folder of the kernel's device classes.
std::string unused_cards(const std::string& classes = "/sys/class");

}  // namespace oriel
