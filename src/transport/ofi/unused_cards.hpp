// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

namespace oriel {

struct Card;

/// A sentence that names a card of the node, the provider that would use it, and what to set. Said
/// of networks of the kernel's IP. Empty: the node has no Slingshot card, and no InfiniBand-class
/// card with an active port. `offered`: the cards that libfabric offers here. `classes`: the folder
/// of the kernel's device classes.
std::string unused_cards(std::span<const Card> offered, const std::string& classes = "/sys/class");

}  // namespace oriel
